"""Formulas against a second evaluator that shares nothing with ours: it cuts strings and computes with plain floats."""

import itertools
import json
import lzma
import math
import random
from pathlib import Path

import numpy as np
import pytest
from concord.probes.suites.formula import RegionReference, normal_form, references
from concord.probes.suites.formula_parser import parse
from concord.probes.suites.margins import judge, judge_comparison

PUBLISHED = Path(__file__).resolve().parents[4] / "shared/reference/syntaxgym"


def naive(text: str, values: dict[tuple[str, str], float]) -> tuple[bool, float] | float:
    """The truth and margin of a formula, or the value of a sum. Names must have no blank and no operator."""
    text = text.replace("[", "(").replace("]", ")").replace(" ", "")
    for sign, decide, choose in (("&", all, min), ("|", any, max)):
        parts = cut(text, sign)
        if len(parts) > 1:
            found = [naive(part, values) for part in parts]
            return decide(truth for truth, _ in found), choose(margin for _, margin in found)
    for sign in "<>=":
        parts = cut(text, sign)
        if len(parts) == 2:
            left, right = (naive(part, values) for part in parts)
            if sign == "=":
                room = 1e-3 + 1e-5 * abs(right) - abs(left - right)
                return room >= 0, room
            margin = right - left if sign == "<" else left - right
            return margin > 0, margin
    for place in reversed(range(len(text))):
        if text[place] in "+-" and depth(text, place) == 0:
            left, right = naive(text[:place], values), naive(text[place + 1 :], values)
            return left + right if text[place] == "+" else left - right
    if text.endswith("%)") and text[1] in "0123456789*" and text.count(";") == 1:
        region, name = text[1:-1].split(";")
        return values[region, name.strip("%")]
    return naive(text[1:-1], values) if text.startswith("(") else float(text)


def depth(text: str, place: int) -> int:
    """Brackets that are open at a place; between % and % nothing counts as one."""
    before = "".join(text[:place].split("%")[::2])
    return before.count("(") - before.count(")") + text[:place].count("%") % 2


def cut(text: str, sign: str) -> list[str]:
    if sign not in text:
        return [text]
    places = [-1, *(i for i, letter in enumerate(text) if letter == sign and depth(text, i) == 0), len(text)]
    return [text[a + 1 : b] for a, b in itertools.pairwise(places)]


def random_truth(draw: random.Random, levels: int) -> str:
    if levels == 0 or draw.random() < 0.4:
        return f"{random_sum(draw, 2)}{draw.choice(['<', '>', ' = ', ' < '])}{random_sum(draw, 2)}"
    sign = draw.choice(["&", " | "])
    return sign.join(bracketed(draw, random_truth(draw, levels - 1)) for _ in range(draw.randint(2, 3)))


def random_sum(draw: random.Random, levels: int) -> str:
    terms = [random_term(draw, levels) for _ in range(draw.randint(1, 3))]
    return "".join(term if i == 0 else draw.choice(["+", " - "]) + term for i, term in enumerate(terms))


def random_term(draw: random.Random, levels: int) -> str:
    kind = draw.random()
    if levels and kind < 0.3:
        return bracketed(draw, random_sum(draw, levels - 1))
    if kind < 0.4:
        return draw.choice(["0", "1", "2.5", "0.125"])
    return f"({draw.choice('123*')}{draw.choice(['', ' '])};%{draw.choice('abc')}_{draw.choice('xy')}%)"


def bracketed(draw: random.Random, text: str) -> str:
    return f"[{text}]" if draw.random() < 0.5 else f"( {text})"


def compare(text: str, values: dict[tuple[str, str], float]) -> None:
    ours = {RegionReference(None if region == "*" else int(region), name): np.float64(v) for (region, name), v in values.items()}
    tree = parse(text)
    judged = judge(tree, ours)
    truth, margin = naive(text, values)
    assert (bool(judged.holds), float(judged.margin)) == (truth, pytest.approx(margin, abs=1e-12)), text
    ways = [[judge_comparison(comparison, ours) for comparison in way] for way in normal_form(tree)]
    assert any(all(c.holds for c in way) for way in ways) == truth, text
    assert max(min(float(c.margin) for c in way) for way in ways) == float(judged.margin), text


def test_two_thousand_random_formulas_agree():
    draw = random.Random(19)
    seen = {True: 0, False: 0}
    for _ in range(2_000):
        text = random_truth(draw, 2)
        # Eighths are exact in binary, so that ties are ties for both, whatever the order of adding.
        values = {(r, f"{a}_{b}"): draw.randint(0, 64) / 8 for r in "123*" for a in "abc" for b in "xy"}
        compare(text, values)
        seen[bool(naive(text, values)[0])] += 1
    assert min(seen.values()) > 500  # neither answer is rare


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published suites are not here")
@pytest.mark.parametrize("file", sorted(PUBLISHED.glob("*.json.xz")) if PUBLISHED.is_dir() else [], ids=lambda file: file.name)
def test_published_formulas_agree_on_random_values(file):
    document = json.loads(lzma.decompress(file.read_bytes()))
    draw = random.Random(file.name)
    for prediction in document["predictions"]:
        asked = references(parse(prediction["formula"]))
        for _ in range(200):
            compare(prediction["formula"], {(str(r.region), r.condition): draw.uniform(0, 30) for r in asked})


def test_the_second_evaluator_knows_what_it_does():
    values = {("1", "a"): 1.0, ("2", "a"): 4.0}
    assert naive("[(1;%a%) + 1] - (2;%a%) < 0 | 1 > 2", values) == (True, 2.0)
    assert naive("(1;%a%) - (2;%a%) - 1 > 0 - 4", values) == (False, 0.0)
    assert math.isclose(naive("(1;%a%) = 1", values)[1], 1e-3 + 1e-5)
