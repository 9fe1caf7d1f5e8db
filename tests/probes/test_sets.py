"""Exports, checks, splits, selections, the cache, and the command."""

import random
from pathlib import Path

import pytest
from concord.commands.sets import main
from concord.data.grammar import folder_of
from concord.probes.cache import read_cached
from concord.probes.challenge_set import ChallengeSet, SetError, differing, merge_sets
from concord.probes.collection import ItemSelection, collect, split, stratified_sample, target_forms
from concord.probes.contract import Rules, apply_rules, make_contract
from concord.probes.contrast import pair_contrast
from concord.probes.exports import export
from concord.probes.lint import check
from concord.probes.named_collections import named_collection
from concord.probes.pairs import pair
from concord.probes.probe import build_probe
from concord.probes.probe_series import sample_probe
from concord.probes.readers import reader
from concord.settings.probing import collection_files
from set_files import write

SHARED = Path(__file__).resolve().parents[3] / "shared/reference"


def ours(lang: str, name: str) -> ChallengeSet:
    return next(iter(reader("grammar").read(folder_of(lang) / f"{name}.avg", lang)))


def pairs(*sentences: tuple[str, str], **features: str) -> ChallengeSet:
    made = ChallengeSet("x", "de", "own", "x.tsv")
    for line, (good, bad) in enumerate(sentences, start=1):
        made.add(line, features, pair(tuple(good.split()), tuple(bad.split())))
    return made


def content(made: ChallengeSet):
    return [(item.features, item.variants) for item in made]


@pytest.mark.parametrize(
    ("lang", "name"), [("de", "prep"), ("he", "obj_rel_within"), ("fr", "long_vp_coord"), ("en", "npi_across")]
)
def test_our_own_lines_lose_nothing(tmp_path, lang, name):
    made = ours(lang, name)
    (again,) = reader("own").read(export(made, "jsonl", tmp_path), "")
    assert content(again) == content(made)
    assert (again.construction, again.language, again.contrasts) == (made.construction, lang, made.contrasts)


@pytest.mark.parametrize(("lang", "name"), [("de", "vp_coord"), ("ru", "simple_agrmt"), ("en", "simple_npi")])
def test_clams_text_keeps_sentences_and_labels(tmp_path, lang, name):
    made = ours(lang, name)
    (again,) = reader("clams").read(export(made, "clams", tmp_path), lang)
    assert (again.sentences, again.grammatical, again.firsts) == (made.sentences, made.grammatical, made.firsts)


def test_our_sets_as_clams_text_are_not_taken_for_the_published_ones(tmp_path):
    """They have the same names, but blocks of their own: no features are better than wrong ones."""
    for lang, name in (("de", "subj_rel"), ("fr", "vp_coord"), ("he", "simple_agrmt")):
        (again,) = reader("clams").read(export(ours(lang, name), "clams", tmp_path), lang)
        assert not any(again.features)


def test_blimp_lines_keep_sentences_and_features(tmp_path):
    made = ours("de", "simple_agrmt")
    file = export(made, "blimp", tmp_path)
    (again,) = reader("blimp").read(file, "de")
    assert (again.sentences, again.grammatical, again.spans) == (made.sentences, made.grammatical, made.spans)
    assert [dict(features) for features in again.features] == [dict(features) for features in made.features]
    assert '"one_prefix_word_good": "lacht"' in file.read_text(encoding="utf-8")
    with pytest.raises(SetError, match=r"simple_npi.avg, item 1: BLiMP can only hold pairs of one good and one bad sentence"):
        export(ours("en", "simple_npi"), "blimp", tmp_path)
    assert not (tmp_path / "simple_npi.jsonl").exists()
    with pytest.raises(SetError, match="BLiMP already has a field two_prefix_word"):
        export(pairs(("a b", "a c"), two_prefix_word="x"), "blimp", tmp_path)


def test_no_name_leads_out_of_the_folder_of_an_export(tmp_path):
    made = pairs(("a b", "a c"))
    made.construction = "../outside"
    with pytest.raises(SetError, match="'../outside' cannot be a file name"):
        export(made, "clams", tmp_path / "in")
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").touch()
    with pytest.raises(SetError, match=r"x.txt: cannot be written"):
        export(pairs(("a b", "a c")), "clams", tmp_path / "file")


