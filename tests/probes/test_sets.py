"""Exports, checks, splits, selections, the cache, and the command."""

from pathlib import Path

import pytest
from set_files import write

from data.grammar.folder import GRAMMARS
from probes.cache import read_cached
from probes.challenge_set import ChallengeSet, SetError, Variant, differing
from probes.collection import Selection, collect, stratified
from probes.exports import export
from probes.lint import check
from probes.pairs import pair
from probes.readers import reader
from probes.rules import Rules, applied
from probes.sets import CONF, collection, main
from probes.splits import forms, split

SHARED = Path(__file__).resolve().parents[3] / "shared/reference"


def ours(lang: str, name: str) -> ChallengeSet:
    return next(iter(reader("grammar").read(GRAMMARS / lang / f"{name}.avg", lang)))


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


def test_blimp_lines_keep_sentences_and_features(tmp_path):
    made = ours("de", "simple_agrmt")
    file = export(made, "blimp", tmp_path)
    (again,) = reader("blimp").read(file, "de")
    assert (again.sentences, again.grammatical) == (made.sentences, made.grammatical)
    assert '"one_prefix_word_good": "lacht"' in file.read_text(encoding="utf-8")
    with pytest.raises(SetError, match="BLiMP holds pairs"):
        export(ours("en", "simple_npi"), "blimp", tmp_path)


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
    assert kinds(pairs(("a b", "a c")), vocabulary={"a", "b"}) == {"target not in vocabulary": 1}
    assert kinds(pairs(("a b", "a c")), vocabulary={"b", "c"}) == {"context not in vocabulary": 1}


def test_odd_space_and_imbalance_are_found():
    made = ChallengeSet("x", "en", "own", "x")
    made.add(
        1,
        {"subject_number": "singular"},
        [Variant("good", True, ("a", "b"), "a  b", ()), Variant("bad", False, ("a", "c"), "a c", ())],
    )
    made.add(2, {"subject_number": "singular"}, pair(("d", "e"), ("d", "f")))
    made.add(3, {"subject_number": "plural"}, pair(("g", "h"), ("g", "i")))
    assert kinds(made) == {"odd white space": 1, "unbalanced": 1}


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
    assert not {forms(made, i) for i in halves.dev} & {forms(made, i) for i in halves.test}
    assert halves.rule == "forms"
    assert min(len(halves.dev), len(halves.test)) > len(made) / 4


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


def test_a_sample_is_balanced_and_seeded():
    made = ours("de", "prep")
    chosen = stratified(made, 500, seed=1)
    cells = [tuple(made.features[i][n] for n in ("subject_number", "attractor_number")) for i in chosen]
    assert {cells.count(cell) for cell in set(cells)} == {125}
    assert chosen == stratified(made, 500, seed=1) != stratified(made, 500, seed=2)


def test_rules_change_how_sentences_look_and_nothing_else():
    made = pairs(("der Hund bellt", "der Hund bellen"), ("der Hund bellt", "der Hund bellen"), ("Ann left .", "Ann leave ."))
    ruled, repeated = applied(made, Rules(capitalize=True))
    assert repeated == 1
    assert ruled.sentences == ["Der Hund bellt .", "Der Hund bellen .", "Ann left .", "Ann leave ."]
    for item in ruled:
        for variant in item.variants:
            ((_, start, end),) = variant.spans
            assert variant.words[start:end][0] in ("bellt", "bellen", "left", "leave")
    as_is, none = applied(made, Rules(final=False, duplicates="all"))
    assert (as_is.sentences, none) == (made.sentences, 0)
    assert (Rules().label(), Rules(capitalize=True, final=False).label()) == ("", "+capitalize-final")


def test_every_collection_states_the_default_rules():
    for file in CONF.glob("*.yaml"):
        assert Rules(**collection(file.stem, "de")["rules"]) == Rules()


def test_a_selection_of_what_is_not_there_is_told_what_is(tmp_path):
    file = write(tmp_path, "clams")
    with pytest.raises(SetError, match="no construction sipmle; there are: simple"):
        collect(file, "fr", None, tmp_path / "cache", Selection(("sipmle",)))


@pytest.mark.parametrize("form", ["clams", "blimp", "syntaxgym", "grammar", "marvin_linzen"])
def test_the_cache_gives_the_same_set_and_notices_changes(tmp_path, form):
    file = write(tmp_path, form)
    cold, warm = (read_cached(file, "de", form, tmp_path / "cache") for _ in range(2))
    assert [content(made) for made in warm] == [content(made) for made in cold]
    assert [made.contrasts for made in warm] == [made.contrasts for made in cold]
    (cached,) = (tmp_path / "cache").iterdir()
    cached.write_text("damaged")
    assert [content(made) for made in read_cached(file, "de", form, tmp_path / "cache")] == [content(made) for made in cold]
    if form == "clams":
        file.write_text(file.read_text() + "True\tnew one\nFalse\tnew two\n")
        assert len(read_cached(file, "de", form, tmp_path / "cache")[0]) == len(cold[0]) + 1


def test_views_know_their_source_and_keep_their_name():
    made = ours("de", "simple_agrmt")
    assert made[0].uid == made.subset([5, 0])[1].uid != made[1].uid
    assert made[-1] == made[len(made) - 1]
    with pytest.raises(IndexError, match="there is no number 999"):
        made[999]
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
    assert "error: /no/such/folder: there is no such file or folder" in capsys.readouterr().err


@pytest.mark.parametrize("file", sorted(CONF.glob("*.yaml")))
def test_every_collection_names_a_format_that_there_is(file, capsys):
    settings = collection(file.stem, "de")
    assert settings["format"] is None or reader(settings["format"])
    if file.stem != "agreement":
        assert main(["list", "de", "--collection", file.stem]) == 1
        assert "give its folder with --path" in capsys.readouterr().err
