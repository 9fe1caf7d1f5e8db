"""Our own grammars: sizes, balance, no known fault, and every word within reach of a model trained on the built-in corpus."""

import itertools
import re
from functools import cache
from pathlib import Path

import pytest
import yaml
from concord.data.grammar import Draw, Expansion, constructions, folder_of, languages, load
from concord.data.grammar.audit import Audit, audit

CONF = Path(__file__).resolve().parents[3] / "conf/lang"
# Pairs in the published sets (Mueller et al. 2020, Table 6); Spanish like French.
PUBLISHED_SIZES = {
    "simple_agrmt": {"en": 140, "fr": 280, "de": 140, "he": 140, "ru": 280, "es": 280},
    "vp_coord": {"en": 840, "fr": 980, "de": 980, "he": 980, "ru": 980, "es": 980},
    "long_vp_coord": {"en": 400, "fr": 500, "de": 500, "he": 500, "ru": 500, "es": 500},
    "subj_rel": {"en": 11200, "fr": 11200, "de": 11200, "he": 11200, "ru": 10080, "es": 11200},
    "obj_rel_within": {"en": 11200, "fr": 11200, "de": 11200, "he": 11200, "ru": 11200, "es": 11200},
    "obj_rel_across": {"en": 11200, "fr": 11200, "de": 11200, "he": 11200, "ru": 11200, "es": 11200},
    "prep": {"en": 16800, "fr": 14000, "de": 12600, "he": 5600, "ru": 5880, "es": 14000},
}
LANGUAGES = ["de", "en", "es", "fr", "he", "ru"]
SETS = [(lang, name) for lang in LANGUAGES for name in constructions(folder_of(lang))]


@cache
def expansion(lang: str, name: str) -> Expansion:
    return Expansion(load(folder_of(lang), name))


@cache
def audited(lang: str, name: str) -> Audit:
    return audit(expansion(lang, name))


@cache
def corpus(lang: str) -> list[str]:
    return list(itertools.islice(Draw(load(folder_of(lang), "corpus"), seed=0), 20_000))


def test_the_six_languages_are_here():
    assert languages() == LANGUAGES


@pytest.mark.parametrize(("lang", "name"), SETS)
def test_a_set_has_no_known_fault(lang, name):
    groups = expansion(lang, name)
    found = audited(lang, name)
    assert found.groups >= PUBLISHED_SIZES.get(name, {}).get(lang, 1)
    assert (found.duplicates, found.tautologies, found.syncretic) == (0, 0, 0)
    assert found.balanced
    assert found.alone == 0
    if name in PUBLISHED_SIZES:
        assert len(found.cells) == (4 if name in ("subj_rel", "obj_rel_within", "obj_rel_across", "prep") else 2)
    assert not groups.notices
    assert found.groups == groups.count()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_seven_constructions_are_complete_and_classified(lang):
    assert set(PUBLISHED_SIZES) <= set(constructions(folder_of(lang)))
    for name in PUBLISHED_SIZES:
        group = next(iter(expansion(lang, name)))
        attractor = {"attractor_number"} if name in ("subj_rel", "obj_rel_within", "obj_rel_across", "prep") else set()
        assert {"subject_number", "distance"} | attractor <= set(group.features)
        assert [s.grammatical for s in group.sentences] == [True, False]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_only_the_target_differs(lang):
    for name in PUBLISHED_SIZES:
        for group in itertools.islice(expansion(lang, name), 0, None, 37):
            good, bad = (s.text.split() for s in group.sentences)
            differing = [i for i, (a, b) in enumerate(zip(good, bad, strict=True)) if a != b]
            ((start, end),) = group.sentences[0].spans
            assert len(differing) == 1
            assert start <= differing[0] < end


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_sentence_is_good_in_one_set_and_bad_in_another(lang):
    good, bad = set(), set()
    for name in constructions(folder_of(lang)):
        for group in expansion(lang, name):
            for sentence in group.sentences:
                (good if sentence.grammatical else bad).add(sentence.text)
    assert not good & bad


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_corpus_shows_every_word_of_the_sets(lang):
    seen = {word for sentence in corpus(lang) for word in sentence.split()}
    tested = {word for name in constructions(folder_of(lang)) for word in audited(lang, name).words}
    assert not tested - seen
    assert 500 <= len(seen) <= 1500


@pytest.mark.parametrize("lang", LANGUAGES)
def test_corpus_sentences_end_in_a_full_stop_and_keep_to_the_tokenisation(lang):
    """What the grammar calls a token, the language's rule for raw text calls a token too."""
    rule = yaml.safe_load((CONF / f"{lang}.yaml").read_text(encoding="utf-8"))
    pattern = re.compile(rule["tokens"])
    for sentence in corpus(lang)[:2000]:
        assert sentence.endswith(" .")
        assert pattern.findall(sentence) == sentence.split()
        assert not any(mark in sentence for mark in rule["replace"])


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_construction_can_be_withheld(lang):
    grammar = load(folder_of(lang), "corpus")
    assert {"prep", "subj_rel", "obj_rel", "vp_coord", "long_vp_coord", "sent_comp"} <= set(grammar.tags())
    draw = Draw(grammar, seed=0, withhold=["obj_rel"])
    assert len(list(itertools.islice(draw, 5000))) == 5000
    assert draw.tags["obj_rel"] == 0
    assert draw.tags["subj_rel"] > 250


def test_german_sets_say_what_they_test():
    positions = dict.fromkeys(["prep", "subj_rel", "obj_rel_across"], "between") | {"obj_rel_within": "before"}
    for name in PUBLISHED_SIZES:
        for group in itertools.islice(expansion("de", name), 0, None, 37):
            features = group.features
            assert (features["gender"], features["person"]) == ("masculine", "third")
            assert features["local"] == ("yes" if features["distance"] == 0 else "no")
            assert features.get("attractor_position") == positions.get(name)
            good = set(group.sentences[0].text.split()[slice(*group.sentences[0].spans[0])])
            expected = "copula" if good & {"ist", "sind"} else "dative" if name == "obj_rel_within" else "intransitive"
            assert features.get("verb_class") == (expected if name != "long_vp_coord" else "phrase")


def test_hebrew_clitics_can_be_joined():
    split = next(iter(Expansion(load(folder_of("he"), "prep"), "split"))).sentences[0]
    joined = next(iter(Expansion(load(folder_of("he"), "prep"), "joined"))).sentences[0]
    assert split.text.replace(" ", "") == joined.text.replace(" ", "")
    assert len(joined.text.split()) < len(split.text.split())


@pytest.mark.parametrize(("lang", "name"), [each for each in SETS if "npi" not in each[1]])
def test_the_last_noun_is_the_subject_where_no_noun_stands_between(lang, name):
    """So every list that subjects come from is declared as nouns: otherwise the rule would be called wrong where it is right."""
    known = [group.features for group in itertools.islice(expansion(lang, name), 0, None, 7)]
    near = [features for features in known if 0 in (features.get("n_intervening"), features.get("distance"))]
    assert {features["h2"] for features in near if "h2" in features} <= {"right"}
    assert near or not name.startswith("simple_")


@pytest.mark.parametrize("name", ["simple_npi", "simple_npi_inanim", "npi_across", "npi_across_inanim"])
def test_rules_about_numbers_have_nothing_to_say_about_polarity(name):
    features = next(iter(expansion("en", name))).features
    assert not {"h1", "h2", "h3", "h4", "n_heuristics"} & set(features)