def test_files_of_one_construction_become_one_set():
    """gevalm has one file per condition; each item still knows its own."""
    one, two, other = pairs(("a b", "a c"), ("d b", "d c")), pairs(("e b", "e c")), pairs(("f b", "f c"))
    two.file, other.construction = "y.tsv", "other"
    whole, alone = merge_sets([one, other, two])
    assert content(whole) == content(one) + content(two)
    assert [whole.place(i) for i in range(3)] == ["x.tsv:1", "x.tsv:2", "y.tsv:1"]
    assert whole.subset([2])[0].source.file == "y.tsv"
    assert alone is other
    two.contrasts = (pair_contrast("target", "good", "bad", "target"),)
    with pytest.raises(SetError, match=r"y.tsv: x is also in x.tsv, with other contrasts"):
        merge_sets([one, two])


def kinds(*sets: ChallengeSet, vocabulary=None) -> dict[str, int]:
    return {finding.kind: finding.count for finding in check(list(sets), vocabulary)}


def test_the_check_finds_each_kind_of_fault():
    assert kinds(pairs(("a b", "a c"), ("a b", "a c"))) == {"set twice": 1}
    assert kinds(pairs(("a b", "a b"))) == {"identical variants": 1}
    assert kinds(pairs(("est petit", "sont petits"))) == {"several differing words": 1}
    assert kinds(pairs(("a b", "a c d"))) == {"unequal lengths": 1}
    assert kinds(pairs(("er spricht und spricht", "er spricht und sprechen"))) == {"tautology": 1}
    assert kinds(pairs(("a b", "a c"), ("a c", "a d"))) == {"both good and bad": 1}
    assert kinds(pairs(("un e\u0301te\u0301", "un x"))) == {"not in NFC": 1}
    assert kinds(pairs(("пaр б", "пaр в"))) == {"mixed scripts": 2}  # a Latin a in a Cyrillic word
    assert kinds(pairs(("он c ним", "он c ней"))) == {"mixed scripts": 2}  # a Latin c that is a word by itself
    assert kinds(pairs(("il est à\u00adgé", "il est âgés"))) == {"invisible characters": 1}
    assert kinds(pairs(("a b", "a c"), ("a b", "a d"))) == {"sentence twice": 1}
    assert kinds(pairs(("a b", "a c")), vocabulary={"a", "b"}) == {"target not in vocabulary": 1}
    assert kinds(pairs(("a b", "a c")), vocabulary={"b", "c"}) == {"context not in vocabulary": 1}


def test_an_unknown_target_counts_whatever_is_missing_around_it():
    made = pairs(("the b", "the c"), ("x b", "x d"))
    found = {finding.kind: finding for finding in check([made], {"b", "c", "the"})}
    # The second item's first variant lacks a context word only, but its second one a target.
    assert found.keys() == {"target not in vocabulary"}
    assert found["target not in vocabulary"].example == "items per word: d 1"


def test_a_sentence_with_nothing_to_compare_it_with_is_found(tmp_path):
    (tmp_path / "a.txt").write_text("True\ta b\nTrue\tc d\nFalse\tc e\n")
    (made,) = reader("clams").read(tmp_path / "a.txt", "")
    assert kinds(made) == {"nothing to compare with": 1}


@pytest.mark.parametrize(
    ("name", "form", "text"),
    [
        ("a.txt", "clams", "True\ta  b\nFalse\ta c\n"),
        ("a.txt", "clams", "True\ta b \nFalse\ta c\n"),
        ("a.tsv", "own", "good\tbad\na\u00a0b\ta c\n"),
        ("a.jsonl", "own", '{"good": "a\\tb", "bad": "a c"}\n'),
    ],
)
def test_odd_space_is_found_in_every_format(tmp_path, name, form, text):
    """Sets hold words, so that only the file itself shows it."""
    (tmp_path / name).write_text(text)
    (made,) = reader(form).read(tmp_path / name, "")
    (finding,) = check([made])
    assert (finding.kind, finding.count) == ("odd white space", 1)
    assert finding.place in {f"{tmp_path / name}:1", f"{tmp_path / name}:2"}


