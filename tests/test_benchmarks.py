"""Benchmarks are run by hand, and rot unless somebody looks: here each is run with `--small`."""

import subprocess
import sys

import pytest
from training_runs import ROOT, clean

FOLDER = ROOT / "benchmarks"
PROGRAMS = [[f"benchmarks/{file.name}"] for file in sorted(FOLDER.glob("*.py")) if file.name != "__init__.py"]
PACKAGES = [["-m", f"benchmarks.{file.parent.name}"] for file in sorted(FOLDER.glob("*/__main__.py"))]


@pytest.mark.slow
@pytest.mark.parametrize("program", [*PROGRAMS, *PACKAGES], ids=lambda program: program[-1])
def test_a_benchmark_runs(program, tmp_path):
    done = subprocess.run(
        [sys.executable, *program, "--small"], cwd=ROOT, env=clean(tmp_path), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert any(character.isdigit() for character in done.stdout)


def test_every_benchmark_is_named_where_contributors_look():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert len(PROGRAMS) > 5
    assert [name for *_, name in (*PROGRAMS, *PACKAGES) if name not in text] == []
