"""From the settings of all jobs to their end: freeze, leave out what is done, run the rest, tell how it went."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from ...terminal import console, show_whole
from .board import Board
from .job import Program, done, frozen, job_of, labels, must_differ
from .loop import JobList, Place, Sweep, Work


class Launcher(Protocol):
    folder: Path
    program: Program

    def place(self, total: int, processes: int) -> Place: ...


def launched(settings: Sequence[Any], overrides: Sequence[Sequence[str]], first: int, launcher: Launcher) -> None:
    """Leaves with status 1 if a job failed."""
    folder, program = launcher.folder, launcher.program
    configs = [folder / f"job-{first + number + 1}.yaml" for number in range(len(settings))]
    jobs = [job_of(*job, program) for job in zip(settings, labels(overrides), configs, strict=True)]
    must_differ(jobs)
    before = [job for job, setting in zip(jobs, settings, strict=True) if done(job, setting, program)]
    missing = [job for job in jobs if job not in before]
    for job, setting in zip(jobs, settings, strict=True):
        if job in missing:
            frozen(setting, job.label, job.config, program)
    board = Board(len(jobs), [(job, "done") for job in before])
    run(JobList(missing), launcher.place(len(missing), max((job.processes for job in missing), default=1)), board, folder)


def run(work: Work, place: Place, board: Board, folder: Path) -> None:
    """The sweep, with what is said at its beginning and at its end."""
    at_once = "" if work.over() else f", {place.slots} at a time" if place.slots < board.total else ", all at once"
    console.out(f"sweep   {board.total} jobs, {board.before} done before{at_once}; frozen in {folder}", highlight=False)
    try:
        if not work.over():
            Sweep(work, place, board).run()
    finally:
        report(board)
    if board.failures():
        sys.exit(1)


def report(board: Board) -> None:
    show_whole(board.summary())
    console.out(board.standing(), highlight=False)
    for line in board.failures():
        console.out(f"failed  {line}", highlight=False)
    if board.count("done") < board.total:
        console.out("The same command again runs what is missing.", highlight=False)
