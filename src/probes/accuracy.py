"""Accuracy: how often what must hold does hold, with its n, its interval, its ties and what could not be scored."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .probe import Probe
from .verdicts import Verdicts

Z = 1.959963984540054  # 95 %
CHANCE = 0.5  # of one contrast, for a model that does not care
# The seven constructions of Mueller et al. (2020), by our names and by theirs; their mean is the mean of a table.
SEVEN = ("simple_agrmt", "vp_coord", "long_vp_coord", "subj_rel", "obj_rel_within", "obj_rel_across", "prep")
NUMBERS = {"singular": "s", "plural": "p"}
CELLS = ("ss", "sp", "ps", "pp")  # subject, attractor
MEAN = "mean"


@dataclass(frozen=True)
class Accuracy:
    """c of n. `every` is the share of items of which all contrasts hold, `items` their number."""

    n: int
    correct: float
    ties: int
    uncovered: int
    items: int
    every: float
    plus_one: bool = False

    @property
    def accuracy(self) -> float:
        if not self.n:
            return math.nan
        return (self.correct + 1) / (self.n + 1) if self.plus_one else self.correct / self.n

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of c/n; a tie counts as what it is worth."""
        return wilson(self.correct, self.n)


def wilson(correct: float, n: int) -> tuple[float, float]:
    """The interval of Wilson (1927), which holds for small n and near 0 and 1."""
    if not n:
        return math.nan, math.nan
    p = correct / n
    middle = (p + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    return max(middle - half, 0.0), min(middle + half, 1.0)


@dataclass(frozen=True)
class ConstructionRow:
    """All about one construction: the whole, its dev part, and by the numbers of subject and attractor where these are known."""

    construction: str
    all: Accuracy
    dev: Accuracy
    parts: Mapping[str, Accuracy]  # matched, mismatched, and ss, sp, ps, pp


@dataclass(frozen=True)
class Mean:
    """The unweighted mean over constructions, each worth the same whatever its size."""

    over: list[str]
    accuracy: float
    accuracy_dev: float
    interval: tuple[float, float]
    parts: Mapping[str, float]


@dataclass(frozen=True)
class Table:
    """What a model prefers, construction by construction."""

    rows: list[ConstructionRow]
    mean: Mean

    def row(self, construction: str) -> ConstructionRow:
        return next(row for row in self.rows if row.construction == construction)


def tabulate(probe: Probe, verdicts: Verdicts) -> Table:
    """The verdicts of a probe as a table."""
    rows = [_row(probe, verdicts, number) for number in range(len(probe.collected))]
    return Table(rows, _mean(rows))


def _row(probe: Probe, verdicts: Verdicts, number: int) -> ConstructionRow:
    contrasts = probe.contrasts
    own = contrasts.set == number
    parts = {}
    numbers = _numbers(probe, number)[contrasts.item[own]]
    for name in ("matched", "mismatched", *CELLS):
        cells = {"matched": ("ss", "pp"), "mismatched": ("sp", "ps")}.get(name, (name,))
        chosen = np.zeros(len(contrasts), bool)
        chosen[np.flatnonzero(own)[np.isin(numbers, cells)]] = True
        if chosen.any():
            parts[name] = count_accuracy(probe, verdicts, chosen)
    whole = count_accuracy(probe, verdicts, own)
    return ConstructionRow(probe.constructions[number], whole, count_accuracy(probe, verdicts, own & contrasts.dev), parts)


def _numbers(probe: Probe, number: int) -> NDArray[np.str_]:
    """`sp` for each item with a singular subject and a plural attractor; empty where one of them is not known."""
    features = probe.sets[number].features
    keys = ([NUMBERS.get(str(f.get(f"{who}_number")), "?") for f in features] for who in ("subject", "attractor"))
    return np.array(["".join(pair) for pair in zip(*keys, strict=True)])


def count_accuracy(probe: Probe, verdicts: Verdicts, chosen: NDArray[np.bool_]) -> Accuracy:
    """Over these contrasts."""
    scored = chosen & verdicts.covered
    items, which = np.unique(
        probe.contrasts.set[scored] * (len(probe.contrasts) + 1) + probe.contrasts.item[scored], return_inverse=True
    )
    worst = np.ones(len(items))
    np.minimum.at(worst, which, verdicts.verdict[scored])
    each = worst if probe.contract.unit == "items" else verdicts.verdict[scored]
    return Accuracy(
        n=len(each),
        correct=float(each.sum()),
        ties=int(verdicts.tie[scored].sum()),
        uncovered=int((chosen & ~verdicts.covered).sum()),
        items=len(items),
        every=float(worst.mean()) if len(items) else math.nan,
        plus_one=probe.contract.plus_one,
    )


def constructions_of_mean(constructions: list[str]) -> list[str]:
    """Those of which the mean is taken: the seven of CLAMS where they are among them, otherwise all."""
    seven = [name for name in constructions if name.removesuffix("_anim") in SEVEN]
    return seven or constructions


def _mean(rows: list[ConstructionRow]) -> Mean:
    wanted = constructions_of_mean([row.construction for row in rows])
    over = [row for row in rows if row.construction in wanted and row.all.n]
    halves = [(high - low) / 2 for low, high in (row.all.interval for row in over)]
    accuracy = _average([row.all.accuracy for row in over])
    half = math.sqrt(sum(h * h for h in halves)) / len(over) if over else math.nan
    parts = {
        name: _average([row.parts[name].accuracy for row in over if name in row.parts and row.parts[name].n])
        for name in ("matched", "mismatched", *CELLS)
        if any(name in row.parts for row in over)
    }
    dev = _average([row.dev.accuracy for row in over if row.dev.n])
    return Mean([row.construction for row in over], accuracy, dev, (accuracy - half, min(accuracy + half, 1.0)), parts)


def _average(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def metrics(table: Table, language: str, name: str) -> dict[str, float]:
    """Everything in the table under the names of the run's metrics."""
    found: dict[str, float] = {}
    for row in table.rows:
        prefix = f"probe/{language}/{name}/{row.construction}"
        found[f"{prefix}/accuracy"] = row.all.accuracy
        found[f"{prefix}/accuracy_dev"] = row.dev.accuracy
        found |= {f"{prefix}/{part}": value.accuracy for part, value in row.parts.items()}
        found |= {f"{prefix}/n": row.all.n, f"{prefix}/ties": row.all.ties, f"{prefix}/uncovered": row.all.uncovered}
    prefix = f"probe/{language}/{name}/{MEAN}"
    found |= {f"{prefix}/accuracy": table.mean.accuracy, f"{prefix}/accuracy_dev": table.mean.accuracy_dev}
    found |= {f"{prefix}/{part}": value for part, value in table.mean.parts.items()}
    return {key: value for key, value in found.items() if not (isinstance(value, float) and math.isnan(value))}
