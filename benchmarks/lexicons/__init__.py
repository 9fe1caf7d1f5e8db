"""Word forms of the grammars against independent lexicons, a file a language. Development only."""
