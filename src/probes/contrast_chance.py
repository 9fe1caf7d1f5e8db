"""Chance: how often an indifferent model would satisfy a contrast, with independent noise as every span's score.

If spans are compared one to one, only their order matters: all orders are counted, and the answer is exact (½ for a pair,
1 / (k + 1) if one must beat k others at once). Sums, constants and equality are estimated by normal noise with a fixed seed.
"""

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

PAIR_CHANCE = 0.5
DRAWS, SEED = 200_000, 2020
MOST_ORDERED = 7  # spans whose orders are enumerated: 5,040 of them
ABSOLUTE, RELATIVE = 1e-3, 1e-5  # what counts as equal: |a - b| <= ABSOLUTE + RELATIVE * |b|

# A comparison between numbered spans: weighted spans on either side, whether they must be equal, and constants.
Side = tuple[tuple[int, float], ...]
NumberedClause = tuple[Side, Side, bool, tuple[float, float]]
Groups = tuple[tuple[NumberedClause, ...], ...]


@lru_cache(maxsize=4096)
def chance_of_all(contrasts: tuple[Groups, ...]) -> float:
    """The chance that all of these hold at once. Each is a disjunction of conjunctions; equal numbers are the same span."""
    clauses = [clause for groups in contrasts for group in groups for clause in group]
    if all(map(_compares_two, clauses)):
        if all(len(groups) == 1 for groups in contrasts):
            return math.prod(map(_chance_of_order, _components(clauses)))
        if len(_spans(clauses)) <= MOST_ORDERED:
            return _share_of_orders(contrasts, _spans(clauses))
    return _share_of_noise(contrasts)


def _compares_two(clause: NumberedClause) -> bool:
    left, right, equal, constants = clause
    plain = not equal and constants == (0.0, 0.0) and len(left) == len(right) == 1
    return plain and left[0][1] == right[0][1] == 1.0 and left[0][0] != right[0][0]


def _spans(clauses: Sequence[NumberedClause]) -> list[int]:
    return sorted({span for left, right, _, _ in clauses for span, _ in (*left, *right)})


def _components(clauses: Sequence[NumberedClause]) -> list[list[NumberedClause]]:
    """Clauses that share spans, directly or indirectly, depend on each other."""
    parts: list[tuple[set[int], list[NumberedClause]]] = []
    for clause in clauses:
        spans, own = set(_spans([clause])), [clause]
        for other in [part for part in parts if part[0] & spans]:
            parts.remove(other)
            spans, own = spans | other[0], other[1] + own
        parts.append((spans, own))
    return [own for _, own in parts]


def _chance_of_order(clauses: Sequence[NumberedClause]) -> float:
    """The chance of a conjunction."""
    firsts = {left[0][0] for left, _, _, _ in clauses}
    others = {right[0][0] for _, right, _, _ in clauses}
    if len(firsts) == 1 and not firsts & others:
        return 1 / (len(others) + 1)
    spans = _spans(clauses)
    if len(spans) <= MOST_ORDERED:
        return _share_of_orders(((tuple(clauses),),), spans)
    return _share_of_noise(((tuple(clauses),),))


def _share_of_orders(contrasts: tuple[Groups, ...], spans: Sequence[int]) -> float:
    held = 0
    for order in itertools.permutations(range(len(spans))):
        rank = dict(zip(spans, order, strict=True))
        held += all(
            any(all(rank[left[0][0]] > rank[right[0][0]] for left, right, _, _ in group) for group in groups)
            for groups in contrasts
        )
    return held / math.factorial(len(spans))


def _share_of_noise(contrasts: tuple[Groups, ...]) -> float:
    generator = np.random.default_rng(SEED)
    spans = _spans([clause for groups in contrasts for group in groups for clause in group])
    values = {span: generator.standard_normal(DRAWS) for span in spans}
    held = np.ones(DRAWS, bool)
    for groups in contrasts:
        either = np.zeros(DRAWS, bool)
        for group in groups:
            either |= np.logical_and.reduce([np.ones(DRAWS, bool), *(_holds(clause, values) for clause in group)])
        held &= either
    return float(held.mean())


def _holds(clause: NumberedClause, values: dict[int, NDArray[np.float64]]) -> NDArray[np.bool_]:
    sides = [
        sum((weight * values[span] for span, weight in side), np.zeros(DRAWS)) + constant
        for side, constant in zip(clause[:2], clause[3], strict=True)
    ]
    if clause[2]:
        return np.asarray(np.abs(sides[0] - sides[1]) <= ABSOLUTE + RELATIVE * np.abs(sides[1]))
    return np.asarray(sides[0] > sides[1])
