"""Suites in reports: which comparison fails, with and without a modifier, circuits over time."""

import math
from pathlib import Path

import pytest
from concord.probes.evaluation import evaluate_probe
from concord.probes.models import wrap_function
from concord.probes.probe_preparation import make_probe
from concord.report import draw, load
from concord.report.report_folder import make_report
from concord.settings.probing import ProbeSettings

PAGE = """\
name: {name}
language: en
circuit: agreement
{base}joiner: running
regions: a | b | c
conditions:
  x: The {{n}} | {{v}} | .
  y: The {{n}} | {{w}} | .
predictions:
  one: b@x < b@y & a@x = a@y & *@x < *@y - 1.5
items:
  n | v | w
{items}
"""
ITEMS = {  # letters are bits
    "base": ("aa | vv | www", "bb | vv | wwww", "cc | vvv | ww", "dd | v | www"),
    "modified": ("aa | vv | www", "bb | vvv | ww", "cc | vvv | ww", "dd | www | ww"),
}


@pytest.fixture
def results(tmp_path) -> Path:
    (tmp_path / "suites").mkdir()
    for name, base in (("base", ""), ("modified", "base: base\n")):
        items = "\n".join(f"  {row}" for row in ITEMS[name])
        (tmp_path / f"suites/{name}.suite").write_text(PAGE.format(name=name, base=base, items=items), encoding="utf-8")
    probe = make_probe(
        ProbeSettings(name="mine", format="syntaxgym", path=str(tmp_path / "suites"), groupings={}), "en", "joined"
    )
    model = wrap_function(lambda texts: [[-len(word) * math.log(2) for word in t.split()] for t in texts], "letters")
    evaluate_probe(probe, [model], tmp_path / "results", {})
    return tmp_path / "results"


def rows(made, name: str) -> dict[str, list[str]]:
    grid = next(grid for grid in made.tables if grid.name == name)
    return {label: [cell.text for cell in cells] for label, cells in grid.rows}


def test_every_comparison_has_its_share(results):
    assert rows(make_report([results]), "clauses") == {
        "base: b@x < b@y": ["0.75"],
        "base: a@x = a@y": ["1.00"],
        "base: *@x < *@y − 1.5": ["0.50"],
        "modified: b@x < b@y": ["0.25"],
        "modified: a@x = a@y": ["1.00"],
        "modified: *@x < *@y − 1.5": ["0.00"],
    }


def test_suites_stand_beside_their_versions_with_a_modifier(results):
    assert rows(make_report([results]), "stability") == {"base (modified)": ["0.50", "0.00"], "mean": ["0.50", "0.00"]}


def test_the_figure_shows_both(results):
    (axis,) = draw(load(results), "stability").axes
    assert [round(bar.get_height(), 2) for bar in axis.patches] == [0.5, 0.0]


def test_items_of_a_report_show_their_regions(results):
    page = make_report([results]).html()
    assert "With and without a modifier" in page
    assert "Which comparison fails" in page
