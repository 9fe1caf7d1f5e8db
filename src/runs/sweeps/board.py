"""What a sweep shows: a live table in a terminal, otherwise one line per event, and a summary at the end."""

import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ...metric_names import VALID_PERPLEXITY
from ...terminal import console, table
from ..run_state import History
from .job import Job

REFRESH = 2.0  # seconds between two checks of the runs' folders
ROWS = 20  # running jobs shown


@dataclass
class Row:
    job: Job
    state: str
    started: float
    seconds: float = 0.0
    note: str = ""
    epoch: int = 0
    begun_with: int = 0  # epochs trained by an earlier start
    perplexity: float | None = None

    @property
    def trained(self) -> float:
        """The share of the job that this sweep has trained."""
        whole = self.job.epochs if self.state == "done" else self.epoch
        return (whole - self.begun_with) / self.job.epochs


class Board:
    """`total` jobs, of which some had already ended, each with its state."""

    def __init__(self, total: int, before: Sequence[tuple[Job, str]]) -> None:
        self.total = total
        self.began = time.monotonic()
        self.rows = {job.name: Row(job, state, self.began, note="before") for job, state in before}
        self.before = len(before)
        self.live: Live | None = None
        self.looked = 0.0

    def count(self, state: str) -> int:
        return sum(row.state == state for row in self.rows.values())

    @contextmanager
    def shown(self) -> Iterator[None]:
        self.live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
        with self.live or nullcontext():
            yield

    def started(self, job: Job) -> None:
        epoch = History(job.folder).epochs
        self.rows[job.name] = Row(job, "running", time.monotonic(), epoch=epoch, begun_with=epoch)
        self._say("start", job, f"resumes from epoch {epoch}" if epoch else "")

    def ended(self, job: Job, state: str, why: str, status: int) -> None:
        row = self.rows[job.name]
        row.state, row.seconds = state, time.monotonic() - row.started
        self._look(row)
        row.note = why or ("" if state == "done" else reason(job, status))
        numbers = "" if row.perplexity is None else f"perplexity {row.perplexity:,.2f}  "
        self._say(state, job, f"{numbers}{_duration(row.seconds)}  {row.note}".strip(), self.standing())

    def waits(self, job: Job) -> None:
        del self.rows[job.name]
        self._say("waits", job, "another process is training it")

    def stopping(self, running: int) -> None:
        console.print(f"stopping {running} jobs; they save first (a second signal stops them at once)", style="bold")

    def standing(self) -> str:
        """done, running, failed and time left, in one line."""
        counts = [
            f"{self.count('done')} of {self.total} done",
            f"{self.count('running')} running",
            f"{self.count('failed')} failed",
        ]
        counts += [f"{self.count(state)} {state}" for state in ("pruned", "stopped") if self.count(state)]
        left = self.time_left()
        return ", ".join(counts) + (f", about {_duration(left)} left" if left else "")

    def time_left(self) -> float | None:
        """Estimated from the time taken so far, per job and epoch."""
        mine = [row for row in self.rows.values() if row.note != "before"]
        trained = sum(row.trained for row in mine)
        if not trained:
            return None
        going = sum(1 - row.epoch / row.job.epochs for row in mine if row.state == "running")
        left = going + self.total - len(self.rows)
        return (time.monotonic() - self.began) * left / trained

    def refresh(self) -> None:
        """Check what is running, if it is time to."""
        if time.monotonic() - self.looked < REFRESH:
            return
        self.looked = time.monotonic()
        for row in self.rows.values():
            if row.state == "running":
                self._look(row)
        if self.live:
            self.live.update(self._view(), refresh=True)

    def _look(self, row: Row) -> None:
        history = History(row.job.folder)
        row.epoch, row.perplexity = history.epochs, history.of_best(VALID_PERPLEXITY)

    def _view(self) -> Group:
        view = table("", "running", numbers=["epoch", "perplexity", "time"])
        running = [row for row in self.rows.values() if row.state == "running"]
        for row in running[:ROWS]:
            perplexity = "" if row.perplexity is None else f"{row.perplexity:,.2f}"
            since = _duration(time.monotonic() - row.started)
            view.add_row(row.job.label, f"{row.epoch}/{row.job.epochs}", perplexity, since)
        return Group(view, Text(self.standing(), style="bold"))

    def _say(self, what: str, job: Job, more: str, standing: str = "") -> None:
        line = f"{time.strftime('%H:%M:%S')} {what:<7} {job.label}  {job.folder.path.name}  {more}".rstrip()
        console.out(line + (f"  ({standing})" if standing else ""), highlight=False)

    def summary(self) -> Table:
        """Every job, whether trained now or before."""
        view = table("sweep", "state", "job", "run", numbers=["epoch", "perplexity", "time"])
        for row in self.rows.values():
            self._look(row)
            perplexity = "" if row.perplexity is None else f"{row.perplexity:,.2f}"
            took = "before" if row.note == "before" else _duration(row.seconds)
            view.add_row(row.state, row.job.label, row.job.folder.path.name, f"{row.epoch}/{row.job.epochs}", perplexity, took)
        return view

    def failures(self) -> list[str]:
        """One line per failure, with where to read on."""
        failed = [row for row in self.rows.values() if row.state == "failed" and row.note != "before"]
        return [f"{row.job.label}: {row.note}; see {row.job.log}" for row in failed]


def reason(job: Job, status: int) -> str:
    """Why a job ended: the signal, or the last error it reported."""
    if status > 128 and status - 128 in set(signal.Signals):
        return f"killed by {signal.Signals(status - 128).name}"
    try:
        lines = job.log.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        lines = []
    spoken = [line for line in lines if line.strip()]
    errors = [line for line in spoken if line.startswith("error:")]
    return next(iter(errors[-1:] or spoken[-1:]), f"exit status {status}")


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
