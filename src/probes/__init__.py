"""Challenge sets, and models' verdicts on them."""
