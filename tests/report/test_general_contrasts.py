"""Sets of one's own with other chances, clauses and groupings, from the command to tables, frame and page."""

import math
from pathlib import Path

import pytest
from concord.report import draw, load
from concord.report.figures import FIGURES
from concord.report.page_data import items_data, page_data
from concord.report.report_folder import ReportParts, make_report


@pytest.fixture
def made(own_sets: Path) -> ReportParts:
    return make_report([own_sets])


def column(made: ReportParts, table: str, head: str) -> dict[str, str]:
    grid = next(grid for grid in made.tables if grid.name == table)
    place = [each.name for each in grid.heads].index(head)
    return {label: cells[place].text for label, cells in grid.rows}


def test_chance_is_that_of_the_contrasts(made: ReportParts) -> None:
    chances = column(made, "accuracy", "chance")
    assert chances["four"] == "0.20"  # one good form against four bad ones
    assert float(chances["triple"]) == pytest.approx(1 / 8, abs=0.01)
    assert chances["mean"] == f"{(0.2 + made.findings.results[0].scores['triple'].chance) / 2:.2f}"
    grid = next(grid for grid in made.tables if grid.name == "accuracy")
    assert "chance by construction in the first column" in grid.note
    assert "over the 2 constructions tested" in grid.note
    assert "0.50" not in grid.note


def test_a_declared_grouping_is_a_table_and_says_over_what_it_is(made: ReportParts) -> None:
    (condition,) = made.conditions
    own = column(made, "by-mood", condition.name)
    assert list(own) == ["triple: mood=calm", "triple: mood=wild"]
    groups = next(grid for grid in made.tables if grid.name == "groups")
    assert any("(items pooled of 1)" in label or "(mean of 1)" in label for label, _ in groups.rows)
    assert "triple" in groups.note


def test_figures_and_frame_know_chance(own_sets: Path) -> None:
    frame = load(own_sets)
    chances = dict(zip(frame.construction, frame.chance, strict=True))
    assert chances["four"] == pytest.approx(0.2)
    drawn = {kind: draw(frame, kind) for kind in FIGURES if kind in ("bars", "heat")}
    lines = [seg for each in drawn["bars"].axes[0].collections for seg in each.get_segments() if len(seg) == 2]
    heights = {round(float(seg[0][1]), 2) for seg in lines if math.isclose(seg[0][1], seg[1][1])}
    assert 0.2 in heights
    assert 0.5 not in heights
    assert any("chance 0.1" in axis.get_ylabel() for axis in drawn["heat"].axes)


def test_mean_rows_are_drawn_against_their_own_chance(own_sets: Path, made: ReportParts) -> None:
    """Where no construction has a chance of one half, nothing is shown against it."""
    (condition,) = made.conditions
    own = sum(score.chance for score in condition.first.scores.values()) / 2
    assert made.estimates.of(condition, "mean").chance == pytest.approx(own)
    assert own < 0.2
    frame = load(own_sets)
    assert set(frame[frame.construction == "mean"].chance.round(6)) == {round(own, 6)}
    axis = draw(frame, "bars").axes[0]
    lines = [seg for each in axis.collections for seg in each.get_segments() if len(seg) == 2]
    drawn = {round(float(seg[0][1]), 4) for seg in lines if math.isclose(seg[0][1], seg[1][1])}
    assert drawn == {round(score.chance, 4) for score in condition.first.scores.values()}
    assert page_data(made.estimates)["conditions"][0]["estimates"]["mean"][5] == pytest.approx(own, abs=1e-4)
    table = next(grid for grid in made.tables if grid.name == "accuracy")
    (cells,) = (cells for label, cells in table.rows if label == "mean")
    mean = made.estimates.of(condition, "mean").mean
    shaded = [cell.shade for cell in cells if cell.shade is not None]
    assert shaded == [pytest.approx(max((mean - own) / (1 - own), 0), abs=1e-6)]


def test_items_that_are_no_pairs_show_all_that_they_compare(made: ReportParts) -> None:
    found = items_data(made.conditions)["en/own"]
    by_name = {item[0]: item for item in found["items"]}
    assert len(by_name["four"][6]) == 5
    assert {"the author laughs .", "the pilot smiles ."} & set(by_name["four"][6])
    assert len(by_name["triple"][6]) == 4
    trace = found["traces"]["0"]
    assert all(value == 0 for value in trace["bad"][-1])  # a margin, against nothing
    data = page_data(made.estimates)
    assert data["conditions"][0]["estimates"]["four"][5] == pytest.approx(0.2)
    assert data["parts"] == {"mood=calm": "mood=calm", "mood=wild": "mood=wild"}
