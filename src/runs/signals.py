"""The signals that ask a run to stop, and what a run says when it has obeyed."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

# SIGUSR1 is what SLURM is usually told to send before the time is up, SIGUSR2 what submitit tells it.
SIGNALS = (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT)


class Interrupted(Exception):
    """The run was asked to stop; whatever it had to save is saved."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number
        self.exit_status = 128 + number


@contextmanager
def heeded() -> Iterator[None]:
    """Before and after training, where there is nothing to save, these signals stop the program at once and with their status."""

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        raise Interrupted(number)

    before = {number: signal.signal(number, stop) for number in SIGNALS if number != signal.SIGINT}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
