"""Verdicts as counts per item: what must stay together when items are resampled."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..files import JsonObject
from ..probes.contract import PROTOCOLS
from .results import Result
from .verdict_columns import AskedItems, VerdictColumns


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
        """The accuracy of every model, over all items here."""
        total = self.n.sum(axis=0)
        return np.divide(self.correct.sum(axis=0), total, out=np.full(len(total), np.nan), where=total > 0)


class Mismatch(ValueError):
    """Files that should cover the same items do not."""


def final_judgements(results: Sequence[Result]) -> Judgements:
    """The whole sets, for models evaluated on the same items under the same contract."""
    return count_items([result.files.columns(result.items) for result in results if result.items], results[0].contract)


def judgements_over_time(result: Result) -> tuple[Judgements, list[int]] | None:
    """All probes during training that have verdicts, and the words seen at each."""
    kept = [(moment.file, moment.words) for moment in result.moments if moment.file is not None]
    if not kept:
        return None
    return count_items([result.files.columns(file) for file, _ in kept], result.contract), [words for _, words in kept]


def count_items(columns: Sequence[VerdictColumns], contract: JsonObject) -> Judgements:
    """One column per file. The items must be the same and in the same order; otherwise it is an error."""
    asked = columns[0].asked
    every = PROTOCOLS[contract["protocol"]].unit == "items" if contract.get("protocol") in PROTOCOLS else False
    counted = [_count(each, asked, every) for each in columns]
    return Judgements(asked.item_constructions, np.stack([c for c, _ in counted], 1), np.stack([n for _, n in counted], 1))


def _count(own: VerdictColumns, asked: AskedItems, every: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if len(own.verdict) != len(asked):
        raise Mismatch(f"a verdict file has {len(own.verdict):,} contrasts instead of the expected {len(asked):,}")
    items, item = len(asked.item_constructions), asked.item[own.covered]
    verdict = own.verdict[own.covered].astype(float)
    n = np.bincount(item, minlength=items).astype(float)
    if every:  # all contrasts of an item must be scored, and hold
        worst, whole = np.ones(items), n == np.bincount(asked.item, minlength=items)
        np.minimum.at(worst, item, verdict)
        return np.where(whole, worst, 0.0), whole.astype(float)
    return np.bincount(item, weights=verdict, minlength=items).astype(float), n
