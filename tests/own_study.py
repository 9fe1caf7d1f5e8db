"""The study of docs/own.md: its files, written into a folder, and commands run there as a user would."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/own.md"
SMALL = [
    "data.limit=120",
    "data.batch_size=12",
    "data.workers=1",
    "model.embedding=16",
    "trainer.max_epochs=2",
    "trainer.threads=1",
    "logger=none",
    "probes.limit=12",
]


def write_study(folder: Path) -> list[str]:
    """The files that the page shows; returns their names."""
    shown = re.findall(r"^`study/([^`]+)`:\n```\w*\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for name, content in shown:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    return [name for name, _ in shown]


def concord(folder: Path, *arguments: str, check: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
    """`concord …` in a folder. Where a test has installed the package elsewhere, PYTHONPATH says so."""
    own = {"CONCORD_CACHE": str(folder / ".cache"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-P", "-m", "concord.commands.program", *arguments]
    done = subprocess.run(command, cwd=folder, env=os.environ | own | environment, capture_output=True, text=True, check=False)
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done
