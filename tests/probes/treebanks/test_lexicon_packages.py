"""The other form from packages: by hand, and against the forms that treebanks show."""

import sys
from pathlib import Path

import pytest
from concord.commands.sets import main
from concord.data.trees import Word, read_trees
from concord.probes.treebanks.lexicon_packages import load_package
from concord.probes.treebanks.word_forms import Paradigms

UD = Path(__file__).resolve().parents[4] / "shared/reference/ud"
SENTENCE = """\
# sent_id = one
1\tthe\tthe\tDET\tDT\tDefinite=Def\t2\tdet\t_\t_
2\tbees\tbee\tNOUN\tNNS\tNumber=Plur\t3\tnsubj\t_\t_
3\tbuzz\tbuzz\tVERB\tVBP\tMood=Ind|Number=Plur|Person=3|Tense=Pres|VerbForm=Fin\t0\troot\t_\t_

"""


def word(form: str, lemma: str, features: str, upos: str = "VERB") -> Word:
    return Word(1, form, lemma, upos, "_", features, 0, "root", "_", "_")


@pytest.mark.parametrize(
    ("form", "lemma", "features", "value", "expected"),
    [
        ("sings", "sing", "Number=Sing|Person=3|Tense=Pres", "Plur", {"sing"}),
        ("sing", "sing", "Number=Plur|Tense=Pres", "Sing", {"sings"}),
        ("goes", "go", "Number=Sing|Person=3|Tense=Pres", "Plur", {"go"}),
        ("have", "have", "Number=Plur|Tense=Pres", "Sing", {"has"}),
        ("sang", "sing", "Number=Sing|Tense=Past", "Plur", set()),  # has no number
        ("is", "be", "Number=Sing|Person=3|Tense=Pres", "Plur", set()),  # am, is, are have one tag
        ("blorks", "blork", "Number=Sing|Person=3|Tense=Pres", "Plur", set()),  # not in its lexicon: nothing is invented
    ],
)
def test_english_verbs(form, lemma, features, value, expected):
    pytest.importorskip("lemminflect", reason="needs the extra lexicons")
    assert load_package("lemminflect").other(word(form, lemma, features), "Number", value) == expected


@pytest.mark.parametrize(
    ("form", "lemma", "features", "value", "gender", "expected"),
    [
        ("пишет", "писать", "Number=Sing|Person=3|Tense=Pres", "Plur", "", {"пишут"}),
        ("идут", "идти", "Number=Plur|Person=3|Tense=Pres", "Sing", "", {"идет"}),  # the text writes е
        ("поёт", "петь", "Number=Sing|Person=3|Tense=Pres", "Plur", "", {"поют"}),
        ("пришла", "прийти", "Gender=Fem|Number=Sing|Tense=Past", "Plur", "", {"пришли"}),
        ("пришли", "прийти", "Number=Plur|Tense=Past", "Sing", "Fem", {"пришла"}),
        ("пришли", "прийти", "Number=Plur|Tense=Past", "Sing", "Neut", {"пришло"}),
        ("пришли", "прийти", "Number=Plur|Tense=Past", "Sing", "", set()),  # which of three nobody says
        ("пишет", "рисовать", "Number=Sing|Person=3|Tense=Pres", "Plur", "", set()),  # another lemma
    ],
)
def test_russian_verbs(form, lemma, features, value, gender, expected):
    pytest.importorskip("pymorphy3", reason="needs the extra lexicons")
    assert load_package("pymorphy3").other(word(form, lemma, features), "Number", value, gender) == expected


@pytest.mark.skipif(not UD.is_dir(), reason="the treebanks are not here")
def test_russian_forms_are_those_that_a_treebank_shows():
    pytest.importorskip("pymorphy3", reason="needs the extra lexicons")
    package, shown = load_package("pymorphy3"), Paradigms()
    trees = list(shown.harvest(read_trees(UD / "ru_pud-ud-test.conllu.xz")))
    verbs = {(w.form.lower(), w.feats): w for t in trees for w in t.words if w.features.get("VerbForm") == "Fin"}
    compared = 0
    for each in verbs.values():
        value = {"Sing": "Plur", "Plur": "Sing"}.get(each.features.get("Number", ""))
        both = [source.other(each, "Number", value, "Masc") for source in (shown, package)] if value else [set()]
        if all(both):
            compared += 1
            assert both[0] >= both[1], each.form  # the treebank has растет and растёт
    assert compared > 200


def test_extraction_takes_forms_that_the_treebank_does_not_show(tmp_path, capsys):
    pytest.importorskip("lemminflect", reason="needs the extra lexicons")
    (tmp_path / "en.conllu").write_text(SENTENCE, encoding="utf-8")
    asked = ["extract", "en/sv_number", str(tmp_path / "en.conllu"), "--lang", "en", "--controls", "none"]
    assert main([*asked, "--out", str(tmp_path / "without")]) == 1
    assert main([*asked, "--out", str(tmp_path / "with"), "--lexicon", "lemminflect"]) == 0
    assert "the bees buzzes" in (tmp_path / "with/sv_number.jsonl").read_text(encoding="utf-8")


def test_a_package_that_is_not_installed_is_told_with_what_to_install(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pymorphy3", None)
    (tmp_path / "en.conllu").write_text(SENTENCE, encoding="utf-8")
    asked = ["extract", "en/sv_number", str(tmp_path / "en.conllu"), "--lang", "en", "--out", str(tmp_path / "out")]
    assert main([*asked, "--lexicon", "pymorphy3"]) == 1
    assert "this package is not installed; pip install 'concord-lm[lexicons]'" in capsys.readouterr().err
