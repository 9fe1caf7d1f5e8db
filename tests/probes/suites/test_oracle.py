"""Formulas against a second evaluator that shares nothing with ours: it cuts strings and computes with plain floats."""

import itertools
import json
import lzma
import math
import random
from pathlib import Path

import pytest
from concord.probes import contrast_chance
from concord.probes.suites.chance import chance
from suite_judging import Asked, as_scored, judge_formulas

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


@pytest.fixture
def few_draws(monkeypatch):
    """Chance is not what is tested here, and takes the longest."""
    monkeypatch.setattr(contrast_chance, "DRAWS", 10)
    yield
    contrast_chance.chance_of_all.cache_clear()
    chance.cache_clear()


def compare(folder: Path, asked: list[Asked]) -> list[bool]:
    """The engine that judges results, through files and a model, against the second evaluator."""
    verdicts = judge_formulas(folder, asked)
    row, truths = 0, []
    for text, items in asked:
        for own in items:
            values = {(str(region), name): as_scored(bits) for (region, name), bits in own.items()}
            for name in {name for _, name in own}:
                values["*", name] = math.fsum(value for (_, other), value in values.items() if other == name)
            truth, margin = naive(text, values)
            assert verdicts.margin[row] == pytest.approx(margin, abs=1e-9), text
            if abs(margin) > 1e-9:  # the order of adding may make or break a tie
                assert (verdicts.verdict[row], verdicts.tie[row]) == (truth, False), text
            truths.append(bool(verdicts.verdict[row]))
            row += 1
    assert row == len(verdicts.verdict)
    return truths


@pytest.mark.parametrize("formulas", [300, pytest.param(2_000, marks=pytest.mark.slow)])
def test_random_formulas_agree(tmp_path, few_draws, formulas):
    draw = random.Random(19)
    places = [(region, f"{a}_{b}") for region in (1, 2, 3) for a in "abc" for b in "xy"]
    asked = [Asked(random_formula(draw), [{place: draw.randint(1, 64) / 8 for place in places}]) for _ in range(formulas)]
    truths = compare(tmp_path / "suites", asked)
    assert min(truths.count(True), truths.count(False)) > formulas / 4  # neither answer is rare


def random_formula(draw: random.Random) -> str:
    """One that speaks of a region: what is true of no item is refused when a suite is read."""
    while "%" not in (text := random_truth(draw, 2)):
        pass
    return text


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published suites are not here")
@pytest.mark.parametrize("file", sorted(PUBLISHED.glob("*.json.xz")) if PUBLISHED.is_dir() else [], ids=lambda file: file.name)
def test_published_formulas_agree_on_random_values(file, tmp_path, few_draws):
    document = json.loads(lzma.decompress(file.read_bytes()))
    draw = random.Random(file.name)
    regions = [int(number) for number in document["region_meta"]]
    conditions = [condition["condition_name"] for condition in document["items"][0]["conditions"]]
    asked = []
    for prediction in document["predictions"]:
        items = [{(r, c): draw.uniform(0.1, 30) for r in regions for c in conditions} for _ in range(200)]
        asked.append(Asked(prediction["formula"], items))
    compare(tmp_path / "suites", asked)


def test_the_second_evaluator_knows_what_it_does():
    values = {("1", "a"): 1.0, ("2", "a"): 4.0}
    assert naive("[(1;%a%) + 1] - (2;%a%) < 0 | 1 > 2", values) == (True, 2.0)
    assert naive("(1;%a%) - (2;%a%) - 1 > 0 - 4", values) == (False, 0.0)
    assert math.isclose(naive("(1;%a%) = 1", values)[1], 1e-3 + 1e-5)
