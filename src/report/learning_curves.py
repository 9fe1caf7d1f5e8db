"""Learning curves of a condition: the mean over its seeds at each probe, and the spread between seeds."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from .conditions import RunCondition
from .results import Result

CLOSE = 0.01  # steps of two seeds that differ by this share at most are the same point of training


@dataclass(frozen=True)
class Curve:
    """One point per probe. `sd` is NaN where only one seed has got there; `seeds` says how many have."""

    words: list[float]
    mean: list[float]
    sd: list[float]
    seeds: list[int]

    def by_words(self) -> dict[float, float]:
        """The mean at each probe."""
        return dict(zip(self.words, self.mean, strict=True))

    def half_widths(self) -> list[float]:
        """Half-widths of the 95 % intervals of the means over seeds."""
        return [half_width(sd, count) for sd, count in zip(self.sd, self.seeds, strict=True)]


def half_width(sd: float, seeds: int) -> float:
    """Half the width of the 95 % interval of a mean over seeds, by Student's t; NaN for one seed."""
    if seeds < 2:
        return math.nan
    from scipy.special import stdtrit  # noqa: PLC0415 not needed for training

    return float(stdtrit(seeds - 1, 0.975)) * sd / math.sqrt(seeds)


def accuracy_curve(condition: RunCondition, construction: str) -> Curve:
    """The curve of one construction or of the mean, on the sample probed during training."""
    return metric_curve(condition, f"{construction}/accuracy")


def metric_curve(condition: RunCondition, key: str) -> Curve:
    """The curve of anything a probe measures: `prep/misled_bigram`."""
    tables = [result.memory.recall(_measured, partial(_measured, result)) for result in condition.results]
    missing = [np.full(len(table.step), math.nan) for table in tables]
    aligned = align_steps([table.step.tolist() for table in tables])
    steps = np.array([places[step] for table, places in zip(tables, aligned, strict=True) for step in table.step.tolist()])
    words = np.concatenate([table.words for table in tables])
    values = np.concatenate([table.values.get(key, none) for table, none in zip(tables, missing, strict=True)])
    return _over_seeds(steps, words, values)


def align_steps(runs: Sequence[Iterable[float]]) -> list[dict[float, float]]:
    """For the steps of each run's probes, the step under which they are the same point of training.

    With batches by tokens, an epoch has a few steps more with one seed than with another. Two steps of one run stay apart.
    """
    own = [set(steps) for steps in runs]
    places: list[dict[float, float]] = [{} for _ in own]
    first, members = -math.inf, dict[int, float]()
    for step, run in sorted((step, run) for run, steps in enumerate(own) for step in steps):
        near = step == first or (first > 0 and step - first <= max(1.0, CLOSE * first))  # the untrained model stands alone
        # A run that was also probed at exactly this step was at another point of training before.
        elsewhere = any(at != step and step in own[member] for member, at in members.items())
        if not near or run in members or elsewhere:
            first, members = step, {}
        members[run] = step
        places[run][step] = first
    return places


@dataclass(frozen=True)
class _Measured:
    """Everything a run's probes measured, by name: one value per probe, NaN where there is none."""

    step: NDArray[np.float64]
    words: NDArray[np.float64]
    values: dict[str, NDArray[np.float64]]


def _measured(result: Result) -> _Measured:
    moments = result.moments
    names = dict.fromkeys(name for moment in moments for name in moment.values)
    values = {name: np.array([moment.values.get(name, math.nan) for moment in moments]) for name in names}
    return _Measured(np.array([m.step for m in moments], float), np.array([m.words for m in moments], float), values)


def perplexity_curve(condition: RunCondition) -> Curve:
    """Validation perplexity, one point per epoch."""
    points = [
        (epoch, *point) for result in condition.results for epoch, point in enumerate(result.perplexities)
    ]  # epoch, words seen, perplexity
    return _over_seeds(*(np.array(side, float) for side in (zip(*points, strict=True) if points else ((), (), ()))))


def _over_seeds(place: NDArray[np.float64], words: NDArray[np.float64], values: NDArray[np.float64]) -> Curve:
    """Seeds are probed at the same points; the words seen by then differ slightly."""
    known = ~np.isnan(values)
    _, which = np.unique(place[known], return_inverse=True)
    count = np.bincount(which)

    def mean(side: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(which, weights=side) / count

    middle = mean(values[known])
    squares = np.bincount(which, weights=(values[known] - middle[which]) ** 2)
    sd = np.sqrt(np.divide(squares, count - 1, out=np.full(len(count), math.nan), where=count > 1))
    return Curve(mean(words[known]).tolist(), middle.tolist(), sd.tolist(), count.tolist())
