"""Accuracy against the size of the training text, and the best of each row in bold."""

import json
import math
from pathlib import Path

import pytest
from concord.report.figures import draw_figure
from concord.report.frame import make_frame
from concord.report.grids import Cell, mark_best, number_cell, to_markdown
from concord.report.latex import to_latex
from concord.report.page import table_html
from concord.report.report_folder import make_report
from concord.report.training_sizes import find_size_series
from synthetic_runs import asked, settings, write_run

SKILLS = {10_000: 0.1, 100_000: 0.4, 1_000_000: 0.9}


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three sizes with two seeds each and the whole text; a Transformer of one size; what every run has counted."""
    folder, whole = tmp_path_factory.mktemp("sweep"), asked("de", 24)
    for size, skill in SKILLS.items():
        for seed in (1, 2):
            chosen = settings("lang=de", f"data.max_tokens={size}")
            run = write_run(folder / f"{size}-{seed}", whole, seed, epochs=2, skill=skill, chosen=chosen, vocabulary=f"v{size}")
            _count(run, size - seed)
    write_run(folder / "whole", whole, epochs=2, skill=1.2, chosen=settings("lang=de"), vocabulary="all")
    other = settings("lang=de", "model=transformer", "data.max_tokens=10000")
    write_run(folder / "other", whole, epochs=2, chosen=other, vocabulary="v10000")
    return folder


def _count(run: Path, words: int) -> None:
    known = json.loads((run / "provenance.json").read_text(encoding="utf-8"))
    known["corpus"]["train"] = {"sentences": 1, "words": words, "unknown": 0}
    (run / "provenance.json").write_text(json.dumps(known), encoding="utf-8")


def test_runs_that_differ_in_max_tokens_alone_are_one_series(sweep: Path) -> None:
    made = make_report([sweep])
    (series,) = find_size_series(made.conditions)
    assert series.title == "German, lstm"
    assert series.words[:3] == (9998.5, 99998.5, 999998.5)  # as counted, the mean over seeds
    assert math.isnan(series.words[3])  # of the whole text nobody has counted
    assert [condition.first.name for condition in series.conditions] == ["10000-1", "100000-1", "1000000-1", "whole"]
    grid = next(grid for grid in made.tables if grid.name == "training-size")
    assert [head.name for head in grid.heads] == ["10 k (2 seeds)", "100 k (2 seeds)", "1 M (2 seeds)", "all"]
    means = [dict(cell.numbers)["value"] for cell in grid.rows[-1][1]]
    expected = [made.estimates.of(condition, "mean").mean for condition in series.conditions]
    assert means == expected
    assert means == sorted(means)


def test_the_figure_has_the_means_of_the_runs_on_a_logarithmic_axis(sweep: Path) -> None:
    made = make_report([sweep])
    figure = draw_figure(make_frame(made.estimates), "training_size")
    (axis,) = figure.axes
    assert axis.get_xscale() == "log"
    drawn = [container.lines[0].get_xydata().tolist() for container in axis.containers]
    assert len(drawn) == 8  # seven constructions and the mean
    scores = {r.name: r.mean for c in made.conditions for r in c.results}
    for size, (x, y) in zip(SKILLS, drawn[-1], strict=True):
        assert x == size - 1.5
        assert y == pytest.approx((scores[f"{size}-1"] + scores[f"{size}-2"]) / 2)


def test_one_size_is_no_series(study: Path) -> None:
    made = make_report([study])
    assert find_size_series(made.conditions) == []
    assert "training-size" not in [grid.name for grid in made.tables]


def test_the_best_of_those_that_compare_is_bold() -> None:
    cells = [number_cell(value) for value in (0.7, 0.904, 0.896, math.nan, 0.99)]
    assert [cell.best for cell in mark_best(cells, ["a", "a", "a", "a", "b"])] == [False, True, True, False, False]
    assert [cell.best for cell in mark_best(cells, ["a"] * 5, lowest=True)] == [True, False, False, False, False]
    assert not any(cell.best for cell in mark_best([number_cell(1.0), number_cell(1.0)], ["a", "a"]))
    assert not any(cell.best for cell in mark_best(cells, [None] * 5))


def test_the_main_table_marks_the_best_of_a_language_in_every_format(study: Path) -> None:
    made = make_report([study])
    grid = made.tables[0]
    best: dict[str, list[Cell]] = {}
    for label, cells in grid.rows:
        ours = [(head, cell) for head, cell in zip(grid.heads, cells, strict=True) if not head.published]
        german = [cell for head, cell in ours if head.top == "German"]
        assert not any(cell.best for head, cell in ours if head.top == "Hebrew")  # one condition has nothing to be better than
        assert not any(cell.best for head, cell in zip(grid.heads, cells, strict=True) if head.published)
        values = [round(dict(cell.numbers)["value"], 2) for cell in german]
        wanted = min(values) if label == "test perplexity" else max(values)
        assert [cell.best for cell in german] == [len(set(values)) > 1 and value == wanted for value in values]
        best[label] = [cell for cell in german if cell.best]
    shown = best["mean"][0].text
    assert f"**{shown}**" in to_markdown(grid)
    assert r"\textbf{" + shown.replace("±", r"$\pm$") + "}" in to_latex(grid)
    assert "Bold: the best in a row" in grid.note
    assert 'class="strong shade"' in table_html(grid)
