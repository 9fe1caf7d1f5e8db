"""The sweep itself: start what is missing, watch it, collect what has ended; one job's end never ends the others."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from ..stopping import Interrupted, handled_by
from .board import Board
from .job import Job

POLL = 0.2  # seconds between two checks
PATIENCE = 60.0  # seconds to save, if the sweep itself fails


class Running(Protocol):
    """A job that has been started somewhere."""

    def status(self) -> int | None:
        """None while it runs, then its exit status in shell terms: 128 + n for signal n."""

    def stop(self) -> None:
        """Ask it to save and exit."""

    def kill(self) -> None:
        """At once."""


class JobPlace(Protocol):
    """Where jobs run: this machine, or a cluster."""

    slots: int  # jobs at a time

    def start(self, jobs: Sequence[Job]) -> list[Running]: ...


class Work(Protocol):
    """Which jobs there are: a list, or a search that generates them."""

    def take(self, free: int) -> list[Job]:
        """At most this many jobs that can start now."""

    def over(self) -> bool:
        """Whether nothing more will come once what is running has ended."""

    def hopeless(self, job: Job) -> str:
        """Why a running job should be stopped; empty if it should not."""

    def again(self, job: Job) -> None:
        """Another process was faster and is training it; check again later."""

    def ended(self, job: Job, state: str) -> None:
        """done, failed, pruned, or stopped with the whole sweep."""


@dataclass
class Tracked:
    job: Job
    running: Running
    pruned: str = ""


class Sweep:
    def __init__(self, work: Work, place: JobPlace, board: Board) -> None:
        self.work = work
        self.place = place
        self.board = board
        self.tracked: list[Tracked] = []
        self.received: list[int] = []
        self.obeyed = 0

    def run(self) -> None:
        """Run until every job has ended. If stopped by a signal, stop the jobs and say so."""
        with handled_by(lambda number, _: self.received.append(number)), self.board.shown(), self._none_left_behind():
            while True:
                self._collect()
                if self.received:
                    self._stop()
                else:
                    self._start()
                if not self.tracked and (self.received or self.work.over()):
                    break
                self.board.refresh()
                time.sleep(POLL)
        if self.received:
            raise Interrupted(self.received[0], "the jobs have saved; run the same command again to complete what is missing")

    @contextmanager
    def _none_left_behind(self) -> Iterator[None]:
        """If the sweep itself fails, its jobs save and end too."""
        try:
            yield
        except BaseException:
            for one in self.tracked:
                one.running.stop()
            until = time.monotonic() + PATIENCE
            while any(one.running.status() is None for one in self.tracked) and time.monotonic() < until:
                time.sleep(POLL)
            for one in self.tracked:
                one.running.kill()
            raise

    def _start(self) -> None:
        free = self.place.slots - len(self.tracked)
        jobs = self.work.take(free) if free > 0 else []
        self.tracked += [Tracked(*started) for started in zip(jobs, self.place.start(jobs) if jobs else [], strict=True)]
        for job in jobs:
            self.board.started(job)

    def _collect(self) -> None:
        for one in list(self.tracked):
            status = one.running.status()
            if status is None:
                self._prune(one)
                continue
            self.tracked.remove(one)
            if status and one.job.folder.in_use():
                self.board.waits(one.job)
                self.work.again(one.job)
                continue
            state = self._state(one, status)
            self.work.ended(one.job, state)
            self.board.ended(one.job, state, one.pruned, status)

    def _state(self, one: Tracked, status: int) -> str:
        if status == 0:
            return "done"
        return "pruned" if one.pruned else "stopped" if self.received else "failed"

    def _prune(self, one: Tracked) -> None:
        if not one.pruned and not self.received and (reason := self.work.hopeless(one.job)):
            one.pruned = reason
            one.running.stop()

    def _stop(self) -> None:
        """Gently the first time: every job saves. A second time means now."""
        for nth in range(self.obeyed, len(self.received)):
            self.board.stopping(len(self.tracked))
            for one in self.tracked:
                if nth:
                    one.running.kill()
                else:
                    one.running.stop()
        self.obeyed = len(self.received)


class JobList:
    """The jobs of a grid or of a list of points."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.waiting = list(jobs)

    def take(self, free: int) -> list[Job]:
        """A job that another process is training is left to it; if that one stops, it is ours."""
        taken = [job for job in self.waiting if not job.folder.in_use()][:free]
        self.waiting = [job for job in self.waiting if job not in taken]
        return taken

    def over(self) -> bool:
        return not self.waiting

    def hopeless(self, job: Job) -> str:
        return ""

    def again(self, job: Job) -> None:
        self.waiting.append(job)

    def ended(self, job: Job, state: str) -> None:
        pass
