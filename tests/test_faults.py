"""Faults by the hundred, in small numbers: `python -m benchmarks.faults` has the whole ones."""

import subprocess
import sys

import pytest
from training_runs import ROOT, clean


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked",
    [
        ["signals", "--only", "LSTM", "--count", "3"],
        ["signals", "--only", "Transformer", "--count", "2"],
        ["signals", "--only", "stream", "--count", "2"],
        ["disks", "--count", "2"],
        ["bits", "--count", "40"],
    ],
    ids=" ".join,
)
def test_faults_are_told_and_nothing_is_lost(asked, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.faults", *asked],
        cwd=ROOT,
        env=clean(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    if "left out" in done.stdout:
        pytest.skip("only an administrator can make a small disk")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "tried" in done.stdout
