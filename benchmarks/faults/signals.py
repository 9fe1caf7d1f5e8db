"""Runs stopped at random moments and resumed: the same weights and metrics.csv as an undisturbed run."""

import os
import random
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from training_runs import clean, command, rows_without_times, same_weights

from . import ROOT
from .counts import Counts
from .forked_runs import WATCHED, run, start, wait

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGKILL)
KINDS = {
    "LSTM": ["model=lstm"],
    "Transformer": ["model=transformer"],
    "stream": ["model=lstm", "data.window=9"],
}
TWO = "two processes"


def stop_runs(count: int, only: Sequence[str] = (), seed: int = 0) -> Iterator[Counts]:
    """`count` random moments for each kind of run."""
    for name, settings in KINDS.items():
        if not only or name in only:
            yield _stop(name, settings, count, seed)
    if not only or TWO in only:
        yield _stop_two(count, seed)


def _stop(name: str, settings: list[str], count: int, seed: int) -> Counts:
    counts, draw, begun = Counts(f"signals: {name}"), random.Random(seed), time.perf_counter()
    with tempfile.TemporaryDirectory() as place:
        folder, cache, log = Path(place), Path(place) / "cache", Path(place) / "log"
        overrides = [*WATCHED, *settings]
        run(folder / "first", overrides, cache, log)  # so that the corpus is ready, and the timing excludes it
        status, seconds = run(folder / "whole", overrides, cache, log)
        assert status == 0, log.read_text(encoding="utf-8")
        for number in range(count):
            child = start(folder / f"cut{number}", overrides, cache, log)
            time.sleep(draw.uniform(0, seconds))
            sent = draw.choice(SIGNALS)
            os.kill(child, sent)
            status = wait(child)
            said = log.read_text(encoding="utf-8")
            again, _ = run(folder / f"cut{number}", [*overrides, "ckpt_path=auto"], cache, log)
            finished = log.read_text(encoding="utf-8")
            _judge(counts, folder / f"cut{number}", folder / "whole", (sent, status, said), (again, finished))
    counts.seconds = time.perf_counter() - begun
    return counts


def _judge(counts: Counts, cut: Path, whole: Path, stopped: tuple[int, int, str], finished: tuple[int, str]) -> None:
    sent, status, said = stopped
    if status not in (0, -sent, 128 + sent):
        counts.fail(f"{signal.Signals(sent).name}: status {status}: {said[-300:]!r}")
    elif "Traceback" in said or (status > 0 and said.count("stopped by") != 1):
        counts.fail(f"{signal.Signals(sent).name}: not one line: {said[-300:]!r}")
    elif finished[0]:
        counts.fail(f"{signal.Signals(sent).name}: does not resume: {finished[1][-300:]!r}")
    elif not same_run(cut, whole):
        counts.fail(f"{signal.Signals(sent).name}: weights or metrics differ")
    elif status:
        counts.told += 1
    else:
        counts.harmless += 1


def same_run(cut: Path, whole: Path) -> bool:
    one, two = cut / "runs/x", whole / "runs/x"
    weights = all(same_weights(one / "checkpoints" / name, two / "checkpoints" / name) for name in ("last.ckpt", "best.ckpt"))
    return weights and rows_without_times(one / "metrics.csv") == rows_without_times(two / "metrics.csv")


def _stop_two(count: int, seed: int) -> Counts:
    """Started as a user would. One run is stopped again and again, each time shortly after it resumes."""
    counts, draw, begun = Counts(f"signals: {TWO}"), random.Random(seed), time.perf_counter()
    overrides = [*WATCHED, "trainer=ddp_cpu", "data.limit=480", f"trainer.max_epochs={3 + count // 4}"]
    with tempfile.TemporaryDirectory() as place:
        whole, cut = Path(place) / "whole", Path(place) / "cut"
        subprocess.run(command(whole, *overrides), cwd=ROOT, env=clean(whole), capture_output=True, check=True)
        for _ in range(count):
            process = subprocess.Popen(
                command(cut, *overrides, "ckpt_path=auto"),
                cwd=ROOT,
                env=clean(cut),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            _wait_until_it_trains(process, cut / "runs/x/metrics.csv")
            time.sleep(draw.uniform(0, 1))
            sent = draw.choice(SIGNALS)
            if process.poll() is None:
                # A cluster signals all processes of a job; a person, one. SIGKILL goes to all.
                everybody = sent == signal.SIGKILL or draw.random() < 0.5
                os.killpg(process.pid, sent) if everybody else process.send_signal(sent)
            _, said = process.communicate(timeout=300)
            if process.returncode not in (0, -sent, 128 + sent) or "Traceback" in said:
                counts.fail(f"{signal.Signals(sent).name}: status {process.returncode}: {said[-300:]!r}")
            elif process.returncode:
                counts.told += 1
            else:
                counts.harmless += 1
        last = subprocess.run(
            command(cut, *overrides, "ckpt_path=auto"), cwd=ROOT, env=clean(cut), capture_output=True, text=True, check=False
        )
        if last.returncode or not same_run(cut, whole):
            counts.fail(f"after all of them: status {last.returncode}, or weights or metrics differ: {last.stderr[-300:]!r}")
    counts.seconds = time.perf_counter() - begun
    return counts


def _wait_until_it_trains(process: "subprocess.Popen[str]", metrics: Path) -> None:
    before = metrics.stat().st_size if metrics.exists() else 0
    while process.poll() is None and not (metrics.exists() and metrics.stat().st_size != before):
        time.sleep(0.01)
