"""Heuristics of grammar sets: from the attributes of the words, and equal to what a reader of the sentences would count."""

from collections import Counter

import pytest
from concord.data.grammar import GrammarError, load
from concord.data.grammar.expand import Expansion
from concord.places import installed_folder

FOLDER = installed_folder("grammars") / "fr" / "participles"
NAMES = ("h1", "h2", "h3", "h4")
# Every word of the participle sets that has a number; determiners and verbs are told by their form.
SINGULAR = {"le", "la", "oublie", "relit", "a", "il", "elle"}
PLURAL = {"les", "oublient", "relisent", "ont", "ils", "elles"}
NOUNS = {"médecin", "facteur", "musicien", "voisin", "vendeur", "journaliste", "maire", "juge", "policier"}
NOUNS |= {"livre", "roman", "message", "lettre", "revue", "brochure"}


def naive(words):
    """Reads the sentence itself."""
    marked = []
    for word in words:
        if word in SINGULAR or word in NOUNS:
            marked.append((word in NOUNS, "singular"))
        elif word in PLURAL or word.removesuffix("s") in NOUNS:
            marked.append((word not in PLURAL, "plural"))
    nouns = [number for noun, number in marked if noun]
    numbers = [number for _, number in marked]
    counts = Counter(numbers)
    majority = numbers[-1] if counts["singular"] == counts["plural"] else max(counts, key=counts.get)
    return nouns[0], nouns[-1], numbers[-1], majority


@pytest.mark.parametrize(("construction", "groups"), [("noun_subject", {0, 2, 3, 4}), ("pronoun_subject", {1, 3, 4})])
def test_they_are_what_the_sentences_say(construction, groups):
    found = set()
    for group in Expansion(load(FOLDER, construction)):
        *prefix, _ = group.sentences[0].text.split()
        features = group.features
        right = [choice == features["subject_number"] for choice in naive(prefix)]
        assert [features[name] for name in NAMES] == ["right" if each else "wrong" for each in right]
        assert features["n_heuristics"] == sum(right)
        found.add(features["n_heuristics"])
    assert found == groups


def features_of(tmp_path, text):
    (tmp_path / "common.avg").write_text("attribute number $n: s singular | p plural\n", encoding="utf-8")
    (tmp_path / "x.avg").write_text(text, encoding="utf-8")
    return next(iter(Expansion(load(tmp_path, "x")))).features


GRAMMAR = "vary: V[]\nfeature subject_number: number of N_1\nS[] N_1[s] N_2[p] V[s]\nN_1[s] a\nN_2[p] b\nV[s] c\nV[p] d\n"


def test_only_where_nouns_are_declared_and_number_is_tested(tmp_path):
    declared = features_of(tmp_path, "nouns: N\n" + GRAMMAR)
    assert [declared[name] for name in (*NAMES, "n_heuristics")] == ["right", "wrong", "wrong", "wrong", 1]
    one = features_of(tmp_path, "nouns: N_1\n" + GRAMMAR)
    assert (one["h1"], one["h2"], one["h3"]) == ("right", "right", "wrong")
    for text in (GRAMMAR, "nouns: N\nnouns: none\n" + GRAMMAR, "nouns: N\nfeature tested: case\n" + GRAMMAR):
        assert not set(NAMES) & set(features_of(tmp_path, text))


@pytest.mark.parametrize("text", ["nouns:\n", "nouns N:\n"])
def test_a_line_that_names_nothing_is_told(tmp_path, text):
    with pytest.raises(GrammarError, match=r"x.avg:1: nouns: names no slot; write for instance nouns: N, or nouns: none"):
        features_of(tmp_path, text + GRAMMAR)
