"""Runs on a disk that fills up: one line, nothing lost, and with more room the same result as on a large disk."""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from .counts import Counts
from .forked_runs import WATCHED, run
from .signals import same_run

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)  # share of what the run needs in total


def can_mount() -> bool:
    """Mounting small disks needs root, and is not possible in every container."""
    with tempfile.TemporaryDirectory() as place:
        if os.geteuid() or not _mount(Path(place), 1 << 20):
            return False
        _unmount(Path(place))
    return True


def fill_disks(levels: tuple[float, ...] = LEVELS) -> list[Counts]:
    """One run per level. In every second one the corpus is on the same disk."""
    counts, begun = Counts("full disks"), time.perf_counter()
    with tempfile.TemporaryDirectory() as place:
        folder, cache, log = Path(place), Path(place) / "cache", Path(place) / "log"
        overrides = [*WATCHED, "model=lstm", "ckpt_path=auto"]
        run(folder / "whole", overrides, cache, log)
        # The last checkpoint exists twice while it is replaced.
        takes = _size(folder / "whole") + 2 * (folder / "whole/runs/x/checkpoints/last.ckpt").stat().st_size
        for number, level in enumerate(levels):
            small = folder / f"small{number}"
            small.mkdir()
            there = small / "cache" if number % 2 else cache
            whole = takes + (_size(cache) if number % 2 else 0)
            assert _mount(small, int(level * whole))
            try:
                status, _ = run(small, overrides, there, log)
                said = log.read_text(encoding="utf-8")
                subprocess.run(["mount", "-o", f"remount,size={4 * whole + (64 << 20)}", str(small)], check=True)
                again, _ = run(small, overrides, there, log)
                _judge(counts, level, (status, said), (again, log.read_text(encoding="utf-8")), same_run(small, folder / "whole"))
            finally:
                _unmount(small)
    counts.seconds = time.perf_counter() - begun
    return [counts]


def _judge(counts: Counts, level: float, full: tuple[int, str], again: tuple[int, str], same: bool) -> None:
    status, said = full
    errors = [line for line in said.splitlines() if line.startswith("error: ")]
    if status == 0:
        counts.harmless += 1
    elif "Traceback" in said or len(errors) != 1 or "full" not in errors[0]:
        counts.fail(f"filled to {level:.0%}: {said[-400:]!r}")
    elif again[0]:
        counts.fail(f"filled to {level:.0%}, does not resume: {again[1][-400:]!r}")
    elif not same:
        counts.fail(f"filled to {level:.0%}: weights or metrics differ")
    else:
        counts.told += 1


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _mount(folder: Path, size: int) -> bool:
    tool = shutil.which("mount")
    if tool is None:
        return False
    done = subprocess.run([tool, "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, check=False)
    return done.returncode == 0


def _unmount(folder: Path) -> None:
    subprocess.run(["umount", "-l", str(folder)], check=True)
