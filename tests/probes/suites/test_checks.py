"""What `check` tells an author."""

from dataclasses import replace
from pathlib import Path

import pytest
from concord.probes.suites.__main__ import main
from concord.probes.suites.checks import collection_notes, notes
from concord.probes.suites.core_tier import corpus_words
from concord.probes.suites.json_files import suite_from
from concord.probes.suites.suite_files import read

PUBLISHED = Path(__file__).resolve().parents[4] / "shared/reference/syntaxgym"
NOUNS = ["dog", "cat", "cow", "bird", "horse", "fox"]


def small(formula="(2;%match%) < (2;%mismatch%)", items=None):
    """Six items; each is (condition: contents)."""
    items = items or [{"match": [f"The {n}", "barks", "now"], "mismatch": [f"The {n}", "bark", "now"]} for n in NOUNS]
    made = [
        {
            "item_number": number,
            "conditions": [
                {"condition_name": name, "regions": [{"region_number": r, "content": c} for r, c in enumerate(cs, start=1)]}
                for name, cs in item.items()
            ],
        }
        for number, item in enumerate(items, start=1)
    ]
    return suite_from({"meta": {"name": "small"}, "predictions": [{"formula": formula}], "items": made}, "small.json")


def pairs(*contents):
    return [{"match": list(one), "mismatch": list(other)} for one, other in contents]


def told(suite, part):
    return [note for note in notes(suite, "en") if part in note]


def test_few_items_are_told():
    assert told(small(), "only 6 items; below 20 an accuracy says little")
    many = [{"match": [f"The {n}{i}", "x", "y"], "mismatch": [f"The {n}{i}", "z", "y"]} for n in NOUNS for i in range(4)]
    assert not told(small(items=many), "under 20")


def test_an_item_with_equal_conditions_can_never_hold():
    suite = small(
        items=pairs(*[((n, "barks", "now"), (n, "bark", "now")) for n in NOUNS[:-1]], (("a", "b", "c"), ("a", "b", "c")))
    )
    assert told(suite, "prediction 1 can never hold in item 6 for a left-to-right model (best possible 5/6)")
    assert told(suite, "item 6: region 2 is the same in match and mismatch, unlike the other items")
    assert told(suite, "item 6: match and mismatch are the same sentence")


def test_the_same_word_after_other_words_is_not_decided():
    suite = small(items=pairs(*[((f"the {n}", "x", "y"), (f"a {n}", "x", "y")) for n in NOUNS]))
    assert not told(suite, "never hold")
    assert not told(suite, "word frequency")


def test_a_formula_that_always_holds_is_told():
    assert told(small("(2;%match%) + 1 > 0"), "prediction 1 always holds in items 1, 2, 3, 4, 5, 6")
    empty = pairs(*[((n, "", "y"), (n, "x", "y")) for n in NOUNS])
    assert told(small("(2;%match%) > 0", empty), "can never hold in items 1, 2, 3, 4, 5, 6")  # no words, no surprisal


def test_regions_that_should_be_equal_are_told():
    last = (("fox", "barks", "now"), ("fox", "bark", "then"))
    suite = small(items=pairs(*[((n, "barks", "now"), (n, "bark", "now")) for n in NOUNS[:-1]], last))
    assert told(suite, "item 6: region 3 is not the same in match and mismatch, unlike the other items")


def test_an_empty_region_where_others_have_words_is_told_once():
    last = (("fox", "barks", ""), ("fox", "bark", "now"))
    suite = small(items=pairs(*[((n, "barks", "now"), (n, "bark", "now")) for n in NOUNS[:-1]], last))
    assert told(suite, "item 6:") == ["item 6: region 3 is empty in match, unlike the other items"]


def test_repeated_items_are_told():
    suite = small(items=pairs(*[((n, "barks", "now"), (n, "bark", "now")) for n in [*NOUNS, "cat"]]))
    assert told(suite, "item 7 repeats item 2")


def test_blanks_lengths_and_equalities_are_told():
    suite = small("(2;%match%) = (3;%mismatch%)", pairs(*[((n, "barks ", "now"), (n, "bark", "just  now")) for n in NOUNS]))
    assert told(suite, "12 sentences have blanks around or doubled")
    assert told(suite, "prediction 1, comparison 1: the sides have different numbers of words in items 1, 2, 3, 4, 5, 6")
    assert told(suite, "prediction 1 asks for equality")


