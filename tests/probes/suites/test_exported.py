"""Suites that leave: as they came, with the values of an evaluation, and sets of pairs as suites."""

import json
import math

import pytest
from concord.commands.sets import main
from concord.probes.challenge_set import SetError
from concord.probes.models import wrap_function
from concord.probes.probe_preparation import make_probe
from concord.probes.region_files import save_regions
from concord.probes.suites.json_files import document_of, write_json
from concord.probes.suites.suite_files import read
from concord.settings.probing import ProbeSettings

PAGE = """\
name: small
language: en
circuit: agreement
joiner: running
regions: subject | verb | end
conditions:
  match: The {n} | {v} | .
  mismatch: The {n} | {w} | .
predictions:
  verb: verb@match < verb@mismatch
items:
  n | v | w
  dog | barks | bark
  zyx | sleeps | sleep
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/small.suite").write_text(PAGE, encoding="utf-8")
    return tmp_path


def test_an_evaluated_suite_has_the_values_of_its_regions(folder, capsys):
    settings = ProbeSettings(name="mine", format="syntaxgym", path=str(folder / "in"), groupings={})
    probe = make_probe(settings, "en", "joined")
    known = {"The", "dog", "barks", "bark", "sleeps", "sleep", "."}
    model = wrap_function(lambda texts: [[-len(w) * math.log(2) for w in t.split()] for t in texts], "letters", None, known)
    save_regions(folder / "regions.parquet", probe, model.scorer.score(probe.sentences), {})
    for form, ending in (("syntaxgym", "json"), ("syntaxgym-csv", "csv")):
        asked = ["export", str(folder / "in"), "--lang", "en", "--to", form, "--out", str(folder / "out")]
        assert main([*asked, "--evaluated", str(folder / "regions.parquet")]) == 0
        suite = read(folder / f"out/small.{ending}")
        first, second = (item["match"].regions for item in suite.items)
        assert [region.extra["metric_value"]["sum"] for region in first] == pytest.approx([6, 5, 1])
        assert [region.extra["oovs"] for region in second] == [["zyx"], [], []]
    assert main([*asked[:-3], "blimp", "--out", "x", "--evaluated", "y"]) == 1
    assert "--evaluated is for --to syntaxgym" in capsys.readouterr().err


def test_an_evaluation_of_other_suites_is_refused(folder, capsys):
    test_an_evaluated_suite_has_the_values_of_its_regions(folder, capsys)
    (folder / "in/small.suite").write_text(PAGE.replace("name: small", "name: other"), encoding="utf-8")
    asked = ["export", str(folder / "in"), "--lang", "en", "--to", "syntaxgym", "--out", str(folder / "out")]
    assert main([*asked, "--evaluated", str(folder / "regions.parquet")]) == 1
    assert "it has no regions of other; evaluate this suite first" in capsys.readouterr().err


def test_suites_that_were_not_evaluated_are_named_and_left_out(folder, capsys):
    test_an_evaluated_suite_has_the_values_of_its_regions(folder, capsys)
    (folder / "in/other.suite").write_text(PAGE.replace("name: small", "name: other"), encoding="utf-8")
    asked = ["export", str(folder / "in"), "--lang", "en", "--to", "syntaxgym", "--out", str(folder / "some")]
    assert main([*asked, "--evaluated", str(folder / "regions.parquet")]) == 0
    assert "left out, not evaluated: other" in capsys.readouterr().err
    assert [file.name for file in (folder / "some").iterdir()] == ["small.json"]


def test_what_is_read_is_written_again(folder, capsys):
    """A page becomes JSON, JSON becomes itself."""
    assert main(["build", str(folder / "in"), "--lang", "en", "--out", str(folder / "built")]) == 0
    built = json.loads((folder / "built/small.json").read_text(encoding="utf-8"))
    assert built["predictions"][0]["chance"] == 0.5
    assert main(["export", str(folder / "built"), "--lang", "en", "--to", "syntaxgym", "--out", str(folder / "again")]) == 0
    assert (folder / "again/small.json").read_bytes() == (folder / "built/small.json").read_bytes()
    write_json(read(folder / "in/small.suite"), folder / "plain.json")
    assert document_of(read(folder / "plain.json"))["items"] == built["items"]
    capsys.readouterr()


def test_pairs_become_suites_that_ask_the_same(tmp_path, capsys):
    (tmp_path / "pairs.txt").write_text(
        "True\tthe dog near us barks now\nFalse\tthe dog near us bark now\nTrue\tit is\nFalse\tit are\n", encoding="utf-8"
    )
    assert main(["export", str(tmp_path / "pairs.txt"), "--lang", "en", "--to", "syntaxgym", "--out", str(tmp_path)]) == 0
    suite = read(tmp_path / "pairs.json")
    contents = [[region.content for region in condition.regions] for condition in suite.items[0].conditions]
    assert contents == [["the dog near us", "barks", "now"], ["the dog near us", "bark", "now"]]
    letters = wrap_function(lambda texts: [[-float(len(w)) for w in t.split()] for t in texts], "letters")
    verdicts = []
    for file, form in ((tmp_path / "pairs.txt", "clams"), (tmp_path / "pairs.json", "syntaxgym")):
        from concord.probes.verdicts import judge

        rules = {"ties": "wrong", "final": False}
        probe = make_probe(ProbeSettings(name="x", format=form, path=str(file), groupings={}, rules=rules), "en", "joined")
        verdicts.append(judge(probe, letters.scorer.score(probe.sentences)).verdict.tolist())
    assert verdicts[0] == verdicts[1] == [0.0, 1.0]
    capsys.readouterr()


def test_other_sets_are_no_suites(tmp_path):
    from concord.probes.challenge_set import ChallengeSet, Variant
    from concord.probes.suites.exported import suite_of_pairs

    made = ChallengeSet("x", "en", "own", "x.jsonl")
    made.add(1, {}, [Variant("a", None, ("a",), None, ()), Variant("b", None, ("b",), None, ())])
    with pytest.raises(SetError, match="only pairs of one good and one bad sentence can be written as a suite"):
        suite_of_pairs(made)


def test_check_and_show_are_those_of_suites(folder, capsys):
    assert main(["check", str(folder / "in"), "--lang", "en"]) == 0
    assert "only 2 items; below 20 an accuracy says little" in capsys.readouterr().out
    assert main(["show", str(folder / "in"), "--lang", "en", "-n", "1"]) == 0
    shown = capsys.readouterr().out
    assert "prediction verb: (2;%match%) < (2;%mismatch%)   (chance 0.500)" in shown
    assert "The dog | barks | ." in shown


def test_models_of_the_built_in_corpus_are_asked_in_lower_case(folder):
    settings = ProbeSettings(name="mine", format="syntaxgym", path=str(folder / "in"), groupings={})
    assert "the dog barks ." in words(make_probe(settings, "en", "joined", True))
    assert "the dog barks." in [each.text for each in make_probe(settings, "en", "joined", True).sentences]
    assert "The dog barks ." in words(make_probe(settings, "en", "joined", False))
    given = ProbeSettings(name="mine", format="syntaxgym", path=str(folder / "in"), groupings={}, rules={"capitalize": False})
    assert "The dog barks ." in words(make_probe(given, "en", "joined", True))
    (folder / "in/small.suite").write_text(PAGE.replace("The {n}", "¿ {^n}"), encoding="utf-8")
    assert "¿ dog barks ." in words(make_probe(settings, "en", "joined", True))


def words(probe) -> list[str]:
    return [sentence.words for sentence in probe.sentences]
