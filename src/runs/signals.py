"""The signals that ask a run to stop, and what a run says when it has obeyed."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

# SIGUSR1 is what SLURM is usually told to send before the time is up, SIGUSR2 what submitit tells it.
SIGNALS = (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT)
SAVED = "the state is saved, resume with ckpt_path=auto"


class Interrupted(BaseException):
    """The program was asked to stop. Not an Exception: whoever catches those for a file that is damaged must not catch this.

    `standing` says what is saved and how to resume; empty where there was nothing to save.
    """

    def __init__(self, number: int, standing: str = "") -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number
        self.standing = standing
        self.exit_status = 128 + number


def stop_now(number: int, frame: FrameType | None) -> NoReturn:
    """What a signal does where nothing has to be finished first."""
    raise Interrupted(number)


def find_interruption(error: BaseException | None) -> Interrupted | None:
    """The interruption itself, or the one on whose way out something else failed: libraries tidy up half-made objects."""
    while error is not None and not isinstance(error, Interrupted):
        error = error.__cause__ or error.__context__
    return error


@contextmanager
def heeded() -> Iterator[None]:
    """Before and after training, where there is nothing to save, these signals stop the program at once and with their status."""
    with handled_by(stop_now):
        yield


@contextmanager
def handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Meanwhile the signals that end a run go to this function."""
    before = {number: signal.signal(number, handler) for number in SIGNALS}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
