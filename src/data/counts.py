"""How often each word occurs: exactly, in bounded memory."""

import heapq
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import numpy as np

LIMIT = 1 << 18  # words held at a time; with their counts some 40 MB


class Counts:
    """A table that has grown too large goes to disk in alphabetical order; in the end the tables are merged."""

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
        """Every word once with its count, by alphabet."""
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
        """The most frequent words, all if no size is given; of equally frequent ones the first by alphabet."""
        if size is None:
            return sorted(self, key=_rank)
        return heapq.nsmallest(size, self, key=_rank)

    def remove(self) -> None:
        """What was put on disk."""
        for file in self.spilled:
            file.unlink()


def _rank(entry: tuple[str, int]) -> tuple[int, str]:
    return -entry[1], entry[0]


def _read(file: Path) -> Iterator[tuple[str, int]]:
    with file.open(encoding="utf-8", newline="\n") as stream:
        for line in stream:
            word, _, count = line.rpartition("\t")
            yield word, int(count)
