"""Concord trains language models and watches their syntax while they learn."""
