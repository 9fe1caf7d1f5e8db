"""From trees to items: forms, features, heuristics, controls, files."""

import json
from collections import Counter
from random import Random

import pytest
from concord.commands.sets import main
from concord.data.patterns import find_pattern
from concord.data.prefix_heuristics import NAMES, Marked, choices, heuristic_features
from concord.data.trees import parse_trees, read_trees
from concord.places import installed_folder
from concord.probes.collection import ItemSelection, collect
from concord.probes.treebanks.controls import Controls, original_uid
from concord.probes.treebanks.extraction import Extraction, Filters, set_name
from concord.probes.treebanks.tree_items import distance_bin
from concord.probes.treebanks.word_forms import AMBIGUOUS, EQUAL, NONE, Endings, Paradigms, other_form
from hypothesis import given
from hypothesis import strategies as st

SAMPLE = installed_folder("patterns") / "fr" / "sample.conllu"
PATTERN = find_pattern("fr/obj_participle")


@pytest.fixture(scope="module")
def extraction():
    made = Extraction(PATTERN, [SAMPLE])
    return made, list(made)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    assert main(["extract", "fr/obj_participle", str(SAMPLE), "--lang", "fr", "--out", str(folder)]) == 0
    return folder


def objects(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()[1:]]


def test_every_candidate_is_an_item_or_counted(extraction):
    made, items = extraction
    assert made.funnel.items == len(items) == 33
    *_, (_, _, left) = made.funnel.steps()
    assert left == 33
    assert made.funnel.removed[NONE] == 1  # pris has no singular of its own


def test_the_other_form_differs_in_number_alone(extraction):
    pairs = {(item.good, item.other) for item in extraction[1]}
    assert {("écrites", "écrite"), ("lu", "lus"), ("choisis", "choisi"), ("ouverte", "ouvertes")} <= pairs
    assert all(good == f"{bad}s" or bad == f"{good}s" for good, bad in pairs)


@pytest.mark.parametrize(
    ("form", "lemma", "value", "other"),
    [
        ("mis", "mettre", "Plur", ""),
        ("mis", "mettre", "Sing", ""),
        ("inclus", "inclure", "Plur", ""),
        ("acquis", "acquérir", "Plur", ""),
        ("finis", "finir", "Plur", "fini"),
        ("vus", "voir", "Plur", "vu"),
        ("mises", "mettre", "Plur", "mise"),
        ("faits", "faire", "Plur", "fait"),
        ("aimé", "aimer", "Sing", "aimés"),
    ],
)
def test_french_participles_by_rule(form, lemma, value, other):
    (tree,) = parse_trees([f"1\t{form}\t{lemma}\tVERB\t_\tNumber={value}\t0\troot\t_\t_"], "a")
    rules = Endings(PATTERN.endings)
    found, _ = other_form(tree[1], "Number", "Sing" if value == "Plur" else "Plur", [rules])
    assert found == other


def test_forms_that_are_ambiguous_equal_or_unknown_are_told_apart():
    known = Paradigms()
    for form, lemma, feats in [("a", "x", "Number=Plur"), ("b", "x", "Number=Plur"), ("c", "y", "Number=Plur")]:
        known.add(lemma, "VERB", feats, form)
    known.add("z", "VERB", "Gender=Fem|Number=Sing", "f")
    known.add("z", "VERB", "Gender=Masc|Number=Sing", "m")

    def ask(form, lemma, feats="Number=Sing", value="Plur", gender=""):
        (tree,) = parse_trees([f"1\t{form}\t{lemma}\tVERB\t_\t{feats}\t0\troot\t_\t_"], "a")
        return other_form(tree[1], "Number", value, [known], gender)

    assert ask("q", "x") == ("", AMBIGUOUS)
    assert ask("c", "y") == ("", EQUAL)
    assert ask("q", "y") == ("c", "")
    assert ask("Q", "y") == ("C", "")
    assert ask("q", "w") == ("", NONE)
    assert ask("p", "z", "Number=Plur", "Sing", "Fem") == ("f", "")  # the gender of what it agrees with
    assert ask("p", "z", "Number=Plur", "Sing") == ("", AMBIGUOUS)
    for _ in range(40):
        known.add("x", "VERB", "Number=Plur", "a")
    assert ask("q", "x") == ("a", "")  # one in forty is a slip


