"""Learning curves of a condition: the mean over its seeds at each probe, and how far the seeds lie apart."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from .conditions import RunCondition
from .intervals import spread
from .results import Result


@dataclass(frozen=True)
class Curve:
    """A point a probe. `sd` is not a number where only one seed has got there; `seeds` says how many have."""

    words: list[float]
    mean: list[float]
    sd: list[float]
    seeds: list[int]

    def by_words(self) -> dict[float, float]:
        """The mean at each probe."""
        return dict(zip(self.words, self.mean, strict=True))

    def half_widths(self) -> list[float]:
        """Of the 95 % intervals of the means over seeds."""
        return [half_width(sd, count) for sd, count in zip(self.sd, self.seeds, strict=True)]


def half_width(sd: float, seeds: int) -> float:
    """Of the 95 % interval of a mean over seeds, by Student's t; not a number where there is one seed."""
    if seeds < 2:
        return math.nan
    from scipy.special import stdtrit  # noqa: PLC0415 not needed for training

    return float(stdtrit(seeds - 1, 0.975)) * sd / math.sqrt(seeds)


def accuracy_curve(condition: RunCondition, construction: str) -> Curve:
    """Of one construction or of the mean, on the sample that is probed while the model learns."""
    return metric_curve(condition, f"{construction}/accuracy")


def metric_curve(condition: RunCondition, key: str) -> Curve:
    """Of anything that a probe has measured: `prep/misled_bigram`."""

    def points(result: Result) -> Iterable[tuple[int, int, float]]:
        return ((moment.step, moment.words, moment.values.get(key, math.nan)) for moment in result.moments)

    return _over_seeds(condition, points)


def perplexity_curve(condition: RunCondition) -> Curve:
    """Of the validation text, an epoch a point."""

    def points(result: Result) -> Iterable[tuple[int, int, float]]:
        return ((epoch, words, value) for epoch, (words, value) in enumerate(result.perplexities))

    return _over_seeds(condition, points)


def _over_seeds(condition: RunCondition, points: Callable[[Result], Iterable[tuple[int, int, float]]]) -> Curve:
    """Seeds are probed at the same steps; the words that they have seen by then differ a little."""
    found: dict[int, list[tuple[int, float]]] = {}
    for result in condition.results:
        for place, words, value in points(result):
            if not math.isnan(value):
                found.setdefault(place, []).append((words, value))
    curve = Curve([], [], [], [])
    for place in sorted(found):
        seen, values = (np.array(side, float) for side in zip(*found[place], strict=True))
        curve.words.append(float(seen.mean()))
        curve.mean.append(float(values.mean()))
        curve.sd.append(spread(values))
        curve.seeds.append(len(values))
    return curve
