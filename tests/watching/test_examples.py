"""The three examples of docs/watch.md are complete: each runs as it stands, in under 25 lines."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from concord.runs.metrics_file import read
from training_runs import ROOT, clean
from watched_trainings import MEAN, sentences

EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "docs/watch.md").read_text(encoding="utf-8"), re.DOTALL)


def test_there_are_three_and_each_is_short() -> None:
    assert len(EXAMPLES) == 3
    assert all(len([line for line in example.splitlines() if line.strip()]) < 25 for example in EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "folder"), [(0, "gpt2-s1"), (1, "mine-s1"), (2, "loop-s1")])
def test_an_example_runs_as_it_stands(number: int, folder: str, tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("\n".join(sentences()), encoding="utf-8")
    shorter = EXAMPLES[number].replace("max_steps=300", "max_steps=100")  # the Trainer's, on two cores
    environment = clean(tmp_path) | {"COLUMNS": "120"}
    done = subprocess.run(
        [sys.executable, "-c", shorter], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    rows = read(tmp_path / "out" / folder / "metrics.csv")
    assert rows[0]["step"] == 0
    assert all(0 <= row[MEAN] <= 1 for row in rows)
    assert (tmp_path / "out" / folder / "report.html").exists()
    assert re.search(
        r"probes took .* s \(\d+%\); (sample|every)[= ]\d+ (steps )?instead of \1[= ]\d+ would halve that", done.stdout
    )
