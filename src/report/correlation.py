"""Perplexity and accuracy over runs: does the better language model have the better syntax?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..probes.accuracy import MEAN
from .comparison import holm
from .conditions import comparison_key
from .results import Result
from .wording import in_paper_order

FEWEST = 4  # runs: with three, no order is rarer than one in six
DRAWS = 5040  # permutations: with up to seven runs all are tried; beyond that, this many are drawn


@dataclass(frozen=True)
class Correlation:
    """Spearman's ρ over runs of one language, vocabulary, set and contract."""

    language: str
    set: str
    construction: str
    rho: float
    p: float
    corrected: float
    runs: int


def correlations(results: Sequence[Result]) -> list[Correlation]:
    """Only where perplexities are comparable, with the same vocabulary. Corrected over the constructions of one set."""
    families: dict[tuple[str, ...], list[Result]] = {}
    for result in results:
        # Checkpoints of one run are not separate runs.
        if not math.isnan(result.perplexity) and result.finished and not result.model.checkpoint:
            families.setdefault((*comparison_key(result), result.vocabulary), []).append(result)
    return [
        each for (language, name, *_), runs in families.items() if len(runs) >= FEWEST for each in _family(language, name, runs)
    ]


def _family(language: str, name: str, runs: Sequence[Result]) -> list[Correlation]:
    perplexity = np.array([result.perplexity for result in runs])
    rows = []
    for construction in [MEAN, *in_paper_order(list(runs[0].scores))]:
        values = np.array([r.mean if construction == MEAN else r.scores[construction].accuracy for r in runs])
        if not np.isnan(values).any() and len(set(values)) > 1 and len(set(perplexity)) > 1:
            rows.append((construction, *spearman(perplexity, values)))
    corrected = holm([p for _, _, p in rows])
    return [Correlation(language, name, c, rho, p, q, len(runs)) for (c, rho, p), q in zip(rows, corrected, strict=True)]


def spearman(one: NDArray[np.float64], other: NDArray[np.float64]) -> tuple[float, float]:
    """ρ, with p from permutations (the share with at least as large a ρ): the usual formula is wrong for a handful of runs."""
    from scipy.stats import permutation_test, rankdata  # noqa: PLC0415

    ranks = rankdata(one), rankdata(other)

    def rho(x: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
        fixed = ranks[1] - ranks[1].mean()
        moved = x - np.mean(x, axis=axis, keepdims=True)
        # Rounded: summing in a different order must not make equal values unequal.
        return np.round(np.sum(moved * fixed, axis=axis) / np.sqrt(np.sum(moved**2, axis=axis) * np.sum(fixed**2)), 12)

    def size(x: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
        return np.abs(rho(x, axis))

    drawn = {"n_resamples": DRAWS, "rng": np.random.default_rng(0)}
    found = permutation_test((ranks[0],), size, permutation_type="pairings", vectorized=True, alternative="greater", **drawn)
    return float(rho(ranks[0])), float(found.pvalue)
