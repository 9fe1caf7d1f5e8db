"""Text: grammars, corpora, vocabularies, and the batches that networks read."""
