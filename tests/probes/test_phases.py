"""A model beside surface rules: where they mislead, and which one it follows."""

import math

import numpy as np
import pytest
from concord.probes.phases import STRUCTURE, UNDECIDED, RuleAgreement, agree, phase, rule_metrics
from concord.probes.verdicts import ClauseScores, Verdicts
from scipy.stats import spearmanr


def verdicts(margins: list[float], covered: list[bool] | None = None, scored: bool = True) -> Verdicts:
    margin = np.array(margins)
    none = np.zeros(len(margin), bool)
    known = np.array(covered) if covered else ~none
    clauses = ClauseScores(margin, np.zeros_like(margin), margin, np.zeros(0)) if scored else None
    return Verdicts((margin > 0).astype(float), margin == 0, known, none, margin, clauses)


ROWS = np.arange(6)


def test_shares_are_counted_where_both_prefer_something():
    rule = verdicts([1, 1, -1, -1, -1, 0])
    model = verdicts([2, -1, -1, -2, 1, 3])
    found = agree(model, rule, ROWS)
    assert (found.n, found.contradicted) == (5, 3)
    assert (found.agrees, found.misled, found.helped) == (3 / 5, 2 / 3, 1 / 2)


def test_what_a_rule_does_not_cover_does_not_count():
    found = agree(verdicts([1] * 6), verdicts([1, -1] * 3, [True, False] * 3), ROWS)
    assert (found.n, found.contradicted, found.agrees) == (3, 0, 1.0)
    assert math.isnan(found.misled)


def test_the_rank_correlation_is_that_of_scipy_ties_included():
    draw = np.random.default_rng(3)
    one, other = draw.integers(1, 9, 60).astype(float), draw.integers(1, 9, 60).astype(float)
    found = agree(verdicts(one.tolist()), verdicts(other.tolist()), np.arange(60))
    assert found.rho == pytest.approx(spearmanr(one, other).statistic)
    assert math.isnan(agree(verdicts(one.tolist()), verdicts(other.tolist(), scored=False), np.arange(60)).rho)


def beside(misled: float, contradicted: int = 100) -> RuleAgreement:
    return RuleAgreement(200, 0.5, contradicted, misled, 0.5)


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({"bigram": beside(0.9), "recent noun": beside(0.7)}, "bigram"),
        ({"bigram": beside(0.2), "recent noun": beside(0.1)}, STRUCTURE),
        ({"bigram": beside(0.52), "recent noun": beside(0.1)}, UNDECIDED),
        ({"bigram": beside(math.nan, 0), "recent noun": beside(0.9)}, "recent noun"),
        ({"bigram": beside(math.nan, 0)}, UNDECIDED),
        # A rule that is hardly ever wrong says little, and hides no other.
        ({"bigram": beside(0.95, 200), "5-gram": beside(1.0, 3)}, "bigram"),
        ({"bigram": beside(0.95, 200), "5-gram": beside(1.0, 5)}, "5-gram"),
        ({"bigram": beside(0.05, 200), "5-gram": beside(0.5, 2)}, STRUCTURE),
        ({"bigram": beside(0.7, 200), "5-gram": beside(0.8, 5)}, "bigram"),
        ({"5-gram": beside(0.0, 3)}, UNDECIDED),
        ({}, UNDECIDED),
    ],
)
def test_the_phase_is_the_rule_that_misleads_most(rules, expected):
    assert phase(rules) == expected


def test_metrics_have_names_without_blanks_and_only_numbers():
    found = rule_metrics({"prep": {"recent noun": beside(0.9), "bigram": beside(math.nan, 0)}}, "probe/de/agreement")
    expected = {"agrees_recent_noun": 0.5, "misled_recent_noun": 0.9, "helped_recent_noun": 0.5, "contradicted_recent_noun": 100}
    expected |= {"agrees_bigram": 0.5, "helped_bigram": 0.5, "contradicted_bigram": 0}
    assert found == {f"probe/de/agreement/prep/{name}": value for name, value in expected.items()}
