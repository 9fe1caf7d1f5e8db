"""Do two models, or two recipes, differ? Exact tests on the same items, corrected for multiple testing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .conditions import RunCondition, comparison_key
from .judgements import Judgements, Mismatch, final_judgements
from .results import Result
from .wording import in_paper_order

ALPHA = 0.05
EXACT = 10_000  # permutations of seeds: up to this many, all are tried; beyond it, this many are drawn


@dataclass(frozen=True)
class TestedDifference:
    """One construction: accuracies on the shared items, items that only one model gets right, p before and after Holm."""

    construction: str
    other: str
    base: str
    language: str
    accuracy: float
    base_accuracy: float
    n: int
    better: int
    worse: int
    p: float
    corrected: float = 1.0

    @property
    def gain(self) -> float:
        return self.accuracy - self.base_accuracy


def compare_models(result: Result, base: Result) -> list[TestedDifference]:
    """Two models on the same items (McNemar's exact test; a tie within an item counts half), not yet corrected."""
    return result.memory.recall(compare_models, lambda: _compare_models(result, base), base)


def _compare_models(result: Result, base: Result) -> list[TestedDifference]:
    if comparison_key(result) != comparison_key(base) or not (result.items and base.items):
        return []
    try:
        judged = final_judgements([result, base])
    except Mismatch:
        return []
    found = []
    for construction in in_paper_order(list(dict.fromkeys(judged.construction.tolist()))):
        own = judged.of(construction)
        both = own.n.min(axis=1) > 0
        if both.any():
            one, two = (own.correct[both, side] / own.n[both, side] for side in (0, 1))
            better, worse = int((one > two).sum()), int((one < two).sum())
            here, there = Judgements(own.construction[both], own.correct[both], own.n[both]).accuracy.tolist()
            names, counts = (construction, result.name, base.name, result.language), (int(both.sum()), better, worse)
            found.append(TestedDifference(*names, here, there, *counts, mcnemar_p(better, worse)))
    return found


def mcnemar_p(better: int, worse: int) -> float:
    """Exact, two-sided: each item on which the models differ is equally likely to go either way."""
    from scipy.stats import binomtest  # noqa: PLC0415

    return float(binomtest(better, better + worse).pvalue) if better + worse else 1.0


def compare_conditions(condition: RunCondition, base: RunCondition) -> list[TestedDifference]:
    """Two conditions with several seeds each: would the difference in means arise if seeds were assigned at random?"""
    return condition.memory.recall(compare_conditions, lambda: _compare_conditions(condition, base), base)


def _compare_conditions(condition: RunCondition, base: RunCondition) -> list[TestedDifference]:
    found = []
    if comparison_key(condition.first) != comparison_key(base.first) or min(len(condition.results), len(base.results)) < 2:
        return []
    for construction in in_paper_order([name for name in condition.constructions if name in base.constructions]):
        one, two = (np.array([r.scores[construction].accuracy for r in g.results]) for g in (condition, base))
        if not (np.isnan(one).any() or np.isnan(two).any()):
            names = (construction, condition.name, base.name, condition.language)
            n = condition.first.scores[construction].n
            found.append(TestedDifference(*names, float(one.mean()), float(two.mean()), n, 0, 0, permutation_p(one, two)))
    return found


def permutation_p(one: NDArray[np.float64], two: NDArray[np.float64]) -> float:
    """Permutation test for a difference in means, exact while permutations are few: the share at least as extreme.

    scipy's two-sided p doubles the smaller tail, which differs when the two sides have unequal numbers of seeds.
    """
    from scipy.stats import permutation_test  # noqa: PLC0415

    def gap(x: NDArray[np.float64], y: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        # Rounded: summing in a different order must not make equal differences unequal.
        result: NDArray[np.float64] = np.round(np.abs(np.mean(x, axis=axis) - np.mean(y, axis=axis)), 12)
        return result

    if math.comb(len(one) + len(two), len(one)) <= EXACT:
        return float(permutation_test((one, two), gap, vectorized=True, axis=0, alternative="greater", n_resamples=np.inf).pvalue)
    dealt = np.random.default_rng(0).permuted(np.tile(np.concatenate([one, two]), (EXACT, 1)), axis=1)
    as_much = gap(dealt[:, : len(one)], dealt[:, len(one) :], 1) >= gap(one, two, 0)
    return (int(as_much.sum()) + 1) / (EXACT + 1)  # the observed assignment is one of the permutations


def holm(values: Sequence[float]) -> list[float]:
    """Holm's step-down correction (scipy has none): keeps the chance of any false alarm among all tests below the level."""
    order = np.argsort(values, kind="stable")
    factors = np.arange(len(values), 0, -1)
    adjusted = np.minimum(np.maximum.accumulate(np.asarray(values, float)[order] * factors), 1.0)
    found = np.empty(len(values))
    found[order] = adjusted
    return [float(p) for p in found]
