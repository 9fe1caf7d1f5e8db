"""How far to trust an accuracy: a bootstrap over items and seeds.

Every seed is evaluated on the same items, so the two are crossed: seeds are resampled, and items are resampled for all seeds
at once. Items with the same pattern of verdicts are interchangeable, so drawing their counts is exact, and fast at any size.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..probes.accuracy import Z, interval_of_mean, wilson
from .judgements import Judgements

DRAWS = 2000


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds with its standard deviation between seeds, its 95 % interval over items and seeds, and chance."""

    mean: float
    sd: float
    low: float
    high: float
    seeds: int
    n: int
    chance: float = math.nan

    @property
    def known(self) -> bool:
        return not math.isnan(self.mean)


NOTHING = Estimate(math.nan, math.nan, math.nan, math.nan, 0, 0)


def estimate(parts: Sequence[Judgements], draws: int = DRAWS, seed: int = 0) -> Estimate:
    """The estimate for one construction, or for the unweighted mean of several. The models are seeds of one condition."""
    accuracies = np.array([part.accuracy for part in parts])  # (constructions, seeds)
    sizes = [int(part.n.max(axis=1).sum()) for part in parts]
    if not parts or not all(sizes) or np.isnan(accuracies).any():
        return NOTHING
    means = accuracies.mean(axis=0)
    mean, seeds = float(means.mean()), len(means)
    # Never narrower than Wilson's interval over the items alone, which also holds when all or none are right.
    bounds = [wilson(float(own.mean()) * n, n) for own, n in zip(accuracies, sizes, strict=True)]
    low, high = interval_of_mean(accuracies.mean(axis=1).tolist(), bounds)
    if seeds > 1:
        rng = np.random.default_rng(seed)
        drawn = np.mean([resample_items(part, draws, rng) for part in parts], axis=0) + resample_seeds(means, draws, rng)
        below, above = np.quantile(drawn, [0.025, 0.975])
        low, high = min(low, float(below)), max(high, float(above))
    return Estimate(mean, spread(means), max(0.0, low), min(1.0, high), seeds, sum(sizes))


def spread(values: NDArray[np.float64], population: bool = False) -> float:
    """Standard deviation between seeds, of the sample (n − 1) or the population (n); undefined for one seed."""
    return float(values.std(ddof=0 if population else 1)) if len(values) > 1 else math.nan


def resample_items(judged: Judgements, draws: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """The mean over these seeds under resampled items, (draws,)."""
    patterns, counts = np.unique(np.concatenate([judged.correct, judged.n], axis=1), axis=0, return_counts=True)
    seeds = judged.correct.shape[1]
    items = rng.multinomial(counts.sum(), counts / counts.sum(), size=draws)  # (draws, patterns)
    correct, n = items @ patterns[:, :seeds], items @ patterns[:, seeds:]  # (draws, seeds)
    accuracies = np.divide(correct, n, out=np.full_like(correct, np.nan), where=n > 0)
    means: NDArray[np.float64] = np.nanmean(accuracies, axis=1)
    return means


def resample_seeds(means: NDArray[np.float64], draws: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """How far the mean shifts under resampled seeds, (draws,)."""
    seeds = len(means)
    chosen = rng.multinomial(seeds, [1 / seeds] * seeds, size=draws) / seeds
    moved: NDArray[np.float64] = student_stretch(seeds) * (chosen @ means - means.mean())
    return moved


def student_stretch(seeds: int) -> float:
    """Resampling few seeds understates their spread: stretch it to Student's t with n − 1 degrees of freedom."""
    from scipy.special import stdtrit  # noqa: PLC0415

    return float(stdtrit(seeds - 1, 0.975)) / Z * math.sqrt(seeds / (seeds - 1))
