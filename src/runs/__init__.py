"""A training run as a folder on disk: what trains into it, what makes it survive, and many of them at once."""
