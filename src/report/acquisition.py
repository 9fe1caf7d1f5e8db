"""When a construction is learnt, and in which order: words seen until accuracy reaches a level and holds it."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from .conditions import RunCondition
from .intervals import resample_seeds
from .judgements import Mismatch, judgements_over_time
from .results import Result

LEVELS = (0.75, 0.9)
DRAWS = 400


@dataclass(frozen=True)
class Acquisition:
    """Words seen until accuracy reaches a level: the mean over seeds, with a 95 % interval.

    If some seeds never reach it, the mean of those that do, without an interval; `math.inf` if none does.
    """

    construction: str
    level: float
    words: float
    low: float
    high: float
    reached: int
    seeds: int


def words_until(level: float, words: Sequence[int], curves: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each curve (…, T): where it first reaches the level and still holds it at the next probe, interpolated linearly."""
    above = curves >= level
    held = above.copy()
    held[..., :-1] &= above[..., 1:]
    at = np.argmax(held, axis=-1)
    seen = np.asarray(words, float)
    before = np.maximum(at - 1, 0)
    low = np.take_along_axis(curves, before[..., None], -1)[..., 0]
    high = np.take_along_axis(curves, at[..., None], -1)[..., 0]
    share = np.divide(level - low, high - low, out=np.ones_like(high), where=high > low)
    # An earlier probe may already have been above the level without holding it; the level is then reached at this probe.
    share = np.where((at == 0) | (low >= level), 1.0, np.clip(share, 0.0, 1.0))
    reached: NDArray[np.float64] = np.where(held.any(axis=-1), seen[before] + share * (seen[at] - seen[before]), np.inf)
    return np.where(held.any(axis=-1) & (at == 0), seen[0], reached)


def curve(result: Result, construction: str) -> tuple[list[int], NDArray[np.float64]]:
    """Words seen and accuracy at each probe that includes this construction."""
    pairs = [(m.words, m.accuracy(construction)) for m in result.moments]
    kept = [(words, value) for words, value in pairs if not math.isnan(value)]
    return [words for words, _ in kept], np.array([value for _, value in kept])


def words_to_level(result: Result, construction: str, level: float) -> float:
    """Words seen until one model reaches the level."""

    def find() -> float:
        words, values = curve(result, construction)
        return float(words_until(level, words, values)) if len(values) > 1 else math.nan

    return result.memory.recall((words_to_level, construction, level), find)


def measure_acquisition(condition: RunCondition, draws: int = DRAWS) -> list[Acquisition]:
    """Acquisition of every construction at every level, over the seeds of a condition."""
    return condition.memory.recall((measure_acquisition, draws), lambda: _measure_acquisition(condition, draws))


def _measure_acquisition(condition: RunCondition, draws: int) -> list[Acquisition]:
    worlds = [result.memory.recall((_worlds, draws), partial(_worlds, result, draws)) for result in condition.results]
    found = []
    for construction in condition.constructions:
        for level in LEVELS:
            each = np.array([words_to_level(result, construction, level) for result in condition.results])
            each = each[~np.isnan(each)]
            if len(each):
                drawn = [world[construction, level] for world in worlds if (construction, level) in world]
                low, high = _interval(each, np.stack(drawn)) if len(drawn) == len(each) else (math.nan, math.nan)
                known = each[np.isfinite(each)]
                middle = float(known.mean()) if len(known) else math.inf
                found.append(Acquisition(construction, level, middle, low, high, len(known), len(each)))
    return found


