"""What comes with a sentence: its group, template, span, features; and how little memory it takes."""

import itertools
import tracemalloc

import pytest
from concord.data.grammar import Expansion, GrammarError, folder_of, load
from concord.data.grammar.audit import audit, coverage
from concord.data.grammar.expand import count_sentences
from concord.data.sources import challenge_sentences
from concord.probes.readers.grammar import expand_grammar

PREP = """
attribute number $n: s singular | p plural
attribute case $c: nom | dat
feature subject_number: number of N_1
feature attractor_number: number of N_2
feature distance: words from N_1 to V
feature attractor_kind: PP
vary: V[]
S[] Det[$n,nom] N_1[$n] neben Det[$n2,dat] N_2[$n2] V[$n]
Det[s,nom] der
Det[p,nom] die
Det[s,dat] dem
Det[p,dat] den
paradigm N_1[]: s | p
  Autor | Autoren
paradigm N_2[]: s | p
  Richter | Richtern
  Wirt in Rom | Wirten in Rom
paradigm V[]: s | p
  lacht | lachen
  ist alt | sind alt
"""


def test_each_sentence_comes_with_all_that_is_known_of_it(grammar):
    groups = list(Expansion(grammar(PREP)))
    first = groups[0]
    assert [s.text for s in first.sentences] == ["der Autor neben dem Richter lacht", "der Autor neben dem Richter lachen"]
    assert [s.grammatical for s in first.sentences] == [True, False]
    assert [s.change for s in first.sentences] == ["", "plural"]
    assert first.sentences[0].spans == ((5, 6),)
    assert first.features == {
        "subject_number": "singular",
        "attractor_number": "singular",
        "attractor_kind": "PP",
        "distance": 3,
    }
    assert [group.number for group in groups] == list(range(16))
    assert [group.template for group in groups[::4]] == [0, 1, 2, 3]


def test_distance_counts_the_words_of_each_sentence(grammar):
    groups = list(Expansion(grammar(PREP)))
    assert [group.features["distance"] for group in groups[:4]] == [3, 3, 5, 5]
    assert groups[3].sentences[1].text == "der Autor neben dem Wirt in Rom sind alt"
    assert groups[3].sentences[1].spans == ((7, 9),)


def test_spans_always_hold_the_varied_words(grammar):
    forms = {"lacht", "lachen", "ist alt", "sind alt"}
    for group in Expansion(grammar(PREP)):
        for sentence in group.sentences:
            ((start, end),) = sentence.spans
            assert " ".join(sentence.text.split()[start:end]) in forms


def test_counting_needs_no_writing_out(grammar):
    expansion = Expansion(grammar(PREP))
    assert expansion.count() == len(list(expansion)) == 16
    word = "N{}[] " + " | ".join(f"w{i}" for i in range(100))
    huge = "S[] " + " ".join(f"N{i}[]" for i in range(10)) + "\n" + "\n".join(word.format(i) for i in range(10))
    assert Expansion(grammar(huge)).count() == 100**10


