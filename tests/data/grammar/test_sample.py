"""Corpora: the same seed, the same sentences; weights, withheld constructions, excluded sentences."""

import itertools
from collections import Counter

import pytest
from concord.data.grammar import Draw, GrammarError

CORPUS = """
attribute number $n: s singular | p plural
limit NP: 1
S[] NP[$n] V[$n] .
NP[$n] {3} N[$n] | {1 obj_rel} N[$n] den NP[$n2] V[$n2]
N[s] Hund | Esel
N[p] Hunde | Esel
V[s] bellt | ruht
V[p] bellen | ruhen
"""


def drawn(grammar, n, **settings):
    return list(itertools.islice(Draw(grammar, **{"seed": 1} | settings), n))


def test_a_seed_is_a_corpus_and_a_longer_one_begins_with_the_shorter(grammar):
    made = grammar(CORPUS)
    assert drawn(made, 30_000)[:100] == drawn(made, 100)
    assert drawn(made, 100) != drawn(made, 100, seed=2)


def test_the_draw_is_the_same_on_every_machine(grammar):
    """Written down once: a change of numpy or of ours that alters users' corpora must be seen."""
    assert drawn(grammar(CORPUS), 5) == [
        "Esel bellen .",
        "Esel bellen .",
        "Esel ruht .",
        "Esel bellen .",
        "Esel den Esel ruhen ruht .",
    ]


def test_weights_are_shares(grammar):
    counts = Counter(drawn(grammar("S[] {3} a | {1} B[$n]\nattribute number $n: s | p\nB[s] b\nB[p] c"), 40_000))
    assert counts["a"] / 40_000 == pytest.approx(0.75, abs=0.01)
    assert counts["b"] / 40_000 == pytest.approx(0.125, abs=0.01)


def test_recursion_stops_at_its_limit(grammar):
    depths = Counter(sentence.count(" den ") for sentence in drawn(grammar(CORPUS), 20_000))
    assert set(depths) == {0, 1}
    assert depths[1] / 20_000 == pytest.approx(0.25, abs=0.02)


def test_withheld_constructions_never_occur(grammar):
    made = grammar(CORPUS)
    assert not any(" den " in sentence for sentence in drawn(made, 20_000, withhold=["obj_rel"]))
    draw = Draw(made, seed=1, exclude={"Hund bellt"})
    sentences = list(itertools.islice(draw, 10_000))
    assert draw.tags["obj_rel"] == sum(" den " in sentence for sentence in sentences)


def test_an_unknown_tag_is_an_error_with_the_known_ones(grammar):
    with pytest.raises(GrammarError, match="cannot withhold subj_rel: no rule has this tag; tags here: obj_rel"):
        Draw(grammar(CORPUS), seed=1, withhold=["subj_rel"])


def test_excluded_sentences_are_left_out_and_counted(grammar):
    made = grammar(CORPUS)
    plain = drawn(made, 16_384)
    draw = Draw(made, seed=1, exclude={"Hund bellt"})
    kept = list(itertools.islice(draw, 16_384 - plain.count("Hund bellt .")))
    assert kept == [sentence for sentence in plain if sentence != "Hund bellt ."]
    assert draw.excluded == plain.count("Hund bellt .") > 100


def test_a_grammar_that_is_excluded_altogether_is_an_error(grammar):
    with pytest.raises(GrammarError, match="all of .* sampled sentences are excluded"):
        drawn(grammar("S[] a ."), 1, exclude={"a"})


def test_nothing_leaves_no_space_behind(grammar):
    assert set(drawn(grammar("S[] {1} er A[] geht B[] .\nA[] {} | nie\nB[] {}"), 100)) == {"er geht .", "er nie geht ."}
