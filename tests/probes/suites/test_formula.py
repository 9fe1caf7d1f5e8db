"""Formulas are read as the grammar says; what is wrong is told with a caret."""

import pytest
from concord.probes.suites.formula import Comparison, Conjunction, RegionReference, Sum, Term, normal_form, references
from concord.probes.suites.formula_parser import FormulaError, parse
from suite_judging import Asked, judge_formulas

A, B, C = (RegionReference(1, name) for name in "abc")


def ref(reference: RegionReference) -> str:
    return str(reference)


@pytest.fixture
def judged(tmp_path):
    """Whether a formula holds and by how much, of regions with these values in bits."""

    def judged(text: str, **values: float) -> tuple[bool, float]:
        found = judge_formulas(tmp_path, [Asked(text, [{(1, name): value for name, value in values.items()}])])
        return bool(found.verdict[0]), float(found.margin[0])

    return judged


def test_a_pair_is_one_comparison_of_two_regions():
    assert parse("(1;%a%) < (1;%b%)") == Comparison(Sum((Term(1.0, A),)), "<", Sum((Term(1.0, B),)))


def test_round_and_square_brackets_mean_the_same():
    assert parse("[(1;%a%) - [(1;%b%) - 2]] > 0") == parse("((1;%a%)-((1;%b%)-2))>0")
    assert parse("[(1;%a%) - [(1;%b%) - 2]] > 0").left == Sum((Term(1.0, A), Term(-1.0, B)), 2.0)


def test_blanks_in_a_reference_and_odd_names_are_read():
    assert references(parse("( 12 ; %no-obj (x) & y% ) < (*;%b%)")) == [
        RegionReference(12, "no-obj (x) & y"),
        RegionReference(None, "b"),
    ]


def test_and_joins_any_number_of_comparisons():
    formula = parse("(1;%a%) < (1;%b%) & (1;%b%) < (1;%c%) & (1;%a%) = 0.5")
    assert isinstance(formula, Conjunction)
    assert [part.relation for part in formula.parts] == ["<", "<", "="]


@pytest.mark.parametrize(
    ("text", "message", "caret"),
    [
        ("(1;%a%) < (1;%b%) < (1;%c%)", "a second comparison; write a < b & b < c", 18),
        ("(1;%a%) < 1 & (1;%b%) < 1 | (1;%c%) < 1", "& and | are mixed; put brackets", 26),
        ("(1;%a%) + (1;%b%)", "a number where a truth value is expected", 0),
        ("(1;%a%) & (1;%b%) < 1", "& joins comparisons, but this is a number", 0),
        ("(1;%b%) < 1 | 3", "| joins comparisons, but this is a number", 14),
        ("[(1;%a%) < 1] + 2 < 3", "+ takes numbers, but this is a truth value", 0),
        ("1 - [(1;%a%) < 1] < 3", "- takes numbers, but this is a truth value", 4),
        ("2 < [(1;%a%) < 1]", "< takes numbers, but this is a truth value", 4),
        ("(1;%a%) <", "expected a number, a region (6;%condition%) or a bracket; the formula ends here", 9),
        ("-1 < 2", "expected a number, a region (6;%condition%) or a bracket; this is '-'", 0),
        ("", "the formula ends here", 0),
        ("[(1;%a%) < 1)", "expected ']', an operator or a comparison; this is ')'", 12),
        ("[(1;%a%) < 1", "expected ']', an operator or a comparison; the formula ends here", 12),
        ("(1;%a%) < 1 ]", "']' closes nothing or follows a complete formula", 12),
        ("(1;%a%) < 1 (1;%b%)", "follows a complete formula; expected the end or & or |", 12),
        ("(1;%a) < 1", "';' has no meaning here; a region is written (6;%condition%)", 2),
        ("verb < 1", "'v' has no meaning here", 0),
        ("(1;%a%) < 1e9", "'1' has no meaning here", 10),
        ("(" * 60 + "1" + ")" * 60 + "<2", "more than 50 nested brackets", 51),
        ("&".join(["[(1;%a%)<1|(1;%b%)<1]"] * 11), "more than 1,000 ways to be true", 0),
    ],
)
def test_faults_are_told_with_a_caret(text, message, caret):
    with pytest.raises(FormulaError) as error:
        parse(text)
    first, shown, below = str(error.value).split("\n")
    assert message in first
    assert below.index("^") - 4 == min(caret, 60)
    assert shown[4:] in text


def test_margins_are_signed_and_ties_are_false(judged, tmp_path):
    assert judged("(1;%a%) < (1;%b%)", a=1, b=3.5) == (True, pytest.approx(2.5))
    assert judged("(1;%a%) > (1;%b%)", a=1, b=3.5) == (False, pytest.approx(-2.5))
    items = [{(1, "a"): 2.0, (1, "b"): 2.0}, {(1, "a"): 1.0, (1, "b"): 2.0}]
    tie = judge_formulas(tmp_path / "tied", [Asked("(1;%a%) < (1;%b%)", items)])
    assert tie.verdict.tolist() == [0, 1]
    assert tie.tie.tolist() == [True, False]


def test_and_has_the_smallest_margin_and_or_the_largest(judged):
    assert judged("(1;%a%) < 5 & (1;%b%) < 5", a=1, b=7) == (False, pytest.approx(-2))
    assert judged("(1;%a%) < 5 | (1;%b%) < 5", a=1, b=7) == (True, pytest.approx(4))


def test_equality_has_a_tolerance_that_grows_with_the_right_side(judged):
    assert judged("(1;%a%) = (1;%b%)", a=1.0009, b=1)[0]
    assert not judged("(1;%a%) = (1;%b%)", a=1.0011, b=1)[0]
    assert judged("(1;%a%) = (1;%b%)", a=1000.01, b=1000)[0]
    assert judged("(1;%a%) = (1;%b%)", a=4, b=4) == (True, pytest.approx(1e-3 + 4e-5))


def test_a_comparison_of_constants_goes_with_those_of_regions(judged):
    assert judged("1 < 2 & (1;%a%) < 1", a=0.5) == (True, pytest.approx(0.5))
    assert judged("1 < 2 & (1;%a%) < 1", a=2) == (False, pytest.approx(-1))
    assert judged("2 < 1 | (1;%a%) < 1", a=2) == (False, pytest.approx(-1))


def test_the_normal_form_is_a_disjunction_of_conjunctions():
    formula = parse("[(1;%a%)<1 | (1;%b%)<1] & [(1;%c%)<1 | [(1;%a%)>2 & (1;%b%)>2]]")
    shown = [[(c.left.terms[0].reference.condition, c.relation) for c in way] for way in normal_form(formula)]
    assert shown == [
        [("a", "<"), ("c", "<")],
        [("a", "<"), ("a", ">"), ("b", ">")],
        [("b", "<"), ("c", "<")],
        [("b", "<"), ("a", ">"), ("b", ">")],
    ]


def test_a_reference_is_spelt_as_it_is_written():
    assert ref(RegionReference(None, "x y")) == "(*;%x y%)"
    assert references(parse(f"{ref(A)} < {ref(B)}")) == [A, B]
