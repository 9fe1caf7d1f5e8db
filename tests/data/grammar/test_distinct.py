"""`distinct:` lines: slots that never hold the same word, whatever its form."""

import itertools

import pytest
from concord.data.grammar import Draw, Expansion, GrammarError, build, parse
from hypothesis import given
from hypothesis import strategies as st

PEOPLE = """
attribute number $n: s singular | p plural
feature subject_number: number of N_1
feature attractor_number: number of N_2
vary: V[]
distinct: N_1, N_2
N_1[$n] N[$n]
N_2[$n] N[$n]
paradigm N: s | p
  Arzt  | Ärzte
  Koch  | Köche
  Gast  | Gäste
V[s] lacht
V[p] lachen
"""


def test_no_word_stands_twice_in_any_of_its_forms(expand):
    assert expand(PEOPLE + "S[] N_1[s] sieht N_2[p] und V[s]") == [
        *("Koch sieht Ärzte und lacht", "*Koch sieht Ärzte und lachen"),
        *("Gast sieht Ärzte und lacht", "*Gast sieht Ärzte und lachen"),
        *("Arzt sieht Köche und lacht", "*Arzt sieht Köche und lachen"),
        *("Gast sieht Köche und lacht", "*Gast sieht Köche und lachen"),
        *("Arzt sieht Gäste und lacht", "*Arzt sieht Gäste und lachen"),
        *("Koch sieht Gäste und lacht", "*Koch sieht Gäste und lachen"),
    ]


def test_features_are_still_those_of_the_named_constituents(grammar):
    groups = list(Expansion(grammar(PEOPLE + "S[] N_1[s] sieht N_2[p] und V[s]")))
    assert {(g.features["subject_number"], g.features["attractor_number"]) for g in groups} == {("singular", "plural")}
    assert [g.number for g in groups] == list(range(6))


VERBS = "paradigm V: s | p\n  lacht | lachen\n  weint | weinen\n"


def test_a_varied_slot_can_be_kept_apart_too(expand):
    found = expand("vary: V[]\ndistinct: V\nS[] er V_1[s] und V[s]\nV_1[s] V[s]\n" + VERBS.replace("V:", "V[]:"))
    assert [s for s in found if not s.startswith("*")] == ["er lacht und weint", "er weint und lacht"]


def test_a_list_and_a_paradigm_are_kept_apart_by_the_first_form_of_the_row(expand):
    text = "vary: V[]\ndistinct: W, V\nS[] W[] und V[p]\nW[] lacht | singt\n" + VERBS
    assert expand(text) == [
        *("lacht und weinen", "*lacht und weint", "singt und lachen", "*singt und lacht", "singt und weinen", "*singt und weint"),
    ]


def test_one_name_keeps_all_its_slots_apart(expand):
    found = expand("distinct: N\nS[] N[] N[] N[]\nN[] a | b | c")
    assert sorted(found) == sorted(" ".join(p) for p in itertools.permutations("abc"))


def test_lists_without_rows_are_the_same_word_if_they_look_the_same(expand):
    assert expand("distinct: A, B\nS[] A[] B[]\nA[] x | y\nB[] y | z") == ["x y", "x z", "y z"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("distinct:\nS[] a", r"x.avg:1: distinct: names no slot; write for instance distinct: N_1, N_2"),
        ("distinct: M\nS[] N[]\nN[] a", r"x.avg:1: distinct: M names no slot; the names here are N, S"),
        (
            "distinct: NP, N\nS[] NP[] N[]\nNP[] die N[]\nN[] a",
            r"x.avg:1: distinct: NP is 2 slots long; name the nonterminal that",
        ),
        (
            "distinct: N\nS[] N[s] N[p]\nN[s] a | b\nN[p] c | d",
            r"x.avg:1: distinct: N\[s\] and N\[p\] are lists, .* one paradigm",
        ),
        ("distinct: N\ndistinct: M\nS[] M[] N[]\nM[] N[]\nN[] a", r"x.avg:2: distinct: two lines name N\[\]; join them"),
        ("distinct: N\nS[] N[] N[] N[] N[] N[] N[] N[]\nN[] a", r"x.avg:1: distinct: more than 6 slots in one sentence"),
    ],
)
def test_slips_are_told_what_is_wrong(grammar, text, message):
    with pytest.raises(GrammarError, match=message):
        list(Expansion(grammar(text)))


def test_a_corpus_refuses_it(grammar):
    with pytest.raises(GrammarError, match=r"x.avg:1: distinct: is for challenge sets; a corpus samples slots independently"):
        Draw(grammar("distinct: N\nS[] N[] N[]\nN[] a | b"), seed=0)


@given(st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4), min_size=1, max_size=4), st.integers(0, 2))
def test_it_is_the_full_set_without_repetitions_and_is_counted_exactly(lists, free):
    """Against a brute-force oracle: all sentences, in the same order, less those that repeat a word."""
    names = [f"N{i}" for i in range(len(lists))]
    rules = [f"{name}[] {' | '.join(words)}" for name, words in zip(names, lists, strict=True)]
    slots = [*(f"{name}[]" for name in names), *["F[]"] * free]
    text = "\n".join(["S[] " + " ".join(slots), *rules, "F[] a | z"])
    everything = [s.text for g in Expansion(build("x", "x", parse(text, "x"))) for s in g.sentences]
    apart = Expansion(build("x", "x", parse(f"distinct: {', '.join(names)}\n{text}", "x")))
    kept = [t for t in everything if len(set(t.split()[: len(names)])) == len(names)]
    assert [s.text for g in apart for s in g.sentences] == kept
    assert apart.count() == len(kept)
