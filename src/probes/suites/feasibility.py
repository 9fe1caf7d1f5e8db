"""Whether a formula can hold, and whether it can fail, for any surprisals at all: exact, by eliminating one value at a time.

Surprisals are non-negative; values that must be equal (the same words after the same words) are one value. Fourier–Motzkin
elimination in exact fractions: formulas have a handful of values and comparisons.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from .formula import Comparison, Conjunction, Formula, RegionReference, Sum

Key = object
# What is close enough to count as equal; the relative part depends on the values and is left out.
TOLERANCE = Fraction(1, 1000)
MOST_CONSTRAINTS = 5_000
MOST_WAYS = 1_000


class Constraint(NamedTuple):
    """The sum of weighted values and a constant is above 0 (strict) or not below it."""

    weights: Mapping[Key, Fraction]
    constant: Fraction
    strict: bool


Way = tuple[Constraint, ...]


def can_hold(formula: Formula, names: Mapping[RegionReference, Sequence[Key]]) -> bool:
    """False only if no surprisals make it true. `names` gives the values a region adds up; equal names are equal values."""
    return any(_possible(way) for way in _ways(formula, names, True))


def can_fail(formula: Formula, names: Mapping[RegionReference, Sequence[Key]]) -> bool:
    return any(_possible(way) for way in _ways(formula, names, False))


def _ways(formula: Formula, names: Mapping[RegionReference, Sequence[Key]], truth: bool) -> list[Way]:
    """The conjunctions of constraints that give the formula this truth value."""
    if isinstance(formula, Comparison):
        return list(_constraints(formula, names, truth))
    parts = [_ways(part, names, truth) for part in formula.parts]
    if isinstance(formula, Conjunction) != truth:
        return [way for part in parts for way in part]
    ways: list[Way] = [()]
    for part in parts:
        ways = [(*one, *more) for one in ways for more in part]
        if len(ways) > MOST_WAYS:
            return [()]  # too many to check: nothing is claimed
    return ways


def _constraints(comparison: Comparison, names: Mapping[RegionReference, Sequence[Key]], truth: bool) -> Iterator[Way]:
    over = _difference(comparison.left, comparison.right, names)
    under = Constraint({key: -weight for key, weight in over.weights.items()}, -over.constant, True)
    if comparison.relation == "=":
        within = [side._replace(constant=side.constant + TOLERANCE, strict=False) for side in (over, under)]
        beyond = [side._replace(constant=side.constant - TOLERANCE) for side in (over, under)]
        yield from [tuple(within)] if truth else [(beyond[0],), (beyond[1],)]
    else:
        good, bad = (under, over) if comparison.relation == "<" else (over, under)
        yield (good,) if truth else (bad._replace(strict=False),)


def _difference(left: Sum, right: Sum, names: Mapping[RegionReference, Sequence[Key]]) -> Constraint:
    weights: dict[Key, Fraction] = {}
    for side, sign in ((left, 1), (right, -1)):
        for weight, reference in side.terms:
            for key in names[reference]:
                weights[key] = weights.get(key, Fraction(0)) + sign * Fraction(weight)
    constant = Fraction(left.constant) - Fraction(right.constant)
    return Constraint({key: weight for key, weight in weights.items() if weight}, constant, True)


def _possible(way: Way) -> bool:
    """Whether some values satisfy all constraints."""
    keys = list(dict.fromkeys(key for constraint in way for key in constraint.weights))
    constraints = [*way, *(Constraint({key: Fraction(1)}, Fraction(0), False) for key in keys)]
    for key in keys:
        constraints = _without(key, constraints)
        if len(constraints) > MOST_CONSTRAINTS:
            return True  # too many to check: nothing is claimed
    return all(constraint.constant > 0 or (constraint.constant == 0 and not constraint.strict) for constraint in constraints)


def _without(key: Key, constraints: Sequence[Constraint]) -> list[Constraint]:
    """Every lower bound of a value is below every upper bound."""
    below = [c for c in constraints if c.weights.get(key, 0) > 0]
    above = [c for c in constraints if c.weights.get(key, 0) < 0]
    kept = {_frozen(c): c for c in constraints if key not in c.weights}
    for low in below:
        for high in above:
            made = _joined(low, high, key)
            kept.setdefault(_frozen(made), made)
    return list(kept.values())


def _joined(low: Constraint, high: Constraint, key: Key) -> Constraint:
    a, b = -high.weights[key], low.weights[key]
    weights = {
        k: a * low.weights.get(k, Fraction(0)) + b * high.weights.get(k, Fraction(0)) for k in (*low.weights, *high.weights)
    }
    kept = {k: weight for k, weight in weights.items() if weight}
    return Constraint(kept, a * low.constant + b * high.constant, low.strict or high.strict)


def _frozen(constraint: Constraint) -> tuple[frozenset[tuple[Key, Fraction]], Fraction, bool]:
    """Equal for constraints that differ only by a positive factor."""
    scale = max((abs(weight) for weight in constraint.weights.values()), default=Fraction(1))
    weights = frozenset((key, weight / scale) for key, weight in constraint.weights.items())
    return weights, constraint.constant / scale, constraint.strict
