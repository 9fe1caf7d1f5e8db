"""The sweep itself: start what is missing, watch it, collect what has ended; one job's end is never the end of the others."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from ..signals import Interrupted, handled_by
from .board import Board
from .job import Job

POLL = 0.2  # seconds between two looks
PATIENCE = 60.0  # seconds to save, should the sweep itself fail


class Running(Protocol):
    """A job that has been started somewhere."""

    def status(self) -> int | None:
        """None while it runs, then its exit status as a shell counts: 128 + n for signal n."""

    def stop(self) -> None:
        """Ask it to save and leave."""

    def kill(self) -> None:
        """At once."""


class JobPlace(Protocol):
    """Where jobs run: this machine, or a cluster."""

    slots: int  # jobs at a time

    def start(self, jobs: Sequence[Job]) -> list[Running]: ...


class Work(Protocol):
    """Which jobs there are: a list, or a search that invents them."""

    def take(self, free: int) -> list[Job]:
        """No more than this many that can be started now."""

    def over(self) -> bool:
        """Whether nothing will come any more, once what runs has ended."""

    def hopeless(self, job: Job) -> str:
        """Why a job that runs had better be stopped; empty if it is not."""

    def again(self, job: Job) -> None:
        """Another process was quicker and is training it; it must be looked at later."""

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
        """Until every job has ended. Stopped by a signal, it stops the jobs and says so."""
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
            raise Interrupted(self.received[0], "the jobs have saved; the same command again runs what is missing")

    @contextmanager
    def _none_left_behind(self) -> Iterator[None]:
        """Should the sweep itself fail, its jobs save and end too."""
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
        """The first time gently: every job saves. A second time means now."""
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
        """A job that another process is training is left to it; should that one stop, it is ours."""
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
