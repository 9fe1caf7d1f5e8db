"""The terminal: one console for all, tables that look alike, and views that also reach the log."""

import logging
import os

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table

log = logging.getLogger(__name__)
console = Console(highlight=False)
# Columns of what is written to a file; a terminal has its own.
FILE_WIDTH = 120


def width() -> int:
    """Columns that there are to write in."""
    return console.width if console.is_terminal or "COLUMNS" in os.environ else FILE_WIDTH


def show(view: RenderableType) -> None:
    """Through the log, so that train.log has it too."""
    drawing = Console(highlight=False, width=width())
    with drawing.capture() as capture:
        drawing.print(view)
    log.info("%s", capture.get().rstrip())


def table(title: str, *columns: str, numbers: list[str] | None = None, last: str = "") -> Table:
    """Text columns to the left, columns of numbers to the right, and a last one that may be long."""
    view = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in columns:
        view.add_column(column, no_wrap=True)
    for column in numbers or []:
        view.add_column(column, justify="right")
    if last:
        view.add_column(last)
    return view


def show_whole(view: Table) -> None:
    """Rows are not cut on their way into a file."""
    (console if console.is_terminal else Console(highlight=False, width=200)).print(view)
