"""Formulas judged on surprisals: which hold, and by how much. Values may be arrays; all is done element by element."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .formula import Comparison, Conjunction, Formula, RegionReference, Sum

Floats = NDArray[np.float64]
Values = Mapping[RegionReference, Floats]
# What counts as equal: |a - b| <= ABSOLUTE + RELATIVE * |b|.
ABSOLUTE, RELATIVE = 1e-3, 1e-5


class Judgement(NamedTuple):
    """`margin` is that of the comparison which decides; a strict comparison of equal values is false and a tie."""

    holds: NDArray[np.bool_]
    margin: Floats

    @property
    def tie(self) -> NDArray[np.bool_]:
        return (self.margin == 0) & ~self.holds


def judge(formula: Formula, values: Values) -> Judgement:
    """The margin of & is the smallest of its parts, that of | the largest."""
    if isinstance(formula, Comparison):
        return judge_comparison(formula, values)
    parts = [judge(part, values) for part in formula.parts]
    margins = np.stack(np.broadcast_arrays(*(part.margin for part in parts)))
    holds = np.stack(np.broadcast_arrays(*(part.holds for part in parts)))
    if isinstance(formula, Conjunction):
        return Judgement(np.logical_and.reduce(holds), margins.min(axis=0))
    return Judgement(np.logical_or.reduce(holds), margins.max(axis=0))


def judge_comparison(comparison: Comparison, values: Values) -> Judgement:
    """`<` and `>` hold by a margin above 0; `=` holds by what is left of its tolerance, 0 included."""
    left, right = total(comparison.left, values), total(comparison.right, values)
    if comparison.relation == "=":
        margin = ABSOLUTE + RELATIVE * np.abs(right) - np.abs(left - right)
        return Judgement(np.asarray(margin >= 0), np.asarray(margin))
    margin = right - left if comparison.relation == "<" else left - right
    return Judgement(np.asarray(margin > 0), np.asarray(margin))


def total(side: Sum, values: Values) -> Floats:
    """A side of a comparison, added from left to right in 64 bits, so that equal terms give equal sums."""
    result = np.zeros((), dtype=np.float64)
    for weight, reference in side.terms:
        result = result + weight * np.asarray(values[reference], dtype=np.float64)
    return result + side.constant
