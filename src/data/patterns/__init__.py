"""Queries on dependency trees, one YAML file each: `pattern_file` reads them, `matching` finds them in trees."""

from .matching import Match, Matcher
from .pattern_file import Pattern, PatternError, PatternNode, WordCondition, find_pattern, pattern_names, read_pattern

__all__ = [
    "Match",
    "Matcher",
    "Pattern",
    "PatternError",
    "PatternNode",
    "WordCondition",
    "find_pattern",
    "pattern_names",
    "read_pattern",
]
