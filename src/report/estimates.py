"""Accuracy of every condition and construction with its interval: what tables, figures and the page all show."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..probes.accuracy import MEAN
from .conditions import RunCondition
from .intervals import NOTHING, Estimate, estimate
from .judgements import Judgements, Mismatch, final_judgements
from .wording import in_paper_order


class Estimates:
    """What is known about every condition, each fact computed once."""

    def __init__(self, conditions: Sequence[RunCondition]) -> None:
        self.conditions = list(conditions)

    @cached_property
    def constructions(self) -> list[str]:
        return in_paper_order(list(dict.fromkeys(name for condition in self.conditions for name in condition.constructions)))

    @property
    def sets(self) -> list[str]:
        return list(dict.fromkeys(condition.first.set for condition in self.conditions))

    def of_set(self, name: str) -> "Estimates":
        """The estimates of one collection of sets: equal construction names in two collections are not the same construction."""
        return Estimates([condition for condition in self.conditions if condition.first.set == name])

    def of(self, condition: RunCondition, construction: str) -> Estimate:
        """The estimate for a construction, or for the mean over constructions."""
        return condition.memory.recall(_estimate_all, lambda: _estimate_all(condition)).get(construction, NOTHING)


def _estimate_all(condition: RunCondition) -> dict[str, Estimate]:
    names = [*condition.constructions, MEAN]
    judged = _judgements(condition)
    if judged is None:
        found = {name: _estimate_without_items(condition, name) for name in names}
    else:
        parts = {name: judged.of(name) for name in condition.constructions}
        scored = [name for name in condition.first.mean_over if parts[name].n.sum()]
        found = {name: estimate([part]) for name, part in parts.items()} | {MEAN: estimate([parts[name] for name in scored])}
    return {name: _count_as_contract(condition, name, value) for name, value in found.items()}


def _judgements(condition: RunCondition) -> Judgements | None:
    if not all(result.items for result in condition.results):
        return None
    try:
        return final_judgements(condition.results)
    except (Mismatch, OSError, ValueError):
        return None


def _count_as_contract(condition: RunCondition, construction: str, found: Estimate) -> Estimate:
    """The mean as the contract counts it (CLAMS: (c+1)/(n+1)); the interval is that of c/n."""
    values = _accuracies(condition, construction)
    chance = condition.first.chance(construction)
    if not found.known or np.isnan(values).any():
        return replace(found, chance=chance)
    return replace(found, mean=float(values.mean()), sd=condition.spread(values), chance=chance)


def _accuracies(condition: RunCondition, construction: str) -> NDArray[np.float64]:
    """The accuracy of every run; NaN if a run does not have the construction."""
    if construction == MEAN:
        return np.array([result.mean for result in condition.results])
    return np.array([r.scores[construction].accuracy if construction in r.scores else math.nan for r in condition.results])


def _estimate_without_items(condition: RunCondition, name: str) -> Estimate:
    """From accuracies alone: over several seeds by their spread, for a single run by Wilson."""
    values = _accuracies(condition, name)
    if np.isnan(values).any():
        return NOTHING
    score = condition.first.scores.get(name)
    low, high = score.interval if score and len(values) == 1 else (math.nan, math.nan)
    return Estimate(float(values.mean()), condition.spread(values), low, high, len(values), score.n if score else 0)
