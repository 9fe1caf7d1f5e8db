"""Accuracy of every condition and construction with its interval: what tables, figures and the page all show."""

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..probes.accuracy import MEAN, constructions_of_mean
from .conditions import Condition
from .intervals import NOTHING, Estimate, estimate, spread
from .judgements import Judgements, Mismatch, final_judgements
from .results import Result
from .wording import in_paper_order


class Estimates:
    """What is known of every condition, computed once."""

    def __init__(self, conditions: Sequence[Condition]) -> None:
        self.conditions = list(conditions)

    @cached_property
    def constructions(self) -> list[str]:
        return in_paper_order(list(dict.fromkeys(name for condition in self.conditions for name in condition.constructions)))

    @cached_property
    def all(self) -> dict[tuple[int, str], Estimate]:
        """By number of the condition and construction, the mean among them."""
        found = {}
        for number, condition in enumerate(self.conditions):
            for construction, value in _estimates(condition).items():
                found[number, construction] = value
        return found

    def of(self, condition: Condition, construction: str) -> Estimate:
        return self.all.get((self.conditions.index(condition), construction), NOTHING)


def _estimates(condition: Condition) -> dict[str, Estimate]:
    judged = _final_judgements(condition)
    if judged is None:
        return _without_items(condition)
    parts = {name: judged.of(name) for name in condition.constructions}
    scored = [name for name in constructions_of_mean(condition.constructions) if parts[name].n.sum()]
    found = {name: estimate([part]) for name, part in parts.items()} | {MEAN: estimate([parts[name] for name in scored])}
    return {name: _count_as_contract(condition, name, value) for name, value in found.items()}


def _final_judgements(condition: Condition) -> Judgements | None:
    if not all(result.items for result in condition.results):
        return None
    try:
        return final_judgements(condition.results)
    except (Mismatch, OSError, ValueError):
        return None


def _count_as_contract(condition: Condition, construction: str, found: Estimate) -> Estimate:
    """The mean as the contract counts it (CLAMS: (c+1)/(n+1)); the interval is that of c/n."""
    values = _values(condition, construction)
    if not found.known or np.isnan(values).any():
        return found
    return Estimate(float(values.mean()), spread(values), found.low, found.high, found.seeds, found.n)


def _values(condition: Condition, construction: str) -> NDArray[np.float64]:
    return np.array([r.mean if construction == MEAN else _accuracy(r, construction) for r in condition.results])


def _accuracy(result: Result, construction: str) -> float:
    return result.scores[construction].accuracy if construction in result.scores else math.nan


def _without_items(condition: Condition) -> dict[str, Estimate]:
    """From accuracies alone: between seeds by their spread, of a single run by Wilson."""
    found = {}
    for name in [*condition.constructions, MEAN]:
        values = _values(condition, name)
        low, high = condition.first.scores[name].interval if name != MEAN and len(values) == 1 else (math.nan, math.nan)
        n = 0 if name == MEAN else condition.first.scores[name].n if name in condition.first.scores else 0
        if not np.isnan(values).any():
            found[name] = Estimate(float(values.mean()), spread(values), low, high, len(values), n)
    return found