def test_imbalance_is_found_even_if_a_combination_is_not_there_at_all():
    def cells(*numbers: tuple[str, str]) -> ChallengeSet:
        made = ChallengeSet("x", "en", "own", "x")
        for line, (subject, attractor) in enumerate(numbers, start=1):
            features = {"subject_number": subject, "attractor_number": attractor}
            made.add(line, features, pair((f"a{line}", "b"), (f"a{line}", "c")))
        return made

    assert kinds(cells(("s", "p"), ("s", "p"), ("p", "p"))) == {"unbalanced": 1}
    assert kinds(cells(("s", "p"), ("p", "s"))) == {"unbalanced": 1}
    assert kinds(cells(("s", "p"), ("p", "s"), ("s", "s"), ("p", "p"))) == {}


def test_sets_that_share_sentences_are_told():
    one, two = pairs(("a b", "a c")), pairs(("a b", "a d"))
    two.construction = "y"
    assert kinds(one, two) == {"sentence of another set": 1}


@pytest.mark.skipif(not SHARED.is_dir(), reason="the published sets are not on this machine")
def test_the_known_faults_of_the_published_french_sets():
    sets = [made for file in sorted((SHARED / "clams_fr/evalset").iterdir()) for made in reader("clams").read(file, "fr")]
    found = check(sets)
    assert sum(f.count for f in found if f.kind == "several differing words") == 16_140
    assert {f.construction: f.count for f in found if f.kind == "tautology"} == {"long_vp_coord": 100, "vp_coord": 140}


@pytest.mark.parametrize("lang", ["de", "he"])
@pytest.mark.parametrize("name", ["prep", "obj_rel_within", "long_vp_coord"])
def test_the_verbs_of_test_are_not_those_of_dev(lang, name):
    made = ours(lang, name)
    halves = split(made)
    assert sorted(halves.dev + halves.test) == list(range(len(made)))
    assert not {target_forms(made, i) for i in halves.dev} & {target_forms(made, i) for i in halves.test}
    assert halves.rule == "forms"
    assert min(len(halves.dev), len(halves.test)) >= len(made) / 4


def test_few_forms_are_split_by_context_or_item():
    words = [(f"{subject} is here", f"{subject} are here") for subject in ("he", "she", "it", "this", "that")]
    assert split(pairs(*words)).rule == "context word"
    halves = split(pairs(*[("he is here", "he are here")] * 6))
    assert halves.rule == "item"
    assert len(halves.dev) + len(halves.test) == 6


def test_a_split_never_depends_on_what_else_is_there():
    made = ours("de", "simple_agrmt")
    halves = split(made)
    again = split(made.subset(list(reversed(range(len(made))))))
    uids = {made.uid(i) for i in halves.dev}
    reversed_set = made.subset(list(reversed(range(len(made)))))
    assert {reversed_set.uid(i) for i in again.dev} == uids


def test_a_verb_of_dev_is_one_of_dev_in_every_set_and_however_it_is_written():
    verbs = [f"verb{i}" for i in range(12)]
    everything = pairs(*((f"a {verb}", f"a {verb}s") for verb in verbs))
    few = pairs(*((f"{verb} b", f"{verb}s b") for verb in verbs[:6]))
    few_capital = pairs(*((f"{verb.title()} b", f"{verb.title()}s b") for verb in verbs[:6]))
    in_dev = {target_forms(everything, i) for i in split(everything).dev}
    assert {target_forms(few, i) for i in split(few).dev} == {target_forms(few, i) for i in range(6)} & in_dev
    assert split(few_capital) == split(few)


@pytest.mark.parametrize("limit", [None, 6])
def test_a_part_of_a_set_keeps_what_is_set_aside_for_model_selection(tmp_path, limit):
    rows = [f"the noun{noun} verb{verb}\tthe noun{noun} verb{verb}s" for verb in range(12) for noun in range(4)]
    file = tmp_path / "own.tsv"
    file.write_text("\n".join(["good\tbad", *rows]) + "\n", encoding="utf-8")
    for part, marks in (("all", {True, False}), ("dev", {True}), ("test", {False})):
        selection = ItemSelection(limit=limit, part=part, contract=make_contract("default", {}))
        probe = build_probe("own", "en", collect(file, "en", None, tmp_path / "cache", selection))
        assert set(probe.contrasts.dev.tolist()) == marks
        assert set(sample_probe(probe, 4, 0).contrasts.dev.tolist()) == marks


