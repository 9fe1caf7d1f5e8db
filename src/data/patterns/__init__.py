"""Queries on dependency trees, one YAML file each: `notation` reads them, `matching` finds them. No language is in the code."""

from .matching import Match, Matcher
from .notation import Condition, Node, Pattern, PatternError, find_pattern, pattern_names, read_pattern

__all__ = [
    "Condition",
    "Match",
    "Matcher",
    "Node",
    "Pattern",
    "PatternError",
    "find_pattern",
    "pattern_names",
    "read_pattern",
]
