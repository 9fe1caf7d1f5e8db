"""What a model that knows nothing scores: the share of independent normal noise under which predictions hold."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .formula import Formula, RegionReference, references
from .margins import Floats, judge
from .suite import ItemRule, Suite

DRAWS, SEED = 200_000, 2020


class Chance(NamedTuple):
    """The share of each prediction, and that of all at once."""

    each: tuple[float, ...]
    all: float

    def under(self, rule: ItemRule) -> tuple[float, ...]:
        """Chance of what is counted under an item rule: one share, or one per prediction."""
        if rule == "each":
            return self.each
        return self.each[:1] if rule == "first" else (self.all,)


def chance_of(suite: Suite) -> Chance:
    """Every region of every condition gets noise of its own; the whole of a condition is the sum over its regions."""
    return chance(tuple(prediction.tree for prediction in suite.predictions), suite.regions)


@lru_cache(maxsize=256)
def chance(formulas: tuple[Formula, ...], regions: tuple[int, ...]) -> Chance:
    values = _noise([reference for formula in formulas for reference in references(formula)], regions)
    held = [np.broadcast_to(judge(formula, values).holds, (DRAWS,)) for formula in formulas]
    return Chance(tuple(float(each.mean()) for each in held), float(np.all(held, axis=0).mean()) if held else 1.0)


def with_chance(suite: Suite) -> Suite:
    """The suite with the chance of every prediction beside its formula, for readers of the file; it is never read back."""
    shares = chance_of(suite).each
    stored = (replace(p, extra={**p.extra, "chance": round(c, 4)}) for p, c in zip(suite.predictions, shares, strict=True))
    return replace(suite, predictions=tuple(stored))


def above_chance(accuracy: float, chance_share: float) -> float:
    """(accuracy - chance) / (1 - chance): 0 for noise, 1 for a perfect model."""
    return (accuracy - chance_share) / (1 - chance_share) if chance_share < 1 else float("nan")


def _noise(asked: Sequence[RegionReference], regions: tuple[int, ...]) -> dict[RegionReference, Floats]:
    """Draws in the order of the text, so that they depend on the formulas alone."""
    generator = np.random.default_rng(SEED)
    whole = {reference.condition for reference in asked if reference.region is None}
    values: dict[RegionReference, Floats] = {}
    for reference in dict.fromkeys(asked):
        single = (reference.region,) if reference.region is not None else ()
        for region in regions if reference.condition in whole else single:
            key = RegionReference(region, reference.condition)
            if key not in values:
                values[key] = generator.standard_normal(DRAWS)
    for condition in sorted(whole):
        values[RegionReference(None, condition)] = np.sum([values[RegionReference(r, condition)] for r in regions], axis=0)
    return values