def test_word_frequency_that_suffices_is_told():
    assert told(small(), "prediction 1: word frequency alone can satisfy it in 6 of 6 items")
    assert told(small(), "prediction 1: 'barks' is the side that should be likelier in 6 comparisons and the other side in none")
    four = "(2;%a%) < (2;%b%) & (2;%c%) < (2;%d%)"
    items = [{"a": [n, "is"], "b": [n, "are"], "c": [f"{n}s", "are"], "d": [f"{n}s", "is"]} for n in NOUNS]
    assert not told(small(four, items), "word frequency")


def test_several_predictions_are_balanced_together():
    items = [{"a": [n, "is"], "b": [n, "are"], "c": [f"{n}s", "are"], "d": [f"{n}s", "is"]} for n in NOUNS]
    suite = small("(2;%a%) < (2;%b%)", items)
    other = small("(2;%c%) < (2;%d%)", items).predictions[0]
    both = replace(suite, predictions=(*suite.predictions, other))
    assert not told(both, "word frequency")
    assert told(replace(both, meta={"item_rule": "each"}), "prediction 2: word frequency")
    assert told(replace(both, meta={"item_rule": "first"}), "prediction 1: word frequency")


def test_words_of_a_core_suite_are_in_the_corpus():
    core = {"name": "small", "language": "en", "tier": "core"}
    items = pairs(*[(("The author", "laughs", "."), ("The author", "laugh", ".")) for _ in NOUNS])
    assert "author" in corpus_words("en")
    assert not told(replace(small(items=items), meta=core), "tier core")
    suite = replace(small(items=pairs((("The zyx", "laughs", "."), ("The zyx", "qwop", ".")))), meta=core)
    assert told(suite, "tier core, but 2 words are not in the built-in corpus: zyx, qwop")
    assert not told(replace(suite, meta={**core, "tier": "full"}), "tier core")


def test_missing_predictions_and_regions_are_told():
    suite = replace(small(), predictions=(), region_names={9: "x"})
    assert told(suite, "no predictions: nothing to judge")
    assert told(suite, "region_meta names region 9, which no condition has")


def test_suites_are_also_looked_at_together():
    one = replace(small(), meta={"name": "one", "base": "two"})
    assert collection_notes([one, one]) == [
        "2 suites are named one",
        *["small.json: its base two is not among the suites"] * 2,
    ]
    assert collection_notes([one, replace(one, meta={"name": "two"})]) == []


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published suites are not here")
@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("fgd_hierarchy", "item 12: that_nogap and that_subjgap look swapped"),
        ("fgd_hierarchy", "prediction 1 reads region 6 in the clause without a gap"),
        ("fgd_hierarchy", "prediction 2 asks for equality"),
        ("mvrr", "prediction 1 can never hold in item 5 for a left-to-right model (best possible 27/28)"),
        ("mvrr", "item 27: region 6 (End) is empty in unreduced_ambig"),
        ("npz_obj", "96 sentences have blanks around"),
        ("number_prep", "only 19 items; below 20"),
    ],
)
def test_defects_of_released_suites_are_told(name, note):
    assert told(read(PUBLISHED / f"{name}.json.xz"), note)


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published suites are not here")
@pytest.mark.parametrize("name", ["center_embed", "cleft"])
def test_clean_suites_have_no_notes(name):
    assert notes(read(PUBLISHED / f"{name}.json.xz"), "en") == []


def test_the_command_shows_sentences_and_goes_on_after_an_error(tmp_path, capsys):
    (tmp_path / "a.suite").write_text("name: a\nnome: b\n")
    (tmp_path / "b.suite").write_text(
        "name: b\nlanguage: en\ncircuit: agreement\njoiner: running\nregions: a | b\nconditions:\n"
        "  x: {^n} | {v} .\n  y: {^n} | {w} .\npredictions:\n  p: b@x < b@y\nitems:\n  n | v | w\n  dogs | bark | barks\n"
    )
    assert main([str(tmp_path)]) == 1
    shown = capsys.readouterr().out
    assert "a.suite:2: unknown key 'nome'; did you mean name?" in shown
    assert "b, 1 items x 2 conditions" in shown
    assert "Dogs bark." in shown