@pytest.mark.parametrize(
    ("distance", "name"),
    [(0, "0"), (1, "1"), (2, "2"), (3, "3-4"), (4, "3-4"), (5, "5-6"), (13, "13-14"), (14, "13-14"), (15, "15+"), (40, "15+")],
)
def test_distance_bins(distance, name):
    assert distance_bin(distance) == name


def naive(prefix):
    """h1 to h4 once more, word by word."""
    first = last = anything = majority = ""
    singular = plural = 0
    for noun, number in prefix:
        if number == "":
            continue
        if noun and first == "":
            first = number
        if noun:
            last = number
        anything = number
        singular, plural = singular + (number == "Sing"), plural + (number == "Plur")
    if singular != plural:
        majority = "Sing" if singular > plural else "Plur"
    elif singular:
        majority = anything
    return first, last, anything, majority


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(["", "Sing", "Plur"])), max_size=12), st.sampled_from(["Sing", "Plur"]))
def test_heuristics_agree_with_a_naive_implementation(prefix, number):
    marked = [Marked(*word) for word in prefix]
    assert choices(marked) == naive(prefix)
    features = heuristic_features(marked, number)
    assert features["n_heuristics"] == sum(features[name] == "right" for name in NAMES)


def test_the_four_accuracies_sum_to_the_mean_number_of_right_heuristics(written):
    for file in written.glob("*.jsonl"):
        features = [each["features"] for each in objects(file)]
        shares = [sum(each[name] == "right" for each in features) / len(features) for name in NAMES]
        assert sum(shares) == pytest.approx(sum(each["n_heuristics"] for each in features) / len(features))


def test_multiword_tokens_are_merged_and_carry_no_number(extraction):
    item = next(item for item in extraction[1] if item.sentence == "sample-20")
    assert [token.form for token in item.tokens[:4]] == ["Le", "projet", "des", "villages"]
    assert item.tokens[2].word is None
    features = item.features()
    # le projet des villages que les avocats ont montré: Sing Sing - Plur Plur Plur Plur
    assert [features[name] for name in NAMES] == ["right", "wrong", "wrong", "wrong"]
    assert (features["distance"], features["n_attractors"], features["auxiliary_number"]) == (6, 2, "plural")


def test_permuted_prefixes_are_permutations(written):
    originals = {each["uid"]: each for each in objects(written / "obj_participle.jsonl")}
    permuted = objects(written / "obj_participle_permuted.jsonl")
    assert [each["uid"] for each in permuted] == list(originals)
    moved = 0
    for each in permuted:
        original = originals[each["uid"]]
        for one, two in zip(each["variants"], original["variants"], strict=True):
            words, (start, end) = two["sentence"].split(), next(s[1:] for s in two["spans"] if s[0] == "target")
            *prefix, target = one["sentence"].split()
            assert Counter(prefix) == Counter(words[:start])
            assert [target] == words[start:end]
            moved += prefix != words[:start]
        assert each["features"]["n_heuristics"] == original["features"]["n_heuristics"]
    assert moved > 50


def test_nonce_words_have_the_part_of_speech_and_features_of_the_original():
    made = Extraction(PATTERN, [SAMPLE])
    controls = Controls(PATTERN, made.sources, None, ["nonce"])
    assert sum(1 for _ in controls.harvest(made.trees())) == 62
    parts = Counter()
    for tree in read_trees(SAMPLE):
        parts.update({(word.form.lower(), word.upos): 1 for word in tree.words})
    several = {form for form, _ in parts if sum(key[0] == form for key in parts) > 1}
    count = 0
    for item in made:
        group = item.features()["n_heuristics"]
        for control in controls.of(item, "u"):
            count += 1
            assert control.features["n_heuristics"] == group
            assert original_uid(control.uid) == "u"
            for old, new in zip(item.tokens, control.item.tokens, strict=True):
                if old.upos in PATTERN.content:
                    assert (new.word.upos, new.word.feats, new.form[0].isupper()) == (
                        old.word.upos,
                        old.word.feats,
                        old.form[0].isupper(),
                    )
                    assert new.word.lemma != old.word.lemma
                    assert new.form.lower() not in several
                else:
                    assert new == old
    assert count == 93
    assert controls.failed == {("nonce", "no other word like one of its words"): 2}


