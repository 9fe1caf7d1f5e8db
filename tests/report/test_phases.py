"""Phases in a report: from the metrics of runs to a table that says which rule a model followed, and until when."""

from pathlib import Path

import pytest
from concord.report.conditions import group_by_condition
from concord.report.gathering import gather_results
from concord.report.phase_tables import PhaseSpan, phase_table, phases_of
from concord.report.report_folder import make_report
from concord.runs.metrics_file import MetricsFile
from concord.runs.run_folder import RunFolder
from synthetic_runs import asked, write_run

MISLED = {"last_noun": [0.5, 0.9, 0.8, 0.3, 0.1], "bigram": [0.6, 0.6, 0.9, 0.6, 0.2]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two seeds of one condition that went from one rule over another to structure."""
    for seed in (1, 2):
        run = RunFolder(write_run(tmp_path / f"runs/r{seed}", asked("de", 12), seed, epochs=1))
        run.metrics.unlink()
        file = MetricsFile(run.metrics)
        for epoch in range(5):
            values = {f"probe/de/agreement/prep/misled_{rule}": found[epoch] for rule, found in MISLED.items()}
            row = {"probe/de/agreement/prep/accuracy": 0.5, "progress/words_seen": epoch * 100_000 + seed if epoch else 0}
            file.log_metrics(row | values, step=epoch * 50)
    return tmp_path / "runs"


def test_a_phase_is_the_rule_that_is_followed_most_while_it_is_followed_more_often_than_not(folder: Path) -> None:
    (condition,) = group_by_condition(gather_results([folder]).results)
    assert phases_of(condition, "prep") == [
        PhaseSpan("last_noun", 100_001.5, 100_001.5),
        PhaseSpan("bigram", 200_001.5, 300_001.5),
        PhaseSpan("structure", 400_001.5, 400_001.5),
    ]


def test_phases_are_a_table_of_the_report(folder: Path) -> None:
    (grid,) = [each for each in make_report([folder]).statistics if each.name == "phases"]
    cells = dict(grid.rows)
    assert [cell.text for cell in cells["across a prepositional phrase"]] == [
        "last noun 100 k, bigram 200 k–300 k, structure from 400 k"
    ]


def test_runs_that_were_compared_with_no_rule_have_no_phases(tmp_path: Path) -> None:
    run = RunFolder(write_run(tmp_path / "r", asked("de", 12), epochs=1))
    kept = run.metrics.read_text(encoding="utf-8").replace("misled_", "other_").replace("agrees_", "another_")
    run.metrics.write_text(kept, encoding="utf-8")
    assert phase_table(group_by_condition(gather_results([run.path]).results)) is None
