"""A run that is stopped at a probe in the middle of an epoch and continued has probed as often as an undisturbed one."""

from pathlib import Path

import pytest
from concord.runs.fit import fit
from concord.runs.run_folder import RunFolder
from concord.runs.run_preparation import enter_folder, prepare_run
from training_runs import CORPORA, TINY, power_cut, rows_without_times, same_weights, settings

# Checkpoints after every fourth step, probes at some of these steps and at fractions of epochs.
WATCHED = [
    *TINY,
    "data.limit=48",
    "trainer.max_epochs=2",
    "probes.constructions=[simple_agrmt]",
    "probes.limit=4",
    "probes.schedule.steps=[4,6]",
    "probes.schedule.epochs=[0,0.5,1.5]",
]


def train(folder: Path, resume: bool = False) -> None:
    made = settings(*WATCHED, f"paths.cache={CORPORA}")
    where = RunFolder(folder)
    start = where.last if resume and where.last.exists() else None
    prepared = prepare_run(made, where, start)
    enter_folder(made, where, prepared)
    fit(prepared, made.facts(), where, [], start)


@pytest.mark.parametrize("at", [5, 6, 14])
def test_a_resumed_run_does_not_probe_twice(tmp_path, at):
    train(tmp_path / "whole")
    with power_cut(at):
        train(tmp_path / "cut")
    train(tmp_path / "cut", resume=True)
    assert rows_without_times(tmp_path / "whole/metrics.csv") == rows_without_times(tmp_path / "cut/metrics.csv")
    assert same_weights(tmp_path / "whole/checkpoints/last.ckpt", tmp_path / "cut/checkpoints/last.ckpt")