@pytest.mark.parametrize("rule", ["forms", "context word", "item"])
def test_the_rules_of_scoring_move_nothing_from_dev_to_test(rule):
    sentences = {
        "forms": [(f"is{i} he", f"are{i} he") for i in range(8)],
        "context word": [(f"man{i} is", f"man{i} are") for i in range(8)],
        "item": [(f"{a} {b} {c} is", f"{a} {b} {c} are") for a in "ab" for b in "cd" for c in "ef"],
    }
    made = pairs(*sentences[rule])
    ruled, _ = apply_rules(made, Rules(capitalize=True))
    assert split(ruled) == split(made)
    assert split(made).rule == rule


def test_a_context_word_of_few_kinds_is_passed_over():
    nouns = ("king", "monk", "queen", "nun", "clerk")
    made = pairs(*((f"{det} {noun} is here", f"{det} {noun} are here") for det in ("the", "some") for noun in nouns))
    halves = split(made)
    assert halves.rule == "context word"
    sides = [{made[i]["good"].words[1] for i in half} for half in (halves.dev, halves.test)]
    assert not sides[0] & sides[1]


def test_a_sample_is_balanced_and_seeded():
    made = ours("de", "prep")
    chosen = stratified_sample(made, 500, seed=1)
    cells = [tuple(made.features[i][n] for n in ("subject_number", "attractor_number")) for i in chosen]
    assert {cells.count(cell) for cell in set(cells)} == {125}
    assert chosen == stratified_sample(made, 500, seed=1) != stratified_sample(made, 500, seed=2)


def test_rules_change_how_sentences_look_and_nothing_else():
    made = pairs(("der Hund bellt", "der Hund bellen"), ("der Hund bellt", "der Hund bellen"), ("Ann left .", "Ann leave ."))
    ruled, repeated = apply_rules(made, Rules(capitalize=True))
    assert repeated == 1
    assert ruled.sentences == ["Der Hund bellt .", "Der Hund bellen .", "Ann left .", "Ann leave ."]
    for item in ruled:
        for variant in item.variants:
            ((_, start, end),) = variant.spans
            assert variant.words[start:end][0] in ("bellt", "bellen", "left", "leave")
    as_is, none = apply_rules(made, Rules(final=False, duplicates="all"))
    assert (as_is.sentences, none) == (made.sentences, 0)
    # An item keeps its name, whatever the rules make of its sentences.
    assert [ruled.uid(0), ruled.uid(1)] == [made.uid(0), made.uid(2)]


def test_a_selection_of_what_is_not_there_is_told_what_is(tmp_path):
    file = write(tmp_path, "clams")
    with pytest.raises(SetError, match="no construction sipmle; available: simple"):
        collect(file, "fr", None, tmp_path / "cache", ItemSelection(("sipmle",)))


@pytest.mark.parametrize("form", ["clams", "blimp", "syntaxgym", "grammar", "marvin_linzen"])
def test_the_cache_gives_the_same_set_and_notices_changes(tmp_path, form):
    file = write(tmp_path, form)
    cold, warm = (read_cached(file, "de", form, tmp_path / "cache") for _ in range(2))
    assert [content(made) for made in warm] == [content(made) for made in cold]
    assert [made.contrasts for made in warm] == [made.contrasts for made in cold]
    assert [made.file for made in warm] == [made.file for made in cold] == [str(file)] * len(cold)
    (cached,) = (tmp_path / "cache").iterdir()
    cached.write_text("damaged")
    assert [content(made) for made in read_cached(file, "de", form, tmp_path / "cache")] == [content(made) for made in cold]
    intact, draw = cached.read_bytes(), random.Random(0)
    for _ in range(60):
        damaged = bytearray(intact)
        damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
        cached.write_bytes(damaged)
        assert [content(made) for made in read_cached(file, "de", form, tmp_path / "cache")] == [content(made) for made in cold]
    if form == "clams":
        file.write_text(file.read_text() + "True\tnew one\nFalse\tnew two\n")
        assert len(read_cached(file, "de", form, tmp_path / "cache")[0]) == len(cold[0]) + 1


