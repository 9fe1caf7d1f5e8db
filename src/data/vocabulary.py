"""What a model predicts: words, chosen by their counts, or pieces of words (`pieces`).

Text and challenge sets are encoded by the same object, word by word.
"""

import hashlib
import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Protocol

import numpy as np

from ..errors import UserError
from .selection import SPLITS

# Every vocabulary begins with these two; a sentence is between two <eos>, and every unknown word is <unk>.
EOS, UNK = "<eos>", "<unk>"
EOS_ID, UNK_ID = 0, 1
LIMIT = 1 << 18  # words held at a time; with their counts about 40 MB


class Counts:
    """How often each word occurs: exactly, in bounded memory.

    A table that has grown too large goes to disk in alphabetical order; in the end the tables are merged.
    """

    def __init__(self, folder: Path, name: str = "counts", limit: int = LIMIT) -> None:
        self.folder = folder
        self.name = name
        self.limit = limit
        self.table: dict[str, int] = {}
        self.spilled: list[Path] = []

    def add(self, words: Sequence[str], counts: np.ndarray) -> None:
        table = self.table
        for i in np.flatnonzero(counts).tolist():
            word = words[i]
            table[word] = table.get(word, 0) + int(counts[i])
        if len(table) > self.limit:
            self._spill()

    def _spill(self) -> None:
        file = self.folder / f"{self.name}-{len(self.spilled)}.tsv"
        with file.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(f"{word}\t{count}\n" for word, count in sorted(self.table.items()))
        self.spilled.append(file)
        self.table.clear()

    def __iter__(self) -> Iterator[tuple[str, int]]:
        """Every word once with its count, alphabetically."""
        if not self.spilled:
            yield from sorted(self.table.items())
            return
        tables = [_read(file) for file in self.spilled]
        merged = heapq.merge(*tables, sorted(self.table.items()))
        for word, entries in groupby(merged, key=itemgetter(0)):
            yield word, sum(count for _, count in entries)

    def types(self) -> int:
        """Different words."""
        return sum(1 for _ in self) if self.spilled else len(self.table)

    def most_frequent(self, size: int | None) -> list[tuple[str, int]]:
        """The most frequent words, all if no size is given; among ties, alphabetically first."""
        if size is None:
            return sorted(self, key=_rank)
        return heapq.nsmallest(size, self, key=_rank)

    def remove(self) -> None:
        """Remove what was put on disk."""
        for file in self.spilled:
            file.unlink()


def _rank(entry: tuple[str, int]) -> tuple[int, str]:
    return -entry[1], entry[0]


def _read(file: Path) -> Iterator[tuple[str, int]]:
    with file.open(encoding="utf-8", newline="\n") as stream:
        for line in stream:
            word, _, count = line.rpartition("\t")
            yield word, int(count)


class Tokenizer(Protocol):
    """A sentence is its words' ids in order, each word encoded on its own, closed by `eos`."""

    words: list[str]  # what each id stands for: a word, or a piece of one
    eos: int
    unk: int

    def __len__(self) -> int: ...

    def __contains__(self, word: str) -> bool:
        """Whether the word can be told from all others."""

    def encode_word(self, word: str) -> list[int]:
        """One id or more."""

    def encode(self, words: Iterable[str]) -> list[int]:
        """The ids of all words, in order."""

    def begins(self) -> list[bool] | None:
        """Which ids begin a word; None if every id is a word."""

    def digest(self) -> str:
        """A name for exactly this tokenizer."""

    def plain(self) -> dict[str, object]:
        """Everything needed to rebuild it, for a checkpoint."""


class TokenizerRule(Protocol):
    """How to make a tokenizer from the words of a corpus."""

    @property
    def counted_in(self) -> tuple[str, ...]:
        """The splits whose words it may see."""

    @property
    def per_language(self) -> bool:
        """Whether each language's words are counted separately."""

    def key(self) -> str: ...

    def learn(self, *counts: Counts) -> Tokenizer:
        """From the words of all languages together, or from those of each."""


class Vocabulary:
    """Words in order of frequency after the two special ones, possibly one language after another. All others are `<unk>`."""

    def __init__(self, words: Sequence[str]) -> None:
        if list(words[:2]) != [EOS, UNK]:
            raise ValueError(f"a vocabulary must begin with {EOS} and {UNK}; this one begins with {list(words[:2])}")
        self.words = list(words)
        self.ids = {word: i for i, word in enumerate(self.words)}
        if len(self.ids) < len(self.words):
            repeated = next(word for i, word in enumerate(self.words) if self.ids[word] != i)
            raise ValueError(f"a vocabulary must have every word once; this one has {repeated!r} twice")
        self.eos, self.unk = EOS_ID, UNK_ID

    @classmethod
    def from_counts(cls, words: Sequence[str], counts: Sequence[int] | np.ndarray, size: int | None) -> "Vocabulary":
        """The `size` most frequent tokens, `<eos>` among them, plus `<unk>`; among ties, alphabetically first."""
        ranked = sorted(
            ((-int(count), word) for word, count in zip(words, counts, strict=True) if count and word not in (EOS, UNK))
        )
        kept = ranked if size is None else ranked[: max(size - 1, 0)]
        return cls([EOS, UNK, *(word for _, word in kept)])

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return word in self.ids

    def encode_word(self, word: str) -> list[int]:
        return [self.ids.get(word, self.unk)]

    def encode(self, words: Iterable[str]) -> list[int]:
        return [self.ids.get(word, self.unk) for word in words]

    def decode(self, ids: Iterable[int]) -> list[str]:
        return [self.words[i] for i in ids]

    def digest(self) -> str:
        """A name for exactly these words in this order."""
        return hashlib.blake2b("\n".join(self.words).encode(), digest_size=8).hexdigest()

    def begins(self) -> None:
        """Every id is a word."""

    def plain(self) -> dict[str, object]:
        """For a checkpoint."""
        return {"vocabulary": self.words}


@dataclass(frozen=True)
class VocabularyRule:
    """How many words a model knows, which splits they are counted in, and whether per language."""

    size: int | None
    counted_in: tuple[str, ...] = ("train",)
    per_language: bool = False

    def __post_init__(self) -> None:
        if self.size is not None and not (isinstance(self.size, int) and self.size > 1):
            raise UserError(f"tokenizer.vocabulary_size={self.size}: must be a whole number above 1, or null for all words")
        if not self.counted_in or not set(self.counted_in) <= set(SPLITS):
            raise UserError(f"tokenizer.counted_in={list(self.counted_in)}: name one or more of {', '.join(SPLITS)}")

    def key(self) -> str:
        return f"words:{self.size}:{self.counted_in}" + (":per language" if self.per_language else "")

    def learn(self, *counts: Counts) -> Vocabulary:
        """For several languages, one list after another; a word that two share is where it first occurs.

        Two more than needed are requested: `<eos>` and `<unk>` may be among them, and come first anyway.
        """
        found: dict[str, None] = {}
        for each in counts:
            ranked = each.most_frequent(None if self.size is None else self.size + 2)
            own = Vocabulary.from_counts([word for word, _ in ranked], [count for _, count in ranked], self.size)
            found |= dict.fromkeys(own.words)
        return Vocabulary(list(found))
