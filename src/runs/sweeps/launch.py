"""From the settings of all jobs to their end: freeze, skip what is done, run the rest, report how it went."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from ...settings.run import RunSettings
from ...terminal import console, show_whole
from .board import Board
from .job import TRAIN, freeze, is_done, labels, make_job, must_differ
from .loop import JobList, JobPlace, Sweep, Work


class JobPlaces(Protocol):
    """What our launchers offer: where jobs can run, and a folder for their settings."""

    folder: Path

    def place(self, total: int, processes: int) -> JobPlace: ...


def launch_jobs(
    runs: Sequence[RunSettings],
    overrides: Sequence[Sequence[str]],
    first: int,
    launcher: JobPlaces,
    start: tuple[str, ...] = TRAIN,
) -> None:
    """Exits with status 1 if a job failed."""
    folder = launcher.folder
    configs = [folder / f"job-{first + number + 1}.yaml" for number in range(len(runs))]
    jobs = [make_job(*job, start) for job in zip(runs, labels(overrides), configs, strict=True)]
    must_differ(jobs)
    before = [job for job, settings in zip(jobs, runs, strict=True) if is_done(job, settings)]
    missing = [job for job in jobs if job not in before]
    for job, settings in zip(jobs, runs, strict=True):
        if job in missing:
            freeze(job, settings)
    board = Board(len(jobs), [(job, "done") for job in before])
    run(JobList(missing), launcher.place(len(missing), max((job.processes for job in missing), default=1)), board, folder)


def run(work: Work, place: JobPlace, board: Board, folder: Path) -> None:
    """The sweep, with its opening and closing messages."""
    at_once = "" if work.over() else f", {place.slots} at a time" if place.slots < board.total else ", all at once"
    console.out(f"sweep   {board.total} jobs, {board.before} already done{at_once}; settings frozen in {folder}", highlight=False)
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
        console.out("Run the same command again to complete what is missing.", highlight=False)
