"""How a command stops early: signals, wrong input and bad luck end in one clear line and a non-zero status.

Bugs in our code keep their traceback. Of several processes, only the first one speaks.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from ..errors import UserError
from ..files import is_fault_of_disk, tell_fault

# Set by torchrun, by Lightning for the processes it starts itself, and by SLURM's srun. Lightning's before SLURM's: the processes
# it starts from within an interactive job all inherit that job's SLURM_PROCID.
VARIABLES = ("RANK", "LOCAL_RANK", "SLURM_PROCID")
# SIGUSR1 is what SLURM is usually told to send before the time is up, SIGUSR2 what submitit tells it.
SIGNALS = (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT)
SAVED = "the state is saved, resume with ckpt_path=auto"


def is_first() -> bool:
    """Whether this process is the first or only one, which alone writes and shows; known before Lightning has started."""
    return next((int(os.environ[name]) for name in VARIABLES if name in os.environ), 0) == 0


class Interrupted(BaseException):
    """The program was asked to stop. Not an Exception, so that handlers for damaged files do not catch it.

    `standing` says what is saved and how to resume; empty if there was nothing to save.
    """

    def __init__(self, number: int, standing: str = "") -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number
        self.standing = standing
        self.exit_status = 128 + number


def stop_now(number: int, frame: FrameType | None) -> NoReturn:
    """What a signal does if nothing has to be finished first."""
    raise Interrupted(number)


def find_interruption(error: BaseException | None) -> Interrupted | None:
    """The interruption itself, or the one that caused this failure: libraries clean up half-built objects on the way out."""
    while error is not None and not isinstance(error, Interrupted):
        error = error.__cause__ or error.__context__
    return error


@contextmanager
def handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Meanwhile the signals that end a run go to this function."""
    before = {number: signal.signal(number, handler) for number in SIGNALS}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def requeue(number: int) -> None:
    """Request the same job again, if this signal was SLURM's warning (`--signal=USR1@120`).

    The run has saved by now. Not for SIGTERM, which cancels a job (and which SLURM sends on preemption, requeueing by itself),
    and not under submitit, which does this for its jobs.
    """
    job = os.environ.get("SLURM_JOB_ID")
    if number != signal.SIGUSR1 or job is None or "SUBMITIT_EXECUTOR" in os.environ or not is_first():
        return
    asked = subprocess.run(  # noqa: S603
        [shutil.which("scontrol") or "scontrol", "requeue", job], capture_output=True, text=True, check=False
    )
    said = "requeued; it resumes automatically" if asked.returncode == 0 else f"cannot be requeued: {asked.stderr.strip()}"
    print(f"SLURM job {job} {said}", file=sys.stderr)


@contextmanager
def explain_failures() -> Iterator[None]:
    """Turn known failures into messages."""
    try:
        # Before and after training there is nothing to save: these signals stop the program at once and with their status.
        with handled_by(stop_now):
            yield
    except (Interrupted, Exception) as error:
        if stop := find_interruption(error):
            if is_first():
                print(f"stopped by {stop}{': ' if stop.standing else ''}{stop.standing}", file=sys.stderr)
            requeue(stop.number)
            sys.exit(stop.exit_status)
        if isinstance(error, OSError) and is_fault_of_disk(error):
            error = UserError(tell_fault(error))
        if not isinstance(error, UserError):
            raise
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
