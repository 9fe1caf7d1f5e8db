"""Verdicts as columns: every file is read and checked once, and again only when it changes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..probes.verdict_files import read_checked

Key = tuple[str, str, int]  # uid, contrast, index among those with the same name
Signature = tuple[int, ...]


class AskedItems:
    """Which contrasts a file covers, one per row. Files with the same items share one of these."""

    def __init__(self, table: pa.Table) -> None:
        self.uid, self.contrast = table["uid"], table["contrast"]
        self.construction = np.array([str(name) for name in table["construction"].to_pylist()], dtype=str)

    def __len__(self) -> int:
        return len(self.uid)

    def is_same(self, table: pa.Table) -> bool:
        return bool(self.uid.equals(table["uid"]) and self.contrast.equals(table["contrast"]))

    @cached_property
    def keys(self) -> list[Key]:
        return number_repeats(list(zip(self.uid.to_pylist(), self.contrast.to_pylist(), strict=True)))

    @cached_property
    def in_several_ways(self) -> bool:
        """Whether the items of some construction have contrasts with different names."""
        pairs = {*zip(self.construction.tolist(), self.contrast.to_pylist(), strict=True)}
        return len(pairs) > len({construction for construction, _ in pairs})

    @cached_property
    def item(self) -> NDArray[np.int64]:
        """The item number of every row. A control has the uid of its original; the construction tells them apart."""
        uid = self.uid.combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
        names = np.unique(self.construction, return_inverse=True)[1]
        return np.unique(uid + (uid.max(initial=0) + 1) * names, return_inverse=True)[1]

    @cached_property
    def item_constructions(self) -> NDArray[np.str_]:
        """The construction of every item."""
        place = np.zeros(int(self.item.max()) + 1 if len(self) else 0, np.int64)
        place[self.item] = np.arange(len(self))
        return self.construction[place]


def number_repeats(pairs: Sequence[tuple[str, str]]) -> list[Key]:
    """Number the contrasts of the same name within an item."""
    seen: dict[tuple[str, str], int] = {}
    found = []
    for pair in pairs:
        found.append((*pair, seen.get(pair, 0)))
        seen[pair] = seen.get(pair, 0) + 1
    return found


@dataclass(frozen=True)
class VerdictColumns:
    """What a file says about every contrast. If it is not a pair, `good` is its margin and `bad` is 0."""

    asked: AskedItems
    verdict: NDArray[np.float32]
    covered: NDArray[np.bool_]
    good: NDArray[np.float32]
    bad: NDArray[np.float32]


class VerdictFiles:
    """The files read so far, by path."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[Signature, VerdictColumns]] = {}
        self._newest: AskedItems | None = None

    def columns(self, file: Path) -> VerdictColumns:
        """Raises whatever a damaged file raises."""
        now = signature(file)
        known = self._known.get(file)
        if known is None or known[0] != now:
            known = self._known[file] = (now, self._read(file))
        return known[1]

    def _read(self, file: Path) -> VerdictColumns:
        table = read_checked(file)
        if self._newest is None or not self._newest.is_same(table):
            own = (known.asked for _, known in self._known.values() if known.asked.is_same(table))
            self._newest = next(own, None) or AskedItems(table)
        verdict, good, bad = (_numbers(table[name]) for name in ("verdict", "good_score", "bad_score"))
        if "margin" in table.column_names:
            one = np.isnan(good)
            good, bad = np.where(one, _numbers(table["margin"]), good), np.where(one, np.float32(0), bad)
        return VerdictColumns(self._newest, verdict, table["covered"].to_numpy(), good, bad)

    def forget_others(self, files: Iterable[Path]) -> None:
        """Forget the files that no run has any more."""
        wanted = set(files)
        self._known = {file: known for file, known in self._known.items() if file in wanted}


def _numbers(column: pa.ChunkedArray) -> NDArray[np.float32]:
    return column.to_numpy().astype(np.float32)


def signature(file: Path) -> Signature:
    """Changes when a file has been rewritten."""
    found = file.stat()
    return found.st_mtime_ns, found.st_size, found.st_ino
