"""Grammars that a linguist writes: challenge sets and corpora in one notation (see grammars/README.md).

The path: a folder's files (`folder`) → statements (`notation`) → rules without variables (`rules`) → a graph
without recursion (`unroll`) → frames of word slots (`frames`) → groups of sentences (`expand`) or a corpus (`sample`).
"""

from .expand import Expansion, Group
from .folder import constructions, folder_of, languages, load
from .notation import parse
from .notices import GrammarError, Notice, SourceLine
from .rules import Grammar, build
from .sample import Draw
from .writer import Sentence

__all__ = [
    "Draw",
    "Expansion",
    "Grammar",
    "GrammarError",
    "Group",
    "Notice",
    "Sentence",
    "SourceLine",
    "build",
    "constructions",
    "folder_of",
    "languages",
    "load",
    "parse",
]
