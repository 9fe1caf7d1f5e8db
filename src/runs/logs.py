"""What is said to the screen is also written to the run's train.log, with the time."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..terminal import console

# Packages that tell every question to a server.
TALKATIVE = ("httpx", "httpx2", "httpcore")
ANSI = re.compile(r"\x1b\[[0-9;]*m")


class _Screen(logging.Handler):
    """Prints through the console that also draws the progress bar, so that lines appear above it."""

    def emit(self, record: logging.LogRecord) -> None:
        console.out(self.format(record), highlight=False)


class _Plain(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return ANSI.sub("", super().format(record))


class RunLog:
    """Keeps what has been said until there is a file for it."""

    def __init__(self, first: bool) -> None:
        self.root = logging.getLogger()
        self.root.setLevel(logging.INFO if first else logging.ERROR)
        for name in TALKATIVE:
            logging.getLogger(name).setLevel(logging.WARNING)
        self.said: list[logging.LogRecord] = []
        self.handlers: list[logging.Handler] = [_Screen(), _Keeper(self.said)]
        self.first = first
        for handler in self.handlers:
            self.root.addHandler(handler)

    def write_to(self, file: Path) -> None:
        """From now on into this file too, and first what was said before."""
        if self.first:
            written = logging.FileHandler(file, encoding="utf-8")
            written.setFormatter(_Plain("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S"))
            for record in self.said:
                written.handle(record)
            self.handlers.append(written)
            self.root.addHandler(written)

    def close(self) -> None:
        for handler in self.handlers:
            self.root.removeHandler(handler)
            handler.close()


class _Keeper(logging.Handler):
    def __init__(self, said: list[logging.LogRecord]) -> None:
        super().__init__()
        self.said = said

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record)


@contextmanager
def keep_log(first: bool) -> Iterator[RunLog]:
    """Messages of the program, from the first process only."""
    log = RunLog(first)
    try:
        yield log
    finally:
        log.close()
