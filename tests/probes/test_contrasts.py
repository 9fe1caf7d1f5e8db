"""General contrasts: what any formula over spans comes to, its chance, and how one's own files declare it."""

import json
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from concord.errors import UserError
from concord.probes.accuracy import metrics, tabulate
from concord.probes.challenge_set import ChallengeSet, SetError, Span, Variant
from concord.probes.collection import CollectedSet, ItemSelection, collect
from concord.probes.contract import apply_rules, make_contract
from concord.probes.contract_statement import contract_statement
from concord.probes.contrast import METRICS, Clause, Contrast, SpanTerm, best_of_all, pair_contrast
from concord.probes.contrast_notation import contrast_from_plain, plain_contrast
from concord.probes.exports import export
from concord.probes.groupings import NUMBER, Grouping, read_groupings
from concord.probes.pairs import raw_pair
from concord.probes.probe import Probe, build_probe
from concord.probes.probe_display import results_view
from concord.probes.readers import reader
from concord.probes.result_files import read_summary, save_summary
from concord.probes.scorers import Reading, WordScores
from concord.probes.verdict_files import read_verdicts, save_items, save_verdicts
from concord.probes.verdicts import judge
from concord.terminal import console
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

ROLES = ("a", "b", "c")
SPANS = {"one": (0, 1), "two": (1, 3), "none": (2, 2), "last": (3, 4)}


def probe_of(*sets: ChallengeSet, protocol: str = "default", groupings: tuple[Grouping, ...] = (NUMBER,), **rules: Any) -> Probe:
    agreed = make_contract(protocol, rules)
    collected = [CollectedSet(apply_rules(made, agreed.rules_for(made))[0], "own", len(made), 0, "", agreed) for made in sets]
    return build_probe("own", "en", collected, groupings)


def scores_of(probe: Probe, value: Any, unknown: tuple[str, ...] = ()) -> WordScores:
    words = [word for sentence in probe.sentences for word in sentence.words.split()]
    firsts = np.concatenate([[0], np.cumsum([len(sentence.words.split()) for sentence in probe.sentences])])
    return WordScores(firsts, np.array([value(word) for word in words], np.float32), np.array([w in unknown for w in words]))


# ------------------------------------------------------------------ against a naive evaluator

terms = st.builds(SpanTerm, st.sampled_from(ROLES), st.sampled_from(["", *SPANS]), st.sampled_from([1.0, -1.0, 0.5, 2.0]))
clauses = st.builds(
    Clause,
    st.lists(terms, min_size=1, max_size=3).map(tuple),
    st.lists(terms, max_size=3).map(tuple),
    st.sampled_from([">", "="]),
    st.tuples(st.sampled_from([0.0, 0.5]), st.sampled_from([0.0, -1.5])),
)
pairs = st.tuples(st.permutations(ROLES), st.sampled_from(["", *SPANS])).map(
    lambda drawn: Clause((SpanTerm(drawn[0][0], drawn[1]),), (SpanTerm(drawn[0][1], drawn[1]),))
)
groups = st.lists(st.lists(st.one_of(pairs, clauses), min_size=1, max_size=3).map(tuple), min_size=1, max_size=3).map(tuple)
contrasts = st.builds(
    Contrast,
    st.just("x"),
    groups,
    st.just(0.5),
    st.sampled_from(METRICS),
    st.sampled_from([1.0, -1 / math.log(2)]),
    st.sampled_from(["differing", "named"]),
)


