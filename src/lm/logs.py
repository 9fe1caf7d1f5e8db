"""What is said to the screen is also written to the run's train.log, with the time."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def logged_to(file: Path | None, first: bool) -> Iterator[None]:
    """Messages of the program, from the first process only; None writes no file."""
    root = logging.getLogger()
    root.setLevel(logging.INFO if first else logging.ERROR)
    screen = logging.StreamHandler(sys.stdout)
    screen.setFormatter(logging.Formatter("%(message)s"))
    handlers: list[logging.Handler] = [screen]
    if first and file is not None:
        written = logging.FileHandler(file, encoding="utf-8")
        written.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S"))
        handlers.append(written)
    for handler in handlers:
        root.addHandler(handler)
    try:
        yield
    finally:
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()