# Read one by one.
MIRRORS = {
    "sample-1": "La lettre qu'elle a écrite",
    "sample-5": "Le voisin de l'avocat admire le tableau que le musée a acheté",
    "sample-10": "Un ami montre la fenêtre que la fille a fermée",
    "sample-14": "Des messages qu'elles ont oubliés",
    "sample-17": "Ils admirent de grandes maisons que ses amis ont vendues",
    "sample-20": "Les projets des villages que les avocats ont montrés",
    "sample-21": "Elles regardent l'image qu'a peinte",
    "sample-35": "Les idées qu'ils ont gardées",
    "sample-37": "Dans le jardin, la vieille chaise qu'il a peinte",
}


def test_mirrors_are_french(written):
    found = {each["features"]["sentence"]: each for each in objects(written / "obj_participle_mirror.jsonl")}
    assert {name: found[name]["variants"][0]["text"] for name in MIRRORS} == MIRRORS
    originals = {each["uid"]: each["features"]["subject_number"] for each in objects(written / "obj_participle.jsonl")}
    assert all(originals[each["uid"]] != each["features"]["subject_number"] for each in found.values())
    # plusieurs, chaque, trois livres; nouns of which the sample has one number only
    assert not {"sample-25", "sample-26", "sample-27"} & set(found)


def test_sets_are_read_again_and_keep_their_names(written, tmp_path):
    sets = {
        each.challenge_set.construction: each.challenge_set for each in collect(written, "fr", None, tmp_path, ItemSelection())
    }
    assert set(sets) == {"obj_participle", *(f"obj_participle_{kind}" for kind in ("permuted", "nonce", "mirror"))}
    original = sets["obj_participle"]
    names = [original.uid(i) for i in range(len(original))]
    assert len(set(names)) == 33
    assert [sets["obj_participle_permuted"].uid(i) for i in range(33)] == names
    for kind in ("nonce", "mirror"):
        other = sets[f"obj_participle_{kind}"]
        assert {original_uid(other.uid(i)) for i in range(len(other))} <= set(names)
    again = collect(written, "fr", None, tmp_path, ItemSelection())  # from the cache
    assert [each.challenge_set.uid(0) for each in again] == [each.uid(0) for each in sets.values()]
    assert original[0].variants[0].text == "Les lettres qu'elle a écrites restent sur la table."


def test_filters_are_counted(tmp_path):
    words = {word for tree in read_trees(SAMPLE) for token in tree.written() for word in [token.form]} - {"écrite", "écrites"}
    made = Extraction(PATTERN, [SAMPLE], filters=Filters(vocabulary=words))
    items = list(made)
    assert made.funnel.items == len(items)
    assert all(item.good in words and item.other in words for item in items)
    assert "sample-1" not in {item.sentence for item in items}
    twice = Extraction(PATTERN, [SAMPLE, SAMPLE])
    assert len(list(twice)) == 33
    assert twice.funnel.removed["repeats another item from cue to target"] == 33


def test_parsed_sets_carry_the_parser_and_are_not_mixed(tmp_path, capsys):
    parsed = tmp_path / "fr_parsed.conllu"
    parsed.write_text(
        SAMPLE.read_text(encoding="utf-8").replace("# sent_id", "# parser = spacy:fr_sm-3.8\n# sent_id"), encoding="utf-8"
    )
    made = Extraction(PATTERN, [parsed])
    assert set_name(PATTERN, made.parser) == "obj_participle_fr_sm_3_8"
    assert main(["extract", "fr/obj_participle", str(SAMPLE), str(parsed), "--lang", "fr", "--out", str(tmp_path / "x")]) == 1
    assert "parsed by spacy:fr_sm-3.8, but others by hand; make a separate set of each" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["extract", "fr/obj_participle", "no.conllu", "--out", "o", "--lang", "fr"], "no.conllu: cannot be read"),
        (["extract", "sv_number", "a.conllu", "--out", "o"], "a.conllu: the file names do not tell the language"),
        (
            ["extract", "fr/obj_participle", str(SAMPLE), "--lang", "fr", "--out", "o", "--controls", "mirrors"],
            "--controls mirrors: no such control; available: permuted",
        ),
        (
            ["extract", "fr/obj_participle", str(SAMPLE), "--lang", "fr", "--out", "o", "--lexicon", "x.dic"],
            "x.dic: a lexicon must be a .conllu file, a .tsv table or one of",
        ),
    ],
)
def test_wrong_calls_are_told_in_one_line(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_shuffles_depend_on_the_item_and_on_nothing_else(extraction):
    from concord.probes.treebanks.controls import permuted

    item = extraction[1][0]
    Random(5).random()
    assert permuted(item, "a") == permuted(item, "a")