def naive(contrast: Contrast, values: dict[str, list[float]], ties: float) -> tuple[float, float]:
    """The verdict and the margin, as one would compute them by hand."""

    def span(term: SpanTerm) -> float:
        start, end = SPANS[term.span] if term.span else (0, 4)
        words = [value * contrast.scale for value in values[term.role][start:end]]
        if contrast.metric == "sum":
            total = 0.0
            for word in words:
                total += word
            return total
        if not words:
            return math.nan
        middle = sorted(words)[(len(words) - 1) // 2], sorted(words)[len(words) // 2]
        known = {"mean": sum(words) / len(words), "median": sum(middle) / 2, "min": min(words), "max": max(words)}
        return (known | {"range": max(words) - min(words)})[contrast.metric]

    best, outcome = -math.inf, 0
    for group in contrast.groups:
        margins, holds, could = [], True, True
        for clause in group:
            left, right = 0.0, 0.0
            for term in clause.left:
                left += term.weight * span(term)
            for term in clause.right:
                right += term.weight * span(term)
            left, right = left + clause.constants[0], right + clause.constants[1]
            margin = 1e-3 + 1e-5 * abs(right) - abs(left - right) if clause.relation == "=" else left - right
            margins.append(margin)
            holds &= margin >= 0 if clause.relation == "=" else margin > 0
            could &= margin >= 0
        best = max(best, min(margins))
        outcome = max(outcome, 2 if holds else 1 if could else 0)
    return {2: 1.0, 1: ties, 0: 0.0}[outcome], best


@given(st.lists(contrasts, min_size=1, max_size=4), st.integers(0, 2**32), st.sampled_from(["half", "correct", "wrong"]))
def test_random_contrasts_are_judged_as_by_hand(stated: list[Contrast], seed: int, ties: str) -> None:
    rng = random.Random(seed)
    # Few different values, so that there are ties; float32 holds them exactly.
    values = {role: [rng.choice([-0.5, -1.0, -1.25, -3.0]) for _ in range(4)] for role in ROLES}
    spans = tuple(Span(name, *place) for name, place in SPANS.items())
    made = ChallengeSet("x", "en", "test", "test", tuple(replace(each, name=str(i)) for i, each in enumerate(stated)))
    made.add(1, {}, [Variant(role, None, tuple(f"{role}{i}" for i in range(4)), None, spans) for role in ROLES])
    made.fixed_rules = {"final": False}
    probe = probe_of(made, ties=ties)
    verdicts = judge(probe, scores_of(probe, lambda word: values[word[0]][int(word[1])]))
    worth = {"half": 0.5, "correct": 1.0, "wrong": 0.0}[ties]
    for row, contrast in enumerate(stated):
        empty = contrast.metric != "sum" and any(term.span == "none" for term in contrast.terms())
        if not empty:
            verdict, margin = naive(contrast, values, worth)
            assert verdicts.verdict[row] == verdict
            assert verdicts.margin[row] == pytest.approx(margin)


def test_a_span_that_a_contrast_names_must_be_there() -> None:
    made = ChallengeSet("x", "en", "test", "x.jsonl", (Contrast("n", ((Clause((SpanTerm("a", "verb"),), ()),),)),))
    made.add(7, {}, [Variant("a", None, ("b",), None, (Span("noun", 0, 1),))])
    with pytest.raises(SetError, match=r"x.jsonl:7: a has no span 'verb', which a contrast names; it has: noun"):
        probe_of(made)


# ----------------------------------------------------------------------------------- chance


def chance_of(*stated: Contrast, protocol: str = "default") -> list[float]:
    made = ChallengeSet("x", "en", "test", "test", stated)
    roles = list(dict.fromkeys(role for each in stated for role in each.roles()))
    made.add(1, {}, [Variant(role, None, ("the", role), None, (Span("s", 1, 2),)) for role in roles])
    probe = probe_of(made, protocol=protocol)
    return [float(value) for value in (probe.contrasts.item_chance if protocol == "clams" else probe.contrasts.chance)]


def conjunction(*pairs: str) -> Contrast:
    return Contrast("x", (tuple(Clause((SpanTerm(p[0], "s"),), (SpanTerm(p[2], "s"),)) for p in pairs),))


def test_chance_is_what_independent_noise_gives() -> None:
    assert chance_of(pair_contrast("", "a", "b")) == [0.5]
    assert chance_of(best_of_all("", "a", ("b", "c", "d", "e"))) == [0.2]
    # Also where what differs is elsewhere each time: (a b, x b, a y, x y).
    made = ChallengeSet("x", "en", "test", "test", together=True)
    forms = [("good", True, "a b"), ("bad", False, "x b"), ("bad2", False, "a y"), ("bad3", False, "x y z")]
    made.add(1, {}, [Variant(role, flag, tuple(text.split()), None, ()) for role, flag, text in forms])
    assert [probe_of(made, contrast=rule).contrasts.chance.tolist() for rule in ("sentence", "target")] == [[0.25], [0.25]]
    assert chance_of(conjunction("a>b", "c>d")) == [0.25]
    assert chance_of(conjunction("a>b", "b>c", "a>c")) == [pytest.approx(1 / 6)]
    # Four-way agreement: one beats all, two of the others beat the last.
    assert chance_of(conjunction("a>b", "a>c", "a>d", "b>d", "c>d")) == [pytest.approx(1 / 12)]
    either = Contrast("x", ((Clause((SpanTerm("a"),), (SpanTerm("b"),)),), (Clause((SpanTerm("b"),), (SpanTerm("a"),)),)))
    assert chance_of(either) == [1.0]
    assert chance_of(replace(conjunction("a>b"), chance=0.1)) == [0.1]
    sums = Contrast("x", ((Clause((SpanTerm("a"), SpanTerm("b", weight=-1.0)), (SpanTerm("c"),)),),))
    assert chance_of(sums) == [pytest.approx(0.5, abs=0.005)]
    # The published protocol asks for all contrasts of an item at once.
    assert chance_of(pair_contrast("1", "a", "b"), pair_contrast("2", "a", "c"), protocol="clams") == [pytest.approx(1 / 3)] * 2


def test_noise_reaches_chance_in_every_table() -> None:
    made = ChallengeSet("x", "en", "test", "test", together=True)
    for number in range(3000):
        forms = [("good", True), ("bad", False), ("bad2", False), ("bad3", False)]
        variants = [Variant(role, flag, (f"w{number}", f"{role}{number}"), None, ()) for role, flag in forms]
        made.add(number, {}, variants)
    probe = probe_of(made)
    rng = np.random.default_rng(0)
    noise = {word: rng.normal() for sentence in probe.sentences for word in sentence.words.split()}
    table = tabulate(probe, judge(probe, scores_of(probe, noise.__getitem__)))
    (row,) = table.rows
    assert (row.all.n, row.all.chance) == (3000, 0.25)
    assert row.all.accuracy == pytest.approx(0.25, abs=0.03)
    assert metrics(table, "en", "own")["probe/en/own/x/chance"] == 0.25


# --------------------------------------------------------------------------- coverage


def test_every_word_that_differs_must_win_where_the_rule_says_so() -> None:
    made = ChallengeSet("x", "en", "test", "test")
    variants = [Variant("good", True, ("a", "b", "c", "d"), None, ()), Variant("bad", False, ("a", "x", "c", "z"), None, ())]
    made.add(1, {}, variants)
    worth = {"b": -1.0, "d": -1.0, "x": -4.0, "z": -0.5, "c": -1.0}
    found, stated = {}, {}
    for rule in ("target", "words"):
        probe = probe_of(made, contrast=rule)
        found[rule] = tabulate(probe, judge(probe, scores_of(probe, lambda word: worth.get(word, -1.0)))).rows[0].all
        stated[rule] = contract_statement(probe, Reading())
    assert (found["target"].accuracy, found["target"].chance) == (1.0, 0.5)
    assert (found["words"].accuracy, found["words"].chance) == (0.0, 0.25)
    assert "the words that differ decide" in stated["target"]
    assert "every word that differs must be preferred" in stated["words"]


@pytest.mark.parametrize("rule", ["target", "words"])
def test_raw_text_is_read_as_written_up_to_the_tested_words(rule: str) -> None:
    """Models with tokenizers of their own read `isn't`, not our two words `is n't`."""
    made = ChallengeSet("x", "en", "test", "test")
    made.add(1, {}, raw_pair("It isn't “Zoé’s”, what she likes!", "It isn't “Zoé’s”, what she like!", "en"))
    for sentence, last in zip(probe_of(made, contrast=rule).sentences, ("likes", "like"), strict=True):
        assert sentence.text == f"It isn't “Zoé’s”, what she {last}"
        assert sentence.words.startswith("It is n't")
        assert sentence.words.endswith(f"she {last}")


def test_an_unknown_word_in_a_named_span_is_uncovered_and_elsewhere_context() -> None:
    clause = Clause((SpanTerm("a", "verb"),), (SpanTerm("b", "verb"),))
    made = ChallengeSet("x", "en", "test", "test", (Contrast("p", ((clause,),), tested="named"),))
    for number in range(2):
        variants = [Variant(role, None, (f"n{number}", f"{role}{number}"), None, (Span("verb", 1, 2),)) for role in ("a", "b")]
        made.add(number, {}, variants)
    probe = probe_of(made)
    verdicts = judge(probe, scores_of(probe, lambda word: -1.0, unknown=("n0", "b1")))
    assert verdicts.covered.tolist() == [True, False]
    assert verdicts.unknown_context.tolist() == [True, False]


# ------------------------------------------------------------------------- one's own files

FOUR_BAD = "good\tbad\tbad2\tbad3\tbad4\na b\ta c\ta d\ta e\ta f\nb b\tb c\tb d\tb e\tb f\n"
THREE_CLAUSES = [
    {
        "challenge_set": {
            "construction": "triple",
            "language": "en",
            "dataset": "own",
            "contrasts": [
                {
                    "name": "all three",
                    "all": [
                        {"better": "w", "worse": "x", "span": "verb"},
                        {"better": "y", "worse": "z", "span": "verb"},
                        {"left": [["w", "verb"], ["x", "verb", -1]], "right": [["y", "verb"], ["z", "verb", -1]]},
                    ],
                }
            ],
            "groupings": {"mood": {"by": "mood"}, "all moods": {"by": "construction", "across": True}},
        }
    },
    *(
        {
            "features": {"mood": mood},
            "variants": [
                {"role": role, "grammatical": None, "sentence": f"{mood} {role}", "spans": [["verb", 1, 2]]} for role in "wxyz"
            ],
        }
        for mood in ("calm", "calm", "wild")
    ),
]


def own_probe(folder: Path, name: str, text: str, groupings: tuple[Grouping, ...] = (NUMBER,)) -> Probe:
    (folder / name).write_text(text, encoding="utf-8")
    agreed = make_contract("default", {"duplicates": "all"})
    sets = collect(folder / name, "en", None, folder / "cache", ItemSelection(contract=agreed))
    again = collect(folder / name, "en", None, folder / "cache", ItemSelection(contract=agreed))
    assert [each.challenge_set.declared for each in again] == [each.challenge_set.declared for each in sets]
    return build_probe("own", "en", sets, groupings)


@pytest.mark.parametrize("form", ["tsv", "jsonl"])
def test_four_bad_forms_that_must_all_be_beaten(tmp_path: Path, form: str) -> None:
    rows = [line.split("\t") for line in FOUR_BAD.splitlines()[1:]]
    lines = "".join(json.dumps({"good": row[0], "bad": row[1:]}) + "\n" for row in rows)
    probe = own_probe(tmp_path, f"four.{form}", FOUR_BAD if form == "tsv" else lines)
    assert len(probe.contrasts) == 2
    worth = {"b": -1.0, "c": -2.0, "d": -2.0, "e": -2.0, "f": -0.5}
    first = tabulate(probe, judge(probe, scores_of(probe, lambda word: worth.get(word, -1.0))))
    assert (first.rows[0].all.accuracy, first.rows[0].all.chance, first.mean.chance) == (0.0, 0.2, 0.2)
    worth["f"] = -3.0
    assert tabulate(probe, judge(probe, scores_of(probe, lambda word: worth.get(word, -1.0)))).rows[0].all.accuracy == 1.0
    (again,) = reader("own").read(export(probe.sets[0], "jsonl", tmp_path / "out"), "")
    assert again.declared == probe.sets[0].declared


def test_three_clauses_and_a_grouping_reach_tables_files_and_metrics(tmp_path: Path) -> None:
    probe = own_probe(tmp_path, "triple.jsonl", "".join(json.dumps(line) + "\n" for line in THREE_CLAUSES))
    worth = {"w": -1.0, "x": -1.5, "y": -1.0, "z": -3.0}
    scores = scores_of(probe, lambda word: worth.get(word, -1.0))
    verdicts = judge(probe, scores)
    table = tabulate(probe, verdicts)
    # w > x by ½, y > z by 2, and w - x is not above y - z.
    assert verdicts.clauses is not None
    assert verdicts.clauses.margin[:3].tolist() == [0.5, 2.0, -1.5]
    assert verdicts.margin.tolist() == [-1.5] * 3
    assert table.rows[0].all.chance == pytest.approx(1 / 8, abs=0.005)
    assert {name: part.n for name, part in table.rows[0].parts.items()} == {"mood=calm": 2, "mood=wild": 1}
    named = metrics(table, "en", "own")
    assert named["probe/en/own/triple/mood=calm"] == 0.0
    assert named["probe/en/own/construction.triple/n"] == 3
    assert named["probe/en/own/triple/chance"] == table.rows[0].all.chance
    about = {
        "language": "en",
        "set": "own",
        "contract": probe.contract.plain() | {"statement": contract_statement(probe, Reading())},
    }
    save_items(tmp_path / "items.parquet", probe, verdicts, scores, about)
    save_verdicts(tmp_path / "verdicts.parquet", probe, verdicts, about)
    rows = parquet.read_table(tmp_path / "items.parquet").to_pylist()
    assert rows[0]["clause_margins"] == [0.5, 2.0, -1.5]
    assert rows[0]["good_score"] is None
    assert rows[0]["compared"] == [["calm", "w", "."], ["calm", "x", "."], ["calm", "y", "."], ["calm", "z", "."]]
    saved = read_verdicts(tmp_path / "verdicts.parquet")
    assert (saved.margin.tolist(), saved.chance[0]) == ([-1.5] * 3, table.rows[0].all.chance)
    save_summary(tmp_path / "out", {"model": table}, about)
    assert read_summary(tmp_path / "out")[0]["model"] == table
    with console.capture() as screen:
        console.print(results_view("own", table))
    assert "mood=wild" in screen.get()
    assert "construction=triple" in screen.get()


def test_contrasts_come_back_as_they_were_written() -> None:
    stated = [
        pair_contrast("p", "good", "bad", "verb"),
        pair_contrast("q", "good", "bad", alternative=True),
        best_of_all("b", "good", ("bad", "bad2")),
        conjunction("a>b", "c>d"),
        Contrast("f", formula="(1;%a%) > (1;%b%)"),
        Contrast(
            "g", ((Clause((SpanTerm("a", "s", 2.0),), (), "=", (0.0, 1.0)),), (Clause((SpanTerm("a"),), (SpanTerm("b"),)),))
        ),
    ]
    for contrast in stated:
        assert contrast_from_plain(json.loads(json.dumps(plain_contrast(contrast))), "x", 1) == contrast


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("x", "a contrast must be an object with a name; this is"),
        ({"name": "x"}, "contrast 'x': give better and worse, or all, or any"),
        ({"name": "x", "better": "a", "all": []}, "give better and worse, or all, or any"),
        ({"name": "x", "better": "a", "worse": 3}, "worse a role or a list of roles"),
        ({"name": "x", "all": [{"better": "a"}]}, "a clause needs better and worse, or left, relation and right; this is"),
        ({"name": "x", "all": [{"left": [["a", 3]]}]}, r"a term must be \[role, span, weight\]; this is"),
        ({"name": "x", "all": [{"left": [["a"]], "relation": "<"}]}, "relation must be one of >, =; it is '<'"),
        ({"name": "x", "all": [{"left": []}]}, "a clause compares nothing"),
        ({"name": "x", "any": ["a"]}, "any must be a list of clauses"),
        ({"name": "x", "better": "a", "worse": "b", "chance": 2}, "chance must be a number from 0 to below 1; it is"),
        ({"name": "x", "better": "a", "worse": "b", "metric": "avg"}, "metric must be one of sum, mean"),
        ({"name": "x", "better": "a", "worse": "b", "chans": 2}, "unknown key 'chans'"),
    ],
)
def test_wrong_contrasts_are_told_with_their_place(item: Any, message: str) -> None:
    with pytest.raises(SetError, match=rf"file.jsonl:3: .*{message}"):
        contrast_from_plain(item, "file.jsonl", 3)


