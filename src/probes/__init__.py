"""Challenge sets and the verdicts of models on them."""
