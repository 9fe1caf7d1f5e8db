"""Formulas that can never or always hold, against linear programming."""

import random

import numpy as np
import pytest
from concord.probes.suites.feasibility import can_fail, can_hold
from concord.probes.suites.formula import Formula, RegionReference, normal_form, references
from concord.probes.suites.formula_parser import parse
from scipy.optimize import linprog


def names(formula: Formula, same: dict[str, str] | None = None) -> dict[RegionReference, list[object]]:
    return {reference: [(same or {}).get(reference.condition, reference.condition)] for reference in references(formula)}


@pytest.mark.parametrize(
    ("text", "holds", "fails"),
    [
        ("(1;%a%) < (1;%b%)", True, True),
        ("(1;%a%) < (1;%a%)", False, True),
        ("(1;%a%) < 0", False, True),  # surprisals are not negative
        ("(1;%a%) + 1 > 0", True, False),
        ("(1;%a%) > 0", True, True),
        ("(1;%a%) < (1;%b%) & (1;%b%) < (1;%c%) & (1;%c%) < (1;%a%)", False, True),
        ("(1;%a%) < (1;%b%) | (1;%b%) < (1;%a%)", True, True),
        ("(1;%a%) < (1;%b%) | (1;%b%) < (1;%a%) | (1;%a%) = (1;%b%)", True, False),
        ("(1;%a%) = (1;%b%) & (1;%a%) > (1;%b%) + 1", False, True),
        ("(1;%a%) = (1;%a%)", True, False),
        ("1 < 2", True, False),
    ],
)
def test_what_can_be(text, holds, fails):
    formula = parse(text)
    assert (can_hold(formula, names(formula)), can_fail(formula, names(formula))) == (holds, fails)


def test_values_that_are_equal_decide_a_formula():
    formula = parse("(1;%a%) > (1;%b%) & (1;%a%) - (1;%b%) > (1;%c%) - (1;%d%)")
    assert can_hold(formula, names(formula))
    assert not can_hold(formula, names(formula, {"a": "c", "b": "d"}))


def random_formula(draw: random.Random) -> str:
    clauses = []
    for _ in range(draw.randint(1, 5)):
        left, right = (" + ".join(f"(1;%{draw.choice('abcd')}%)" for _ in range(draw.randint(1, 2))) for _ in range(2))
        clauses.append(f"{left} {draw.choice('<>')} {right} {draw.choice(['', '+ 1', '- 1'])}")
    return f"[{' & '.join(clauses)}] | [{' & '.join(reversed(clauses))} & (1;%a%) < (1;%b%)]"


def possible(formula: Formula) -> bool:
    """By the simplex method: the largest amount by which all comparisons of a way can hold at once is above 0."""
    for way in normal_form(formula):
        rows, bounds = [], []
        for comparison in way:
            sign = 1 if comparison.relation == "<" else -1
            row = dict.fromkeys("abcd", 0.0)
            for side, factor in ((comparison.left, sign), (comparison.right, -sign)):
                for weight, reference in side.terms:
                    row[reference.condition] += factor * weight
            rows.append([*row.values(), 1.0])
            bounds.append(sign * (comparison.right.constant - comparison.left.constant))
        best = linprog([0, 0, 0, 0, -1], A_ub=np.array(rows), b_ub=bounds, bounds=[(0, None)] * 4 + [(None, 1)])
        if best.status == 0 and best.x[-1] > 1e-9:
            return True
    return False


def test_linear_programming_agrees():
    draw = random.Random(5)
    seen = {True: 0, False: 0}
    for _ in range(300):
        formula = parse(random_formula(draw))
        expected = possible(formula)
        assert can_hold(formula, {RegionReference(1, name): [name] for name in "abcd"}) == expected
        seen[expected] += 1
    assert min(seen.values()) > 20