def _worlds(result: Result, draws: int) -> dict[tuple[str, float], NDArray[np.float64]]:
    """Words to each level under resampled items, (draws,)."""
    try:
        found = judgements_over_time(result)
    except (Mismatch, OSError, ValueError):
        return {}
    if found is None or len(found[1]) < 2:
        return {}
    judged, words = found
    parts = {construction: judged.of(construction) for construction in dict.fromkeys(judged.construction.tolist())}
    parts = {construction: own for construction, own in parts.items() if own.n.min() > 0}
    worlds = {}
    drawn = _draw_items(tuple(len(own.n) for own in parts.values()), draws)
    for (construction, own), weights in zip(parts.items(), drawn, strict=True):
        always = (own.n == own.n[:, :1]).all()  # then the denominator need not be computed for every probe
        curves = (weights @ own.correct) / (weights @ (own.n[:, :1] if always else own.n))  # (draws, moments)
        for level in LEVELS:
            worlds[construction, level] = words_until(level, words, curves)
    return worlds


@lru_cache(maxsize=2)
def _draw_items(sizes: tuple[int, ...], draws: int) -> list[NDArray[np.float64]]:
    """How often each item of each construction is drawn, (draws, items).

    The same draws serve all runs: every seed is probed on the same items, so items are resampled for all seeds at once.
    """
    rng = np.random.default_rng(0)
    return [rng.multinomial(size, [1 / size] * size, size=draws).astype(np.float64) for size in sizes]


def _interval(each: NDArray[np.float64], drawn: NDArray[np.float64]) -> tuple[float, float]:
    """Resample items (seeds, draws), and seeds as in `intervals`: the middle 95 %, open where a draw never reaches the level."""
    if not np.isfinite(each).all():
        return math.nan, math.nan
    values = drawn.mean(axis=0)
    if len(each) > 1:
        values = values + resample_seeds(each, len(values), np.random.default_rng(1))
    in_paper_order = np.sort(values)
    last = len(in_paper_order) - 1
    return max(float(in_paper_order[math.floor(0.025 * last)]), 0.0), float(in_paper_order[math.ceil(0.975 * last)])


# ----------------------------------------------------------------------- order


@dataclass(frozen=True)
class OrderSimilarity:
    """How similar two orders are, or the orders within a condition: Kendall's τ-b over `constructions` constructions."""

    one: str
    other: str
    tau: float
    p: float
    constructions: int
    pairs: int = 1


def acquisition_order(result: Result, constructions: Sequence[str], level: float = LEVELS[0]) -> list[float]:
    """Words to the level for each construction; constructions that never reach it share the last place."""
    return [words_to_level(result, construction, level) for construction in constructions]


def kendall_tau(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """Kendall's τ-b and its p; undefined if all values of one side are equal."""
    from scipy.stats import kendalltau  # noqa: PLC0415

    known = [(a, b) for a, b in zip(one, other, strict=True) if not (math.isnan(a) or math.isnan(b))]
    if len(known) < 3 or any(len(set(side)) < 2 for side in zip(*known, strict=True)):
        return math.nan, math.nan
    # Ranks: infinities tie for the last place.
    ranks = [np.unique(np.nan_to_num(side, posinf=1e300), return_inverse=True)[1] for side in zip(*known, strict=True)]
    found = kendalltau(*ranks)
    return float(found.statistic), float(found.pvalue)


def similarity_of_seeds(condition: RunCondition) -> OrderSimilarity | None:
    """Do the seeds of a condition learn in the same order? The mean τ over pairs of seeds."""
    orders = [acquisition_order(result, condition.constructions) for result in condition.results]
    values = [kendall_tau(a, b)[0] for a, b in itertools.combinations(orders, 2)]
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return None
    return OrderSimilarity(
        condition.title, condition.title, float(np.mean(known)), math.nan, len(condition.constructions), len(known)
    )


def similarity_of_conditions(one: RunCondition, other: RunCondition) -> OrderSimilarity | None:
    """Do two conditions, say of two languages, learn in the same order? τ of their mean words over seeds."""
    shared = [name for name in one.constructions if name in other.constructions]
    means = [
        np.mean([acquisition_order(result, shared) for result in condition.results], axis=0).tolist()
        for condition in (one, other)
    ]
    value, p = kendall_tau(*means)
    return None if math.isnan(value) else OrderSimilarity(one.title, other.title, value, p, len(shared))
