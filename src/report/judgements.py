"""Verdicts from their Parquet files, as counts an item: what must be drawn together when items are drawn again."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pyarrow import parquet

from ..files import JsonObject
from ..probes.contract import PROTOCOLS
from .results import Result


@dataclass(frozen=True)
class Judgements:
    """Items × models (or moments): how many contrasts of an item were scored, and how many held."""

    construction: NDArray[np.str_]  # (I,)
    correct: NDArray[np.float64]  # (I, M)
    n: NDArray[np.float64]  # (I, M)

    def of(self, construction: str) -> "Judgements":
        own = self.construction == construction
        return Judgements(self.construction[own], self.correct[own], self.n[own])

    @property
    def accuracy(self) -> NDArray[np.float64]:
        """Of every model, over all items here."""
        total = self.n.sum(axis=0)
        return np.divide(self.correct.sum(axis=0), total, out=np.full(len(total), np.nan), where=total > 0)


class Mismatch(ValueError):
    """Files that should have the same items have not."""


def final_judgements(results: Sequence[Result]) -> Judgements:
    """The whole sets, for models that were asked the same items under the same contract."""
    return read_judgements([result.items for result in results if result.items], results[0].contract)


def judgements_over_time(result: Result) -> tuple[Judgements, list[int]] | None:
    """All probes on the way of which the verdicts are there, and the words seen at each."""
    kept = [moment for moment in result.moments if moment.file is not None]
    if not kept:
        return None
    return read_judgements([moment.file for moment in kept if moment.file], result.contract), [moment.words for moment in kept]


def read_judgements(files: Sequence[Path], contract: JsonObject) -> Judgements:
    """One column a file. The items are the same and in the same order, or it is an error."""
    first = parquet.read_table(files[0], columns=["uid", "construction"])
    names = np.array(first["construction"].to_pylist())
    uid = first["uid"].combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
    # A control has the uid of its original: an item is known by its construction as well.
    uids, item = np.unique(uid + (uid.max(initial=0) + 1) * np.unique(names, return_inverse=True)[1], return_inverse=True)
    place = np.zeros(len(uids), np.int64)
    place[item] = np.arange(len(item))
    every = PROTOCOLS[contract["protocol"]].unit == "items" if contract.get("protocol") in PROTOCOLS else False
    columns = [_column(file, item, len(uids), every) for file in files]
    return Judgements(names[place], np.stack([c for c, _ in columns], 1), np.stack([n for _, n in columns], 1))


def _column(file: Path, item: NDArray[np.int64], items: int, every: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    table = parquet.read_table(file, columns=["verdict", "covered"])
    verdict, covered = (table[name].to_numpy() for name in ("verdict", "covered"))
    if len(verdict) != len(item):
        raise Mismatch(f"{file} has {len(verdict):,} contrasts where {len(item):,} were expected")
    n = np.bincount(item[covered], minlength=items).astype(float)
    if every:  # all contrasts of an item must hold
        worst = np.ones(items)
        np.minimum.at(worst, item[covered], verdict[covered])
        return np.where(n > 0, worst, 0.0), (n > 0).astype(float)
    return np.bincount(item[covered], weights=verdict[covered], minlength=items).astype(float), n