def test_views_know_their_source_and_keep_their_name():
    made = ours("de", "simple_agrmt")
    assert made[0].uid == made.subset([5, 0])[1].uid != made[1].uid
    assert made[-1] == made[len(made) - 1]
    with pytest.raises(IndexError, match="minimal sets, but no number 999"):
        made[999]
    with pytest.raises(KeyError, match="no variant 'worse'; available: good, bad"):
        made[0]["worse"]
    assert differing(["a", "b", "c"], ["a", "x", "y", "c"]) == ((1, 2), (1, 3))


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CONCORD_CACHE", str(tmp_path / "concord"))


def test_the_command_lists_shows_checks_and_exports(tmp_path, capsys):
    assert main(["list", "de", "prep"]) == 0
    assert "12,800" in capsys.readouterr().out
    assert main(["show", "de", "prep", "-n", "1"]) == 0
    assert "* " in capsys.readouterr().out
    assert main(["export", "de", "simple_agrmt", "--to", "clams", "--out", str(tmp_path)]) == 0
    assert main(["check", str(tmp_path / "simple_agrmt.txt"), "--lang", "de"]) == 0
    captured = capsys.readouterr()
    assert "160 items in 1 sets" in captured.out
    assert "read as clams" in captured.err


def test_serious_faults_set_the_exit_status(tmp_path, capsys):
    (tmp_path / "a.txt").write_text("True\ta b\nFalse\ta b\n")
    assert main(["check", str(tmp_path / "a.txt"), "--lang", "de"]) == 1
    assert "identical variants" in capsys.readouterr().out
    assert main(["list", "/no/such/folder"]) == 1
    assert "error: /no/such/folder: no such file or folder" in capsys.readouterr().err


def test_wrong_calls_are_explained(capsys):
    assert main(["list", "de", "--lang", "en"]) == 1
    assert "--lang en: these sets are for de" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["show", "de", "-n", "0"])
    assert "-n: 0: must be a whole number above 0" in capsys.readouterr().err


@pytest.mark.parametrize("name", [name for name in collection_files() if name != "none"])
def test_every_collection_names_a_format_that_there_is(name, capsys):
    found = named_collection(name, "de")
    assert found.format is None or reader(found.format)
    if found.path is None:
        assert main(["list", "de", "--collection", name]) == 1
        assert "give its folder (--path, path=)" in capsys.readouterr().err


def test_the_collection_without_sets_is_told_in_a_line(capsys):
    assert main(["list", "de", "--collection", "none"]) == 1
    assert "none: this collection has no sets; choose one of agreement, blimp" in capsys.readouterr().err


def test_shared_sentences_are_counted_in_items(tmp_path):
    """Both sentences of an item are those of another set: one item, not two."""
    for name in ("one", "two"):
        (tmp_path / f"{name}.txt").write_text("True\tder Gast lacht\nFalse\tder Gast lachen\n", encoding="utf-8")
    sets = [each.challenge_set for each in collect(tmp_path, "xx", None, tmp_path / "cache", ItemSelection())]
    found = {finding.kind: finding.count for finding in check(sets)}
    assert found["sentence of another set"] == 1


def test_two_words_in_one_are_found(tmp_path):
    rows = "True\tno play that they appreciatedbeen known\nFalse\tmost play that they appreciatedbeen known\n"
    rows += "True\tno play that they appreciated has been known\nFalse\tmost play that they appreciated has been known\n"
    (tmp_path / "npi.txt").write_text(rows, encoding="utf-8")
    sets = [each.challenge_set for each in collect(tmp_path, "xx", None, tmp_path / "cache", ItemSelection())]
    found = next(finding for finding in check(sets) if finding.kind == "two words in one")
    assert (found.count, found.example, found.serious) == (1, "appreciatedbeen (appreciated been)", False)


def test_the_help_tells_what_is_checked_and_what_cannot_be(capsys):
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    shown = capsys.readouterr().out
    assert "two words in one" in shown
    assert "What no check here can find" in shown
