"""The fourteen German cases: sizes, features, and that no bad sentence is good after all, by a small grammar of our own here."""

import itertools
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest
from concord.data.grammar import Draw, Expansion, Group, constructions, folder_of, load
from concord.data.grammar.audit import audit
from concord.data.grammar.folder import collections

# Pairs in the published data (Zaczynska et al. 2020), repetitions once; the number of the tested verb's subject comes first.
PUBLISHED_SIZES = {
    "simple": {"sg": 65, "pl": 50},
    "sent_comp": {"sgsg": 900, "plpl": 450, "plsg": 900, "sgpl": 450},
    "vp_coord_short": {"sg": 120, "pl": 120},
    "vp_coord_medium": dict.fromkeys(["sgsg", "sgpl", "plsg", "plpl"], 120),
    "vp_coord_long": dict.fromkeys(["sgsg", "sgpl", "plsg", "plpl"], 120),
    "across_pp": dict.fromkeys(["sgsg", "sgpl", "plsg", "plpl"], 900),
    "across_subj_rel": dict.fromkeys(["sgsg", "sgpl", "plsg", "plpl"], 600),
    "across_obj_rel": {"sgsg": 450, "plpl": 450, "plsg": 450, "sgpl": 225},
    "within_obj_rel": {"sgsg": 450, "plpl": 450, "plsg": 450, "sgpl": 450},
    "modifier": {"sg": 200, "pl": 200},
    "extended_modifier": dict.fromkeys(["sgsg", "sgpl", "plsg", "plpl"], 200),
    "prefield": {"sgsg": 200, "plsg": 200, "sgpl": 180},
    "reflexive_person": {"simple": 72, "longer": 315, "complement": 1350},
    "reflexive_case": {"simple": 18, "longer": 90, "complement": 540},
}
CASES = sorted(PUBLISHED_SIZES)
AGREEMENT = [name for name in CASES if not name.startswith("reflexive")]
# Of every word that can stand for a person: its gender, and which cases of which number it can be.
SINGULAR = {"m": "Arzt Koch Anwalt Gast", "f": "Frau Malerin Kundin Tante", "n": "Kind Mädchen Mitglied Model"}
NOT_DATIVE = "Ärzte Köche Anwälte Gäste Kinder Mitglieder"
DATIVE = "Ärzten Köchen Anwälten Gästen Kindern Mitgliedern"
ANY_CASE = "Frauen Malerinnen Kundinnen Tanten Mädchen Models"
ARTICLES = {
    "der": {("m", "nom"), ("f", "dat"), ("f", "gen"), ("p", "gen")},
    "die": {("f", "nom"), ("f", "acc"), ("p", "nom"), ("p", "acc")},
    "das": {("n", "nom"), ("n", "acc")},
    "den": {("m", "acc"), ("p", "dat")},
    "dem": {("m", "dat"), ("n", "dat")},
    "denen": {("p", "dat")},
}
DATIVE_VERBS = {"hilft", "helfen", "dankt", "danken", "half", "halfen", "dankte", "dankten", "vertraute", "vertrauten"}
REFLEXIVES = {"ich": "mich", "du": "dich", "er": "sich", "wir": "uns", "ihr": "euch", "sie": "sich"}
WRONG_PERSON = {"ich": "sich", "du": "euch", "er": "mich", "wir": "dich", "ihr": "dich", "sie": "mich"}
WRONG_CASE = {"mich": "mir", "mir": "mich", "dich": "dir", "dir": "dich"}


@cache
def groups(name: str) -> list[Group]:
    return list(Expansion(load(folder_of("de/cases"), name)))


def noun(word: str) -> set[tuple[str, str]]:
    """Gender and case of a noun form, p for every plural: a small lexicon written by hand."""
    found = {(g, c) for g, words in SINGULAR.items() if word in words.split() for c in ("nom", "acc", "dat")}
    found |= {("p", c) for c in ("nom", "acc", "gen") if word in f"{NOT_DATIVE} {ANY_CASE}".split()}
    return found | {("p", "dat") for words in (DATIVE, ANY_CASE) if word in words.split()}


def phrase(article: str, word: str) -> set[tuple[str, str]]:
    """Number (s, p) and case of a noun phrase: what article and noun agree on."""
    return {("p" if gender == "p" else "s", case) for gender, case in ARTICLES[article] & noun(word)}


def number(verb: str) -> str:
    return "p" if verb.endswith("n") else "s"


