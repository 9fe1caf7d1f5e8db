"""Suites as results: circuits and the SG score in tables, files and metrics; stability; protocols; on the screen."""

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from concord.probes.accuracy import group_metric, metrics, tabulate
from concord.probes.models import wrap_function
from concord.probes.probe_display import comparison_view, results_view
from concord.probes.probe_preparation import make_probe
from concord.probes.result_files import read_summary, save_summary
from concord.probes.suite_display import rows_by_circuit, stability_view, table_stability
from concord.probes.suites.circuits import circuit_means, sg_score, stability_means
from concord.probes.verdict_files import read_verdicts, save_items
from concord.probes.verdicts import judge
from concord.settings.probing import ProbeSettings
from pyarrow import parquet
from rich.console import Console

PAGE = """\
name: {name}
language: en
circuit: {circuit}
{base}joiner: running
regions: a | b | c
conditions:
  x: The {{n}} | {{v}} | .
  y: The {{n}} | {{w}} | .
  z: The {{m}} | {{w}} | .
predictions:
  one: b@x < b@y
  two: b@x < b@y & {second}
items:
  n | m | v | w
{items}
"""
ITEMS = {  # letters are bits: the item is right where the second word is the longer one
    "base": ("aa | bb | vv | www", "aa | cc | vv | www", "aa | dd | vvv | ww", "aa | ee | v | www"),
    "modified": ("aa | bb | vv | www", "aa | cc | vvv | ww", "aa | dd | vvv | ww", "aa | ee | www | ww"),
    "other": ("aa | bb | v | ww", "aa | cc | v | ww", "aa | dd | v | v", "aa | ee | v | www"),
}


@pytest.fixture
def folder(tmp_path) -> Path:
    facts = {"base": ("agreement", ""), "modified": ("agreement", "base: base\n"), "other": ("garden_path", "")}
    for name, (circuit, base) in facts.items():
        items = "\n".join(f"  {row}" for row in ITEMS[name])
        page = PAGE.format(name=name, circuit=circuit, base=base, second="*@x < *@y", items=items)
        (tmp_path / f"{name}.suite").write_text(page, encoding="utf-8")
    return tmp_path


def answer(folder: Path, **settings):
    described = {"name": "mine", "format": "syntaxgym", "path": str(folder), "groupings": {}}
    probe = make_probe(ProbeSettings(**described | settings), "en", "joined")
    letters = wrap_function(lambda texts: [[-len(word) * math.log(2) for word in text.split()] for text in texts], "letters")
    scores = letters.scorer.score(probe.sentences)
    verdicts = judge(probe, scores)
    return probe, scores, verdicts, tabulate(probe, verdicts)


def test_circuits_are_means_of_suites_and_the_mean_is_the_sg_score(folder):
    *_, table = answer(folder)
    accuracies = {row.construction: row.all.accuracy for row in table.rows}
    assert accuracies == {"base": 0.75, "modified": 0.25, "other": 0.75}
    circuits = {"base": "agreement", "modified": "agreement", "other": "garden_path"}
    expected = circuit_means(accuracies, circuits)
    assert {group.key: group.accuracy for group in table.groups} == {f"circuit={name}": v for name, v in expected.items()}
    assert table.mean.accuracy == sg_score(accuracies)
    found = metrics(table, "en", "mine")
    assert found["probe/en/mine/circuit.agreement/accuracy"] == 0.5
    assert found["probe/en/mine/circuit.agreement/constructions"] == 2
    assert found["probe/en/mine/mean/accuracy"] == sg_score(accuracies)
    assert {f"probe/en/mine/base/{name}" for name in ("accuracy", "chance", "margin", "n", "ties", "uncovered")} <= set(found)
    assert found["probe/en/mine/base/margin"] == pytest.approx((1 + 1 - 1 + 2) / 4)
    assert found["probe/en/mine/other/ties"] == 1
    assert group_metric("circuit=center_embedding") == "circuit.center_embedding"


def test_an_item_counts_by_all_predictions_by_the_first_or_by_each(folder):
    text = (folder / "base.suite").read_text(encoding="utf-8")
    (folder / "base.suite").write_text(text.replace("*@x < *@y", "b@x > 100"), encoding="utf-8")
    assert answer(folder)[3].row("base").all.accuracy == 0
    (folder / "base.suite").write_text(
        text.replace("*@x < *@y", "b@x > 100").replace("circuit: agreement", "circuit: agreement\nitem_rule: first"),
        encoding="utf-8",
    )
    assert answer(folder)[3].row("base").all.accuracy == 0.75
    (folder / "base.suite").write_text(
        text.replace("*@x < *@y", "b@x > 100").replace("circuit: agreement", "circuit: agreement\nitem_rule: each"),
        encoding="utf-8",
    )
    row = answer(folder)[3].row("base")
    assert (row.all.n, row.all.accuracy) == (8, 0.375)