def test_memory_does_not_grow_with_the_product(grammar):
    word = "N{}[] " + " | ".join(f"w{i}" for i in range(128))
    text = "S[] N0[] N1[] N2[]\n" + "\n".join(word.format(i) for i in range(3))
    expansion = Expansion(grammar(text))
    tracemalloc.start()
    n = sum(1 for _ in itertools.islice(expansion, 40_000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert n == 40_000
    assert peak < 1_000_000


def test_phrases_are_written_out_and_features_read_off_inner_constituents(grammar):
    text = """
attribute number $n: s singular | p plural
feature subject_number: number of NP
vary: V[]
S[] NP[$n] V[$n]
NP[$n] {bare} Det[$n] N[$n] | {adjective} Det[$n] alte N[$n]
Det[s] der
Det[p] die
N[s] Hund
N[p] Hunde
V[s] bellt
V[p] bellen
"""
    groups = list(Expansion(grammar(text)))
    good = [group.sentences[0].text for group in groups]
    assert good == ["der Hund bellt", "der alte Hund bellt", "die Hunde bellen", "die alte Hunde bellen"]
    assert [g.features["subject_number"] for g in groups] == ["singular", "singular", "plural", "plural"]
    assert [g.tags for g in groups[:2]] == [("bare",), ("adjective",)]


def test_a_template_or_a_phrase_can_give_features(grammar):
    text = """
attribute number $n: s singular | p plural
feature case: declared
feature person: third
feature distance: words from N to V, Cop
vary: V[]; Cop[]
S[] {2 tagged case=simple sub_case=sg} N[s] VP[s] | {sub_case=both person=first} N[$n] VP[$n]
S[] {distance=fixed verb_class=outer} N[s] VP[s]
VP[$n] {verb_class=verb} V[$n] | {verb_class=copula} Cop[$n] alt
N[s] er
N[p] wir
V[s] lacht
V[p] lachen
Cop[s] ist
Cop[p] sind
"""
    found = [(g.sentences[0].text, g.tags, dict(g.features)) for g in Expansion(grammar(text))]
    simple = {"case": "simple", "person": "third", "sub_case": "sg", "distance": 0}
    both = {"case": "declared", "person": "first", "sub_case": "both", "distance": 0}
    outer = {"case": "declared", "person": "third", "distance": "fixed", "verb_class": "outer"}
    assert found == [
        ("er lacht", ("tagged",), simple | {"verb_class": "verb"}),
        ("er ist alt", ("tagged",), simple | {"verb_class": "copula"}),
        ("er lacht", (), both | {"verb_class": "verb"}),
        ("er ist alt", (), both | {"verb_class": "copula"}),
        ("wir lachen", (), both | {"verb_class": "verb"}),
        ("wir sind alt", (), both | {"verb_class": "copula"}),
        ("er lacht", (), outer),
        ("er ist alt", (), outer),
    ]


def test_a_rule_of_words_and_phrases_gives_both(expand):
    assert expand("S[] NP[] geht\nNP[] er | der N[] | sie\nN[] Hund | Esel") == [
        "er geht",
        "sie geht",
        "der Hund geht",
        "der Esel geht",
    ]


def test_nothing_is_a_word_too(expand):
    assert expand("S[] er Adv[] geht\nAdv[] {} | nie") == ["er geht", "er nie geht"]


def test_an_audit_finds_tautologies_repetitions_and_imbalance(grammar):
    text = """
attribute number: s singular | p plural
feature subject_number: number of N
vary: V[]
S[] N[s] W[s] und V[s]
S[] N[p] W[p] und V[p]
N[s] er | er
N[p] sie
W[s] spricht | lacht
W[p] sprechen | lachen
V[s] spricht
V[p] sprechen
"""
    found = audit(Expansion(grammar(text)))
    assert (found.groups, found.sentences, found.tautologies, found.duplicates) == (6, 12, 3, 2)
    assert not found.balanced
    assert found.cells == {("singular",): 4, ("plural",): 2}


def test_sentences_with_and_without_an_attractor_are_balanced_each_by_themselves(grammar):
    text = """
attribute number $n: s singular | p plural
feature subject_number: number of N_1
feature attractor_number: number of N_2
vary: V[]
S[] N_1[$n] V[$n] | N_1[$n] nach N_2[$n2] V[$n]
N_1[s] er
N_1[p] wir
N_2[s] dir | mir
N_2[p] euch | uns
V[s] geht
V[p] gehen
"""
    found = audit(Expansion(grammar(text)))
    assert found.shapes() == {
        1: {("singular",): 1, ("plural",): 1},
        2: {(a, b): 2 for a in ("singular", "plural") for b in ("singular", "plural")},
    }
    assert found.balanced
    assert not audit(Expansion(grammar(text + "S[] N_1[s] nach N_2[s] V[s] heute"))).balanced


def test_coverage_tells_lost_targets_from_blurred_contexts(grammar):
    vocabulary = set("der die den dem Autor Autoren neben Richter Richtern in Rom lacht lachen ist sind".split())  # noqa: SIM905
    found = coverage(Expansion(grammar(PREP)), vocabulary)
    assert (found.groups, found.target_missing, found.context_missing) == (16, 8, 4)
    assert found.missing == {"alt": 8, "Wirt": 4, "Wirten": 4}


def test_a_set_that_explodes_is_counted_before_it_is_expanded(folder):
    words = " | ".join(f"w{i}" for i in range(10))
    slots = " ".join(["A[]"] * 7)
    towers = "\n".join(f"A{i}[] " + " ".join([f"A{i + 1}[]"] * 9) for i in range(90))
    path = folder(
        wide=f"vary: V[]\nS[] {slots} V[s]\nA[] {words}\nV[s] ist | war\nV[p] sind | waren\n",
        high=f"vary: V[]\nS[] A0[] V[s]\n{towers}\nA90[] a | b\nV[s] ist\nV[p] sind\n",
    )
    with pytest.raises(GrammarError, match="wide.avg: this grammar has 20,000,000 sentences, more than the 5,000,000 of a set"):
        expand_grammar(path, "wide", "de")
    with pytest.raises(GrammarError, match=r"high.avg: this grammar has over 1e\+18 sentences"):
        expand_grammar(path, "high", "de")
    with pytest.raises(GrammarError, match=r"high.avg: this grammar has over 1e\+18 sentences"):
        challenge_sentences(path, "split").sentences()


@pytest.mark.parametrize("name", ["simple_agrmt", "prep", "obj_rel_across"])
def test_the_sentences_that_are_counted_are_those_that_are_written(name):
    expansion = Expansion(load(folder_of("de"), name))
    assert count_sentences(expansion.root) == expansion.count()