def readings(one: set[tuple[str, str]], verb: str, two: set[tuple[str, str]]) -> int:
    """In how many ways one of two phrases is the subject of a verb and the other its object."""
    governed = "dat" if verb in DATIVE_VERBS else "acc"
    found = 0
    for subject, object_ in ((one, two), (two, one)):
        found += sum(s == (number(verb), "nom") and o[1] == governed for s, o in itertools.product(subject, object_))
    return found


def relative_readings(words: list[str]) -> int:
    """`der Arzt , den die Köche loben , lacht`: the pronoun has the gender and the number of its noun."""
    article, head, _, pronoun, *rest = words
    genders = {gender for gender, case in ARTICLES[article] & noun(head) if case == "nom"}
    pronoun_cases = {("p" if g == "p" else "s", case) for g, case in ARTICLES[pronoun] if g in genders and case != "gen"}
    return readings(pronoun_cases, rest[2], phrase(*rest[:2]))


def agrees(subject: list[str], verb: str) -> bool:
    """Whether a noun phrase, whatever stands between article and noun, or a pronoun can be the subject of the verb."""
    if len(subject) == 1:
        return number(verb) == {"er": "s", "jemand": "s", "wir": "p", "alle": "p"}[subject[0]]
    return (number(verb), "nom") in phrase(subject[0], subject[-1])


def subject(name: str, words: list[str], at: int) -> list[str]:
    """The subject of the tested verb, found by position."""
    if name in ("simple", "modifier", "extended_modifier"):
        return words[:at]
    return words[at - 2 : at] if name == "sent_comp" else words[:2]


def test_the_collection_is_beside_the_sets_of_its_language():
    assert [folder.name for folder in collections(folder_of("de"))] == ["cases"]
    assert constructions(folder_of("de/cases")) == CASES
    assert not set(CASES) & set(constructions(folder_of("de")))


@pytest.mark.parametrize("name", CASES)
def test_a_case_has_all_sub_cases_no_fault_and_at_least_the_published_size(name):
    expansion = Expansion(load(folder_of("de/cases"), name))
    found = audit(expansion)
    assert (found.duplicates, found.tautologies, found.syncretic, found.alone) == (0, 0, 0, 0)
    assert found.balanced
    assert not expansion.notices
    assert expansion.count() == found.groups
    sizes = Counter(group.features["sub_case"] for group in groups(name))
    extra = {"plpl"} if name == "prefield" else set()
    assert set(sizes) == set(PUBLISHED_SIZES[name]) | extra
    assert all(sizes[sub_case] >= size for sub_case, size in PUBLISHED_SIZES[name].items())


@pytest.mark.parametrize("name", CASES)
def test_every_pair_is_classified_and_differs_in_one_word(name):
    for group in groups(name):
        features = group.features
        assert features["case"] == name
        assert {"subject_number", "person", "local", "verb_class", "sub_case"} <= set(features)
        assert ("attractor_number" in features) == ("attractor_position" in features)
        numbers = [features[key] for key in ("subject_number", "attractor_number") if key in features]
        if name in AGREEMENT:
            assert features["sub_case"] == "".join({"singular": "sg", "plural": "pl"}[n] for n in numbers)
            assert (features.get("distance", 0) == 0) == (features["local"] == "yes") or name == "prefield"
        good, bad = (sentence.text.split() for sentence in group.sentences)
        assert [a != b for a, b in zip(good, bad, strict=True)].count(True) == 1


def test_every_german_set_says_what_it_tests():
    for folder in ("de", "de/cases"):
        for name in constructions(folder_of(folder)):
            features = [group.features for group in Expansion(load(folder_of(folder), name))]
            assert all({"local", "person", "verb_class"} <= set(each) for each in features), name
            # No gender where the subject is a pronoun; no position where no attractor is named.
            assert all("gender" in each or folder == "de/cases" for each in features), name
            assert all(("attractor_number" in each) == ("attractor_position" in each) for each in features), name
            assert {each["person"] for each in features} <= {"first", "second", "third"}
            classes = {"intransitive", "copula", "transitive", "dative", "reflexive", "phrase"}
            assert {each["verb_class"] for each in features} <= classes, name


@pytest.mark.parametrize("name", AGREEMENT)
def test_genders_are_balanced_where_they_can_be(name):
    for sub_case in PUBLISHED_SIZES[name]:
        chosen = [g for g in groups(name) if g.features["sub_case"] == sub_case and g.features.get("object_case") != "accusative"]
        genders = Counter(g.features["gender"] for g in chosen if "gender" in g.features)
        assert len(genders) == 3
        assert len(set(genders.values())) == 1