# ------------------------------------------------------------------------------- groupings


def features_set(construction: str, *features: dict[str, str]) -> ChallengeSet:
    made = ChallengeSet(construction, "en", "test", "test")
    for number, each in enumerate(features):
        flags = [("good", True, "b"), ("bad", False, "c")]
        variants = [Variant(role, flag, (f"{construction}{number}", word), None, ()) for role, flag, word in flags]
        made.add(number, each, variants)
    return made


def test_constructions_are_pooled_or_averaged_as_declared() -> None:
    sets = [
        features_set("prep_anim", {"circuit": "agreement"}),
        features_set("prep_inanim", {"circuit": "agreement"}, {"circuit": "agreement"}, {"circuit": "agreement"}),
        features_set("cleft", {}),
    ]
    declared = {
        "animacy": {"by": "construction", "across": True, "groups": {"prep": ["prep_anim", "prep_inanim"]}},
        "circuit": {"by": ["circuit"], "across": True, "combine": "mean"},
    }
    probe = probe_of(*sets, groupings=read_groupings(declared, "probes.groupings"))
    wrong = ("prep_inanim0", "prep_inanim1", "prep_inanim2")

    def value(word: str) -> float:
        return -1.0 if word != "c" else -2.0

    scores = scores_of(probe, value)
    verdicts = judge(probe, scores)
    flipped = np.array([probe.sentences[s].words.split()[0] in wrong for s in probe.contrasts.pairs.sentences[:, 0]])
    table = tabulate(probe, replace(verdicts, verdict=np.where(flipped, 0.0, 1.0)))
    pooled, mean = table.groups
    assert (pooled.key, pooled.accuracy, pooled.n, pooled.over) == ("animacy=prep", 0.25, 4, ["prep_anim", "prep_inanim"])
    assert (mean.key, mean.accuracy, mean.n, mean.combine) == ("circuit=agreement", 0.5, 4, "mean")
    named = metrics(table, "en", "own")
    assert (named["probe/en/own/animacy.prep/accuracy"], named["probe/en/own/circuit.agreement/accuracy"]) == (0.25, 0.5)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ([], r"probes.groupings: groupings must be given by name"),
        ({"m": {"by": []}}, r"probes.groupings.m.by: name one or more features to group by"),
        ({"m": {"by": "mood", "over": 1}}, r"probes.groupings.m.over: unknown key; available: by, groups"),
        ({"m": {"by": "mood", "groups": {"n": ["calm"]}}}, r"the group name 'n' is taken"),
        ({"m": {"by": ["a", "b"], "groups": {"x": [["1"]]}}}, r"\['1'\] has 1 values where `by` names 2 features"),
        ({"m": {"by": "mood", "across": "yes"}}, r"across=yes: must be true or false"),
        ({"m": {"by": "mood", "combine": "sum"}}, r"combine=sum: must be pool or mean"),
    ],
)
def test_wrong_groupings_are_told_with_their_place(declared: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_groupings(declared, "probes.groupings")


def test_sets_can_only_be_scored_under_the_contract_they_were_collected_under() -> None:
    made = features_set("x", {})
    agreed = make_contract("default", {"final": False})
    probe = build_probe("own", "en", [CollectedSet(apply_rules(made, agreed.rules)[0], "own", 1, 0, "", agreed)])
    assert probe.contract is agreed
    assert "closed as in the source" in contract_statement(probe, Reading())
    assert not any(sentence.words.endswith(".") for sentence in probe.sentences)
    with pytest.raises(ValueError, match="all sets must be scored under the contract they were collected under"):
        build_probe("own", "en", [CollectedSet(made, "own", 1, 0, "")])
