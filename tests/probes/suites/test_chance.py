"""What noise scores, against values that can be counted by hand: shares of the orders of independent values."""

from pathlib import Path

import pytest
from concord.probes.suites.chance import Chance, above_chance, chance, chance_of, with_chance
from concord.probes.suites.formula_parser import parse
from concord.probes.suites.json_files import read_json

PUBLISHED = Path(__file__).resolve().parents[4] / "shared/reference/syntaxgym"


def shares(*formulas: str) -> Chance:
    return chance(tuple(map(parse, formulas)), (1, 2, 3))


def less(*pairs: str) -> str:
    return " & ".join(f"(1;%{a}%) < (1;%{b}%)" for a, b in (pair.split("<") for pair in pairs))


@pytest.mark.parametrize(
    ("formula", "share"),
    [
        (less("a<b"), 0.5),
        (less("a<b", "c<d"), 0.25),
        (less("a<c", "b<c", "a<d"), 5 / 24),  # NPI
        (less("a<b", "a<c", "a<d", "b<d", "c<d"), 2 / 24),  # four-way agreement
        (less("a<c", "a<d", "b<c", "b<d"), 4 / 24),
        (less("b<a", "c<a") + " & (1;%a%) - (1;%b%) > (1;%c%) - (1;%d%)", 0.292),  # garden path
        (less("a<b", "c<d") + " & (1;%b%) - (1;%a%) > (1;%d%) - (1;%c%)", 0.125),  # pseudo-cleft, three clauses
        ("[(1;%a%) + (2;%a%)] < [(1;%b%) + (2;%b%)]", 0.5),
        ("(*;%a%) < (*;%b%) & (*;%c%) < (*;%d%) & (*;%b%) - (*;%a%) < (*;%d%) - (*;%c%)", 0.125),
        ("(1;%a%) < (1;%a%)", 0.0),
        ("(1;%a%) = (1;%a%) | (1;%a%) < (1;%b%)", 1.0),
    ],
)
def test_known_shares(formula, share):
    assert shares(formula).each[0] == pytest.approx(share, abs=0.005)


def test_predictions_share_their_noise():
    found = shares(less("a<b"), less("b<a"), less("a<b"))
    assert found.all == 0.0
    assert found.under("first") == (found.each[0],)
    assert found.under("all") == (0.0,)
    assert found.under("each") == found.each
    assert found.each[0] + found.each[1] == 1.0
    assert shares(less("a<b"), less("c<d")).all == pytest.approx(0.25, abs=0.005)


def test_the_whole_is_the_sum_of_its_regions():
    # (1) + (2) + (3) = (*): what is left is nothing.
    assert shares("(*;%a%) - (1;%a%) - (2;%a%) = (3;%a%)").each == (1.0,)


def test_the_same_formula_has_the_same_share_every_time():
    first = shares(less("a<c", "b<c", "a<d"))
    chance.cache_clear()
    assert shares(less("a<c", "b<c", "a<d")) == first


def test_above_chance():
    assert above_chance(0.25, 0.25) == 0
    assert above_chance(1, 0.083) == 1
    assert above_chance(0, 0.5) == -1


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published suites are not here")
@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("center_embed", 0.5),
        ("cleft", 0.5),
        ("fgd_hierarchy", 0.25),
        ("mvrr", 0.29),
        ("npz_obj", 0.29),
        ("number_prep", 0.25),
        ("subordination_pp-pp", 0.25),
    ],
)
def test_shares_of_published_suites(name, share):
    suite = read_json(PUBLISHED / f"{name}.json.xz")
    assert chance_of(suite).under("first")[0] == pytest.approx(share, abs=0.005)
    assert with_chance(suite).predictions[0].extra["chance"] == pytest.approx(share, abs=0.005)
