"""Progress while a model scores: a bar with sentences per second and the time left, only in a terminal."""

import contextlib
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


@contextlib.contextmanager
def shown(what: str, sentences: int) -> Iterator[Callable[[float], None]]:
    """Yields a function to call with each further share of completed work."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal or not sentences:
        yield lambda share: None
        return
    columns = [
        TextColumn("{task.description}"),
        BarColumn(bar_width=16),
        TextColumn("{task.percentage:>3.0f}% {task.fields[speed]}"),
        TimeRemainingColumn(),
        TextColumn("left"),
    ]
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=1.0, speed="")
        started = time.perf_counter()

        def advance(share: float) -> None:
            done = bar.tasks[0].completed + share
            speed = sentences * done / max(time.perf_counter() - started, 1e-9)
            bar.update(task, completed=done, speed=f"{speed:,.1f} sentences/s")

        yield advance
