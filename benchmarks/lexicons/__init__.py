"""Word forms of the grammars against independent lexicons, one file per language. Development only."""