def pairs(name: str) -> Iterator[tuple[list[str], list[str], int]]:
    """Words of the good and of the bad sentence, and where they differ."""
    for group in groups(name):
        good, bad = (sentence.text.split() for sentence in group.sentences)
        yield good, bad, next(i for i, (a, b) in enumerate(zip(good, bad, strict=True)) if a != b)


@pytest.mark.parametrize("name", [name for name in AGREEMENT if name not in ("prefield", "within_obj_rel")])
def test_the_good_verb_agrees_with_its_subject_and_the_bad_one_does_not(name):
    for good, bad, at in pairs(name):
        assert agrees(subject(name, good, at), good[at])
        assert not agrees(subject(name, bad, at), bad[at])


@pytest.mark.parametrize("name", ["across_subj_rel", "across_obj_rel", "within_obj_rel"])
def test_relative_clauses_have_one_reading_and_bad_ones_none(name):
    for good, bad, _ in pairs(name):
        assert relative_readings(good) == 1
        assert relative_readings(bad) == (0 if name == "within_obj_rel" else 1)


def test_a_fronted_object_leaves_one_reading_and_a_bad_verb_none():
    for good, bad, at in pairs("prefield"):
        assert at == 2
        assert readings(phrase(*good[:2]), good[2], phrase(*good[3:])) == 1
        assert readings(phrase(*bad[:2]), bad[2], phrase(*bad[3:])) == 0


def test_the_oracle_knows_the_published_fault():
    """Die Frau besuchte die Ärzte: the bad form of a fronted feminine object is a good sentence with another subject."""
    assert readings(phrase("die", "Frau"), "besuchte", phrase("die", "Ärzte")) == 1
    assert relative_readings(["die", "Ärzte", ",", "die", "die", "Frau", "loben"]) == 1
    assert relative_readings(["die", "Ärzte", ",", "die", "die", "Köche", "loben"]) == 2


@pytest.mark.parametrize("name", ["reflexive_person", "reflexive_case"])
def test_reflexive_pronouns(name):
    for good, bad, at in pairs(name):
        pronoun = next(word for word in good if word in REFLEXIVES)
        if name == "reflexive_person":
            assert (good[at], bad[at]) == (REFLEXIVES[pronoun], WRONG_PERSON[pronoun])
        else:
            object_ = bool({"Hut", "Ring"} & set(good))
            assert good[at] == (WRONG_CASE[REFLEXIVES[pronoun]] if object_ else REFLEXIVES[pronoun])
            assert bad[at] == WRONG_CASE[good[at]]


def test_no_sentence_is_good_in_one_german_set_and_bad_in_another():
    good, bad = set(), set()
    for folder in ("de", "de/cases"):
        for name in constructions(folder_of(folder)):
            for group in Expansion(load(folder_of(folder), name)):
                for sentence in group.sentences:
                    (good if sentence.grammatical else bad).add(sentence.text)
    assert not good & bad


def test_the_corpus_shows_every_word_and_keeps_most_of_itself_for_the_other_constructions():
    draw = Draw(load(folder_of("de"), "corpus"), seed=0)
    seen = {word for sentence in itertools.islice(draw, 20_000) for word in sentence.split()}
    words = {word for name in CASES for group in groups(name) for sentence in group.sentences for word in sentence.text.split()}
    assert not words - seen
    special = ["pronoun", "refl", "modifier", "extended_modifier", "prefield", "past", "genitive"]
    without = Draw(load(folder_of("de"), "corpus"), seed=0, withhold=special)
    sentences = list(itertools.islice(without, 20_000))
    assert not any(without.tags[tag] for tag in special)
    assert not {word for s in sentences for word in s.split()} & {
        *REFLEXIVES,
        *REFLEXIVES.values(),
        "mir",
        "dir",
        "wegen",
        "besuchte",
    }
    assert all(0.01 * 20_000 < draw.tags[tag] < 0.15 * 20_000 for tag in special)


def test_no_sentence_names_a_person_twice():
    people = [set(row) for row in zip(*(words.split() for words in (SINGULAR["m"], NOT_DATIVE, DATIVE)), strict=False)]
    for name in ("across_pp", "sent_comp", "prefield", "extended_modifier", "vp_coord_medium"):
        for good, _, _ in pairs(name):
            assert all(sum(word in forms for word in good) <= 1 for forms in people)
