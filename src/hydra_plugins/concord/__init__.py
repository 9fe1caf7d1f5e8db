"""Hydra finds these by the name of their folder; what they do is in `lm.sweeps`. Nothing heavy here: every start loads it."""
