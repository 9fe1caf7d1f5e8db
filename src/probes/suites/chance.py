"""What an ignorant model scores: the share of independent normal noise under which predictions hold."""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from ..contrast_chance import Groups, NumberedClause, chance_of_all
from .formula import Comparison, Formula, RegionReference, Sum, normal_form, references
from .suite import ItemRule, Suite


class Chance(NamedTuple):
    """The chance of each prediction, and of all at once."""

    each: tuple[float, ...]
    all: float

    def under(self, rule: ItemRule) -> tuple[float, ...]:
        """The chance of what an item rule counts: one share, or one per prediction."""
        if rule == "each":
            return self.each
        return self.each[:1] if rule == "first" else (self.all,)


def chance_of(suite: Suite) -> Chance:
    """Every region of every condition gets its own noise; a whole condition is the sum over its regions."""
    return chance(tuple(prediction.tree for prediction in suite.predictions), suite.regions)


@lru_cache(maxsize=256)
def chance(formulas: tuple[Formula, ...], regions: tuple[int, ...]) -> Chance:
    """From the one owner of chance: exact if only the order of regions matters, otherwise by noise with a fixed seed."""
    named = [reference for formula in formulas for reference in references(formula)]
    # If no region is named individually, a whole condition is one value: the same share, and exact.
    parts = regions if any(reference.region is not None for reference in named) else (None,)
    spans: dict[RegionReference, int] = {}
    groups = [_groups(formula, parts, spans) for formula in formulas]
    return Chance(tuple(chance_of_all((each,)) for each in groups), chance_of_all(tuple(groups)) if groups else 1.0)


def _groups(formula: Formula, parts: tuple[int | None, ...], spans: dict[RegionReference, int]) -> Groups:
    def side(total: Sum) -> tuple[tuple[int, float], ...]:
        """Summed by region: what occurs twice on a side counts twice, what cancels disappears."""
        weights: dict[int, float] = {}
        for weight, reference in total.terms:
            for region in parts if reference.region is None else (reference.region,):
                number = spans.setdefault(RegionReference(region, reference.condition), len(spans))
                weights[number] = weights.get(number, 0.0) + weight
        return tuple((number, weight) for number, weight in weights.items() if weight)

    def clause(comparison: Comparison) -> NumberedClause:
        greater, smaller = comparison.left, comparison.right
        if comparison.relation == "<":
            greater, smaller = smaller, greater
        return side(greater), side(smaller), comparison.relation == "=", (greater.constant, smaller.constant)

    return tuple(tuple(clause(each) for each in way) for way in normal_form(formula))


def with_chance(suite: Suite) -> Suite:
    """The suite with every prediction's chance beside its formula, for readers of the file; it is never read back."""
    shares = chance_of(suite).each
    stored = (replace(p, extra={**p.extra, "chance": round(c, 4)}) for p, c in zip(suite.predictions, shares, strict=True))
    return replace(suite, predictions=tuple(stored))


def above_chance(accuracy: float, chance_share: float) -> float:
    """(accuracy - chance) / (1 - chance): 0 for noise, 1 for a perfect model."""
    return (accuracy - chance_share) / (1 - chance_share) if chance_share < 1 else float("nan")
