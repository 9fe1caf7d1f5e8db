"""Probes, verdicts and accuracy: what a number means."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from concord.data.grammar import languages
from concord.errors import UserError
from concord.places import cache_folder
from concord.probes.accuracy import metrics, tabulate, wilson
from concord.probes.callback import ProbeSchedule, Progress
from concord.probes.challenge_set import ChallengeSet, Span, Variant
from concord.probes.collection import CollectedSet, ItemSelection, collect, locate, stratified_sample
from concord.probes.contract import apply_rules, make_contract
from concord.probes.contrast import Contrast, pair_contrast
from concord.probes.heuristics import HEURISTICS, judge_by_rule
from concord.probes.probe import Probe, build_probe
from concord.probes.probe_display import coverage_view
from concord.probes.probe_series import sample_probe
from concord.probes.scorers import WordScores
from concord.probes.verdicts import judge


def scored(asked: Probe, worth: dict[str, float], unknown: Sequence[str] = ()) -> WordScores:
    """A model that gives every word a fixed log-probability, whatever stands before it."""
    words = [word for sentence in asked.sentences for word in sentence.words.split()]
    firsts = np.concatenate([[0], np.cumsum([len(sentence.words.split()) for sentence in asked.sentences])])
    values = np.array([worth.get(word, -1.0) for word in words], np.float32)
    return WordScores(firsts, values, np.array([word in unknown for word in words]))


def pairs(*sentences: tuple[str, str], construction: str = "prep", features: Sequence[dict[str, str]] = ()) -> CollectedSet:
    made = ChallengeSet(construction, "de", "test", "test")
    for line, (good, bad) in enumerate(sentences):
        variants = [Variant("good", True, tuple(good.split()), None, ()), Variant("bad", False, tuple(bad.split()), None, ())]
        made.add(line + 1, features[line] if features else {}, variants)
    return CollectedSet(made, "own", len(made), 0, "")


def asked(*collected: CollectedSet, protocol: str = "default", **rules: object) -> Probe:
    agreed = make_contract(protocol, rules)
    ruled = [replace(each, challenge_set=apply_rules(each.challenge_set, agreed.rules)[0], contract=agreed) for each in collected]
    return build_probe("own", "de", ruled)


@pytest.mark.parametrize("language", languages())
def test_a_constant_model_is_undecided_on_every_item_since_their_sentences_are_of_one_length(language: str) -> None:
    selection = ItemSelection(limit=300, contract=make_contract("default", {}))
    sets = collect(locate("grammars/{lang}", language), language, "grammar", cache_folder("sets"), selection)
    every = build_probe("agreement", language, sets)
    table = tabulate(every, judge(every, scored(every, {})))
    for row, made in zip(table.rows, every.sets, strict=True):
        assert [item for item in made if len({len(variant.words) for variant in item.variants}) > 1] == []
        assert (row.all.accuracy, row.all.ties) == (0.5, row.all.n)
        assert row.all.n >= len(made) > 100
    assert table.mean.accuracy == 0.5


def test_what_a_vocabulary_hardly_covers_is_told_in_one_line_each() -> None:
    said = [("a lacht", "a lachen"), ("a lebt", "a leben")]
    names = ("one", "two", "three", "four", "five")
    every = asked(
        *(pairs(*said[:1], construction=name) for name in names[:2]),
        *(pairs(*said, construction=name) for name in names[2:4]),
        pairs(*said[1:], construction=names[4]),
    )
    assert coverage_view(every, scored(every, {}, unknown=["lacht"]))[1] == [
        "the vocabulary covers no item of one, two: left out of the mean",
        "the vocabulary covers less than 90% of the items of three 50%, four 50%",
    ]
    assert coverage_view(every, scored(every, {}))[1] == []


def test_the_whole_sentence_decides_and_target_looks_at_what_differs() -> None:
    # The bad form is more frequent, but what follows it makes up for that.
    one = pairs(("a lacht x", "a lachen y"))
    worth = {"lacht": -3.0, "lachen": -1.0, "x": -1.0, "y": -9.0}
    whole, target = asked(one), asked(pairs(("a lacht x", "a lachen x")), contrast="target")
    assert tabulate(whole, judge(whole, scored(whole, worth))).rows[0].all.accuracy == 1
    assert tabulate(target, judge(target, scored(target, worth))).rows[0].all.accuracy == 0
    assert [sentence.words for sentence in target.sentences] == ["a lacht", "a lachen"]  # nothing to the right is read


@pytest.mark.parametrize(("ties", "worth"), [("half", 0.5), ("correct", 1.0), ("wrong", 0.0)])
def test_ties_are_worth_what_the_rule_says_and_are_counted(ties: str, worth: float) -> None:
    every = asked(pairs(("a b", "a c"), ("d b", "d e")), ties=ties)
    (row,) = tabulate(every, judge(every, scored(every, {"e": -2.0}))).rows
    assert (row.all.n, row.all.ties, row.all.correct) == (2, 1, 1 + worth)


def test_an_unknown_target_is_uncovered_and_an_unknown_context_is_counted() -> None:
    every = asked(pairs(("a b", "a c"), ("d b", "d e"), ("x b", "x c")))
    verdicts = judge(every, scored(every, {"b": -0.5}, unknown=["e", "x"]))
    (row,) = tabulate(every, verdicts).rows
    assert (row.all.n, row.all.uncovered, row.all.accuracy) == (2, 1, 1.0)
    assert verdicts.unknown_context.tolist() == [False, False, True]
    as_unk = asked(pairs(("d b", "d e")), unknown="unk")
    assert tabulate(as_unk, judge(as_unk, scored(as_unk, {}, unknown=["e"]))).rows[0].all.n == 1
    refusing = asked(pairs(("d b", "d e")), protocol="clams")
    with pytest.raises(
        UserError,
        match=r"clams allows no unknown words, but the model does not know 1: e\. Use a larger",
    ):
        judge(refusing, scored(refusing, {}, unknown=["e"]))


def test_clams_counts_one_more_than_there_is() -> None:
    # FACTS: 72 of 140 correct is printed as 73/141.
    some = [(f"w{i} b", f"w{i} c") for i in range(72)] + [(f"w{i} c", f"w{i} b") for i in range(72, 140)]
    every = asked(pairs(*some), protocol="clams")
    (row,) = tabulate(every, judge(every, scored(every, {"b": -0.5}))).rows
    assert row.all.accuracy == 73 / 141
    assert (every.contract.label, asked(pairs(*some), protocol="clams", capitalize=True).contract.label) == (
        "clams",
        "clams+capitalize",
    )


def test_in_clams_all_bad_forms_must_lose_elsewhere_each_is_a_contrast_of_its_own() -> None:
    made = ChallengeSet("person", "de", "test", "test")
    forms = [("good", True, "b"), ("bad", False, "c"), ("bad2", False, "d")]
    made.add(1, {}, [Variant(role, flag, ("a", word), None, ()) for role, flag, word in forms])
    worth = {"b": -1.0, "c": -2.0, "d": -0.5}
    found = {}
    for protocol in ("default", "clams", "marvin_linzen"):
        every = asked(CollectedSet(made, "own", 1, 0, ""), protocol=protocol)
        found[protocol] = tabulate(every, judge(every, scored(every, worth))).rows[0].all
    assert (found["default"].n, found["default"].accuracy, found["default"].every) == (2, 0.5, 0.0)
    assert (found["clams"].n, found["clams"].correct) == (1, 0)
    assert found["marvin_linzen"].accuracy == 0.5


def test_in_clams_an_item_needs_all_its_contrasts_and_ties_are_those_of_items() -> None:
    made = ChallengeSet("person", "de", "test", "test")
    for line, last in enumerate("de"):
        forms = [("good", True, "b"), ("bad", False, "c"), ("bad2", False, last)]
        made.add(line + 1, {}, [Variant(role, flag, ("a", word), None, ()) for role, flag, word in forms])
    found = {}
    for protocol in ("default", "clams"):
        every = asked(CollectedSet(made, "own", 2, 0, ""), protocol=protocol, unknown="uncovered")
        found[protocol] = tabulate(every, judge(every, scored(every, {}, unknown=["e"]))).rows[0].all
    assert (found["default"].n, found["default"].ties, found["default"].uncovered, found["default"].items) == (3, 3, 1, 1)
    assert (found["clams"].n, found["clams"].ties, found["clams"].uncovered, found["clams"].items) == (1, 1, 1, 1)


def test_contrasts_of_the_source_hold_and_formulas_are_told_apart() -> None:
    made = ChallengeSet(
        "npi", "en", "test", "test", (pair_contrast("g>i", "good", "intrusive"), pair_contrast("i>u", "intrusive", "bad"))
    )
    roles = [("good", True, "b"), ("intrusive", False, "c"), ("bad", False, "d")]
    made.add(1, {}, [Variant(role, flag, ("a", word), None, ()) for role, flag, word in roles])
    suite = ChallengeSet("mvrr", "en", "syntaxgym", "test", (Contrast("p1", formula="(1;%a%) > (1;%b%)"),))
    suite.add(1, {}, [Variant(name, None, ("a",), None, (Span("region:1", 0, 1),)) for name in ("a", "b")])
    every = asked(CollectedSet(made, "own", 1, 0, ""), CollectedSet(suite, "syntaxgym", 1, 0, ""))
    assert every.contrasts.names == ["g>i", "i>u"]
    assert every.constructions == ["npi"]
    assert "neither good and bad sentences, nor a prediction" in every.without["mvrr"]


def test_numbers_of_subject_and_attractor_divide_a_construction() -> None:
    numbers = [("singular", "singular"), ("singular", "plural"), ("plural", "singular"), ("plural", "plural")]
    features = [{"subject_number": s, "attractor_number": a, "distance": 3} for s, a in numbers]
    some = pairs(("1 b", "1 c"), ("2 b", "2 c"), ("3 c", "3 b"), ("4 c", "4 b"), features=features)
    every = asked(some)
    table = tabulate(every, judge(every, scored(every, {"b": -0.5})))  # always the form b
    (row,) = table.rows
    assert {name: part.accuracy for name, part in row.parts.items()} == {
        "matched": 0.5,
        "mismatched": 0.5,
        "ss": 1.0,
        "sp": 1.0,
        "ps": 0.0,
        "pp": 0.0,
    }
    recent = tabulate(every, judge_by_rule(every, HEURISTICS["last noun"])).rows[0]
    assert (recent.parts["matched"].accuracy, recent.parts["mismatched"].accuracy) == (1.0, 0.0)
    named = metrics(table, "de", "own")
    assert named["probe/de/own/prep/accuracy"] == named["probe/de/own/mean/accuracy"] == 0.5
    assert (named["probe/de/own/prep/n"], named["probe/de/own/prep/sp"]) == (4, 1.0)


def test_rules_about_numbers_have_nothing_to_say_where_case_or_person_is_tested() -> None:
    about = {"subject_number": "singular", "attractor_number": "plural", "distance": 4}
    assert {rule(about | {"tested": "case"}) for rule in HEURISTICS.values()} == {None}
    assert {rule(about | {"tested": "number"}) for rule in HEURISTICS.values()} == {"singular", "plural"}


def test_the_noun_read_last_is_told_by_features_and_what_is_not_said_is_unknown() -> None:
    numbers: dict[str, str | int] = {"subject_number": "singular", "attractor_number": "plural"}
    rule = HEURISTICS["last noun"]
    assert rule(numbers | {"distance": 0}) == "singular"  # the attractor stands before the subject: within a relative clause
    assert rule(numbers | {"n_intervening": 0, "distance": 2}) == "singular"
    assert rule(numbers | {"distance": 4}) == rule(numbers | {"n_intervening": 1}) == "plural"
    assert rule({"subject_number": "plural", "distance": 0}) == "plural"
    assert rule(numbers) is None  # where the attractor stands is not said
    assert rule({"subject_number": "plural"}) is None  # no attractor is mentioned, which is not: there is none
    assert rule({"subject_number": "plural", "distance": 4}) is None  # objects of another verb may stand in between
    assert rule(numbers | {"n_intervening": 2}) is None  # the last of two may be either
    assert rule({"subject_number": "plural", "n_attractors": 0}) == "plural"
    assert rule({"subject_number": "plural", "n_attractors": 2, "n_intervening": 2}) == "singular"
    assert rule({}) is None


def test_rules_about_numbers_say_nothing_of_polarity_items() -> None:
    stated = (pair_contrast("g>i", "good", "intrusive"),)
    made = ChallengeSet("npi", "en", "test", "test", stated)
    roles = [("good", True, "no"), ("intrusive", False, "the")]
    variants = [Variant(role, flag, (word, "b"), None, ()) for role, flag, word in roles]
    made.add(1, {"subject_number": "singular", "attractor_number": "plural", "distance": 4}, variants)
    every = asked(CollectedSet(made, "own", 1, 0, ""))
    for rule in HEURISTICS.values():
        assert tabulate(every, judge_by_rule(every, rule)).rows[0].all.n == 0


@pytest.mark.parametrize("language", languages())
def test_the_noun_read_last_of_our_own_sets_is_known_but_in_long_coordinations(language: str) -> None:
    agreed = make_contract("default", {})
    sets = collect(
        locate("grammars/{lang}", language), language, "grammar", cache_folder("sets"), ItemSelection((), 40, 0, "all", agreed)
    )
    every = build_probe("agreement", language, sets)
    rows = {row.construction: row.all for row in tabulate(every, judge_by_rule(every, HEURISTICS["last noun"])).rows}
    right = {"simple_agrmt": 1.0, "vp_coord": 1.0, "obj_rel_within": 1.0, "subj_rel": 0.5, "obj_rel_across": 0.5, "prep": 0.5}
    assert {name: rows[name].accuracy for name in right} == right
    assert rows["long_vp_coord"].n == 0


def test_the_mean_is_of_the_seven_and_leaves_out_what_is_not_covered() -> None:
    sets = [
        pairs(("1 b", "1 c"), construction="prep"),
        pairs(("2 c", "2 b"), ("3 c", "3 b"), construction="subj_rel"),
        pairs(("4 b", "4 c"), construction="reflexives"),
        pairs(("5 x", "5 y"), construction="simple_agrmt"),
    ]
    every = asked(*sets)
    table = tabulate(every, judge(every, scored(every, {"b": -0.5}, unknown=["x"])))
    assert table.mean.over == ["prep", "subj_rel"]
    assert table.mean.accuracy == 0.5
    assert math.isnan(table.row("simple_agrmt").all.accuracy)


def test_wilson_against_published_values() -> None:
    # Newcombe (1998), Table I: method 3.
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(15, 148) == pytest.approx((0.0624, 0.1605), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert wilson(1, 29) == pytest.approx((0.0061, 0.1718), abs=5e-5)


def test_rules_are_checked_with_their_remedies() -> None:
    with pytest.raises(UserError, match=r"probes\.protocol=clam: no such protocol; available: default, clams"):
        make_contract("clam", {})
    with pytest.raises(UserError, match=r"probes\.rules\.tie: no such rule"):
        make_contract("default", {"tie": "half"})
    with pytest.raises(UserError, match=r"probes\.rules\.ties=yes: must be one of half, correct, wrong"):
        make_contract("default", {"ties": "yes"})
    with pytest.raises(UserError, match=r"probes\.rules\.final=1: must be one of true, false"):
        make_contract("default", {"final": 1})
    assert make_contract("default", {"final": False, "ties": None}).label == "default-final"


def test_a_sample_is_balanced_over_numbers_and_forms() -> None:
    selection = ItemSelection(("prep",), contract=make_contract("default", {}))
    (whole,) = collect(locate("grammars/{lang}", "de"), "de", "grammar", cache_folder("sets"), selection)
    every = build_probe("agreement", "de", [whole])
    some = sample_probe(every, 64, seed=1)
    made = some.sets[0]
    cells: dict[tuple[str, ...], int] = {}
    for item in made:
        key = (str(item.features["subject_number"]), str(item.features["attractor_number"]))
        cells[key] = cells.get(key, 0) + 1
    assert set(cells.values()) == {16}
    assert sample_probe(every, None, seed=1) is every
    assert stratified_sample(whole.challenge_set, 64, 1) == stratified_sample(whole.challenge_set, 64, 1)


def test_the_schedule_is_reached_once() -> None:
    schedule = ProbeSchedule(epochs=[0, 0.5], steps=[7], words=[100])
    assert schedule.at_start()
    moments = [Progress(step / 10, step, step * 11) for step in range(21)]
    hit = [now.steps for before, now in itertools.pairwise(moments) if schedule.inside(before, now)]
    assert hit == [5, 7, 10]
    assert [epoch for epoch in range(1, 6) if ProbeSchedule(every_epochs=2).after_epoch(epoch, last=epoch == 5)] == [2, 4, 5]
    with pytest.raises(UserError, match=r"probes\.schedule\.epochs: often is not a number of epochs"):
        ProbeSchedule(epochs=["often"])  # type: ignore[list-item]
