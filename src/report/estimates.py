"""Accuracy of every condition and construction with its interval: what tables, figures and the page all show."""

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..probes.accuracy import MEAN, constructions_of_mean
from .conditions import Group
from .intervals import NOTHING, Estimate, estimate, spread
from .judgements import Judgements, Mismatch, finals
from .results import Result
from .wording import ordered


class Estimates:
    """What is known of every group, computed once."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self.groups = list(groups)

    @cached_property
    def constructions(self) -> list[str]:
        return ordered(list(dict.fromkeys(name for group in self.groups for name in group.constructions)))

    @cached_property
    def all(self) -> dict[tuple[int, str], Estimate]:
        """By number of the group and construction, the mean among them."""
        found = {}
        for number, group in enumerate(self.groups):
            for construction, value in _estimates(group).items():
                found[number, construction] = value
        return found

    def of(self, group: Group, construction: str) -> Estimate:
        return self.all.get((self.groups.index(group), construction), NOTHING)


def _estimates(group: Group) -> dict[str, Estimate]:
    judged = _judged(group)
    if judged is None:
        return _without_items(group)
    parts = {name: judged.of(name) for name in group.constructions}
    scored = [name for name in constructions_of_mean(group.constructions) if parts[name].n.sum()]
    found = {name: estimate([part]) for name, part in parts.items()} | {MEAN: estimate([parts[name] for name in scored])}
    return {name: _as_counted(group, name, value) for name, value in found.items()}


def _judged(group: Group) -> Judgements | None:
    if not all(result.items for result in group.results):
        return None
    try:
        return finals(group.results)
    except (Mismatch, OSError, ValueError):
        return None


def _as_counted(group: Group, construction: str, found: Estimate) -> Estimate:
    """The mean as the contract counts it (CLAMS: (c+1)/(n+1)); the interval is that of c/n."""
    values = _values(group, construction)
    if not found.known or np.isnan(values).any():
        return found
    return Estimate(float(values.mean()), spread(values), found.low, found.high, found.seeds, found.n)


def _values(group: Group, construction: str) -> NDArray[np.float64]:
    return np.array([r.mean if construction == MEAN else _accuracy(r, construction) for r in group.results])


def _accuracy(result: Result, construction: str) -> float:
    return result.scores[construction].accuracy if construction in result.scores else math.nan


def _without_items(group: Group) -> dict[str, Estimate]:
    """From accuracies alone: between seeds by their spread, of a single run by Wilson."""
    found = {}
    for name in [*group.constructions, MEAN]:
        values = _values(group, name)
        low, high = group.first.scores[name].interval if name != MEAN and len(values) == 1 else (math.nan, math.nan)
        n = 0 if name == MEAN else group.first.scores[name].n if name in group.first.scores else 0
        if not np.isnan(values).any():
            found[name] = Estimate(float(values.mean()), spread(values), low, high, len(values), n)
    return found
