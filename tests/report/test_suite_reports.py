"""Suites in reports: which comparison fails, with and without a modifier, circuits over time."""

import math
from pathlib import Path

import browser
import pandas as pd
import pytest
from concord.probes.evaluation import evaluate_probe
from concord.probes.models import wrap_function
from concord.probes.probe_preparation import make_probe
from concord.report import draw, load
from concord.report.page_data import items_data
from concord.report.report_folder import make_report, write_page
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
    return evaluate(tmp_path / "suites", tmp_path / "results", "letters")


def evaluate(suites: Path, out: Path, name: str) -> Path:
    probe = make_probe(ProbeSettings(name="mine", format="syntaxgym", path=str(suites), groupings={}), "en", "joined")
    model = wrap_function(lambda texts: [[-len(word) * math.log(2) for word in t.split()] for t in texts], name)
    evaluate_probe(probe, [model], out, {})
    return out


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


def test_the_page_has_the_tables_of_suites(results):
    page = make_report([results]).html()
    assert "With and without a modifier" in page
    assert "Which comparison fails" in page


def test_items_of_a_report_know_their_regions(results):
    found = items_data(make_report([results]).conditions)["en/mine"]
    regions = found["regions"]
    assert regions["suites"]["base"] == {
        "regions": ["a", "b", "c"],
        "conditions": ["x", "y"],
        "predictions": {
            "prediction one": {
                "clauses": ["b@x < b@y", "a@x = a@y", "*@x < *@y − 1.5"],
                "named": [[row, column] for row in (0, 1) for column in (0, 1, 2)],  # * names them all
            }
        },
    }
    third = [item[0] for item in found["items"]].index("base") + 2  # The cc | vvv | . and The cc | ww | .
    assert regions["contrasts"][third] == "prediction one"
    assert regions["words"][third] == [["The cc", "vvv", "."], ["The cc", "ww", "."]]
    assert regions["bits"]["0"][third] == [[5, 3, 1], [5, 2, 1]]
    assert regions["margins"]["0"][third] == [-1, pytest.approx(0), -2.5]
    assert all(len(regions[name]) == len(found["items"]) for name in ("contrasts", "words"))


def test_items_without_a_file_of_regions_are_shown_as_before(results):
    for file in results.glob("regions*.parquet"):
        file.unlink()
    found = items_data(make_report([results]).conditions)["en/mine"]
    assert "regions" not in found
    assert set(found["items"][0][-1]) == {"The aa vv .", "The aa www ."}


def test_constructions_that_only_some_models_were_asked_have_items_too(results, tmp_path):
    other = tmp_path / "suites" / "base.suite"
    (tmp_path / "more").mkdir()
    (tmp_path / "more/third.suite").write_text(
        other.read_text(encoding="utf-8").replace("name: base", "name: third"), encoding="utf-8"
    )
    evaluate(tmp_path / "more", tmp_path / "results_more", "others")
    found = items_data(make_report([results, tmp_path / "results_more"]).conditions)["en/mine"]
    assert {item[0] for item in found["items"]} == {"base", "modified", "third"}


@pytest.mark.slow
@pytest.mark.skipif(browser.CHROMIUM is None, reason="needs a Chromium (Debian's package chromium)")
def test_the_page_of_a_suite_shows_conditions_region_by_region(results, tmp_path):
    page = write_page(make_report([results]), tmp_path / "report.html")
    opened = browser.Browser(tmp_path / "profile")
    try:
        opened.size(1200, 900)
        opened.offline()
        opened.open(page.as_uri() + "#/en/mine/base")

        def texts(selector: str) -> list[str]:
            return opened.run(f"[...document.querySelectorAll({selector!r})].map((e) => e.textContent)")

        assert len(texts(".item")) == 4
        assert texts(".item:nth-child(1) .regions thead th") == ["bits", "a", "b", "c"]
        assert texts(".item:nth-child(1) .regions tbody th") == ["x", "y"]
        shown = dict(zip(texts(".item .regions tbody td .words"), texts(".item .regions tbody td .bar b"), strict=True))
        assert shown["wwww"] == "4.0"
        assert shown["."] == "1.0"
        # One scale for all regions of an item: a bar is as long as its number.
        bars = opened.run(
            "[...document.querySelectorAll('.item:nth-child(1) .bar')].map((e) => "
            "[e.querySelector('i').getBoundingClientRect().width, +e.textContent])"
        )
        lengths = {round(width / bits, 1) for width, bits in bars}
        assert len(lengths) == 1
        assert texts(".item:nth-child(1) .clauses code") == ["b@x < b@y", "a@x = a@y", "*@x < *@y − 1.5"]
        opened.run("(e => { e.value = 'wrong'; e.dispatchEvent(new Event('change')); })(document.querySelector('#pick-show'))")
        assert len(texts(".item")) == 2
        opened.size(400, 800)
        assert opened.run("document.documentElement.scrollWidth <= window.innerWidth")
        assert not opened.errors
    finally:
        opened.close()


def test_circuits_over_time_are_means_over_seeds() -> None:
    """Seeds have not read exactly as many words at the same point of training."""
    facts = {
        "language": "en",
        "set": "suites",
        "condition": "lstm",
        "construction": "base",
        "circuit": "agreement",
        "chance": 0.5,
    }
    frame = pd.DataFrame(
        [
            {**facts, "run": f"s{seed}", "moment": f"step {step}", "words": 100 * step + 7 * seed, "accuracy": accuracy}
            for step in (10, 20)
            for seed, accuracy in enumerate((0.2, 0.8))
        ]
    )
    (line,) = draw(frame, "circuits").axes[0].lines
    assert line.get_ydata() == pytest.approx([0.5, 0.5])
    assert line.get_xdata() == pytest.approx([1003.5, 2003.5])