def test_files_hold_margins_terms_and_what_they_stand_for(folder, tmp_path):
    probe, scores, verdicts, table = answer(folder)
    save_items(tmp_path / "items.parquet", probe, verdicts, scores, {"set": "mine"})
    rows = parquet.read_table(tmp_path / "items.parquet").to_pylist()
    about = read_verdicts(tmp_path / "items.parquet").about
    stated = about["predictions"]["base"][rows[0]["contrast"]]
    assert stated["clauses"] == ["b@x < b@y", "b@x < b@y", "*@x < *@y"]
    assert stated["terms"] == ["b@y", "b@x", "b@y", "b@x", "*@y", "*@x"]
    assert rows[0]["term_values"] == pytest.approx([3, 2, 3, 2, 9, 8])
    assert rows[0]["clause_margins"] == pytest.approx([1, 1, 1])
    save_summary(tmp_path / "summary", {"letters": table}, {})
    (restored,) = read_summary(tmp_path / "summary")[0].values()
    assert restored.bases == {"modified": "base"}
    assert restored.row("base").all.margin == table.row("base").all.margin
    assert restored.groups == table.groups


def test_stability_stands_beside_the_suites(folder):
    *_, table = answer(folder)
    (row,) = table_stability(table)
    assert (row.base, row.modified, row.without, row.within) == ("base", ("modified",), 0.75, 0.25)
    assert stability_means([row]) == (0.75, 0.25)
    assert "0.75 → 0.25" in drawn(stability_view({"letters": table}), 80)
    assert stability_view({"letters": answer(folder, constructions=("base", "other"))[3]}) is None


def test_versions_of_another_chance_are_kept_out_of_a_second_mean(folder):
    text = (folder / "other.suite").read_text(encoding="utf-8")
    harder = text.replace("name: other", "name: other_mod").replace("*@x < *@y", "c@x < c@z & c@y < c@z")
    (folder / "other_mod.suite").write_text(harder.replace("circuit", "base: other\ncircuit", 1), encoding="utf-8")
    shown = drawn(stability_view({"letters": answer(folder)[3]}), 120)
    assert "mean of the 1 with equal chance" in shown, shown
    assert shown.index("0.75 → 0.12") > 0  # the mean of both phenomena: 0.25 and 0 with a modifier


@pytest.mark.parametrize("width", [80, 120])
def test_the_screen_has_suites_under_their_circuits(folder, width):
    *_, now = answer(folder)
    shown = drawn(results_view("mine", now, now), width).splitlines()
    names = [line.split("  ")[0].strip() or line.strip().split("  ")[0] for line in shown]
    assert [name for name in names if name in ("agreement", "base", "modified", "garden path", "other", "SG score")] == [
        "agreement",
        "base",
        "modified",
        "garden path",
        "other",
        "SG score",
    ]
    assert max(map(len, shown)) <= width
    assert not any("groups of constructions" in line for line in shown)


def drawn(view, width: int) -> str:
    console = Console(width=width, highlight=False, markup=False)
    with console.capture() as capture:
        console.print(view)
    return capture.get()


def test_a_suite_that_could_not_be_scored_stays_in_its_circuit(folder):
    whole = answer(folder)[3]
    (agreement, *_) = rows_by_circuit(whole)
    assert [row.construction for row in agreement.suites] == ["base", "modified"]
    assert agreement.circuit is not None
    lost = replace(agreement.circuit, over=["base"])
    fewer = replace(whole, groups=[lost, *(group for group in whole.groups if group.key != lost.key)])
    assert [[row.construction for row in each.suites] for each in rows_by_circuit(fewer)] == [
        [row.construction for row in each.suites] for each in rows_by_circuit(whole)
    ]
    shorter = replace(whole, mean=replace(whole.mean, over=whole.mean.over[:-1]))
    screen = Console(width=120, record=True)
    screen.print(comparison_view("two", {"one": whole, "other": shorter}))
    assert re.search(r"SG score of +3 +2", screen.export_text())
