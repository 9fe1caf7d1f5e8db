"""The terminal: one console for all, tables that look alike, and views that also reach the log."""

import logging
import os
from typing import Any

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table

from .escapes import printable

log = logging.getLogger(__name__)
# Without markup: names of strangers may look like it.
console = Console(highlight=False, markup=False)
# Columns of what is written to a file; a terminal has its own.
FILE_WIDTH = 120


def width() -> int:
    """Columns that there are to write in."""
    return console.width if console.is_terminal or "COLUMNS" in os.environ else FILE_WIDTH


def fits(view: RenderableType) -> bool:
    """Whether there is room for it without a line that is broken or cut."""
    return Console(width=10_000).measure(view).maximum <= width()


def show(view: RenderableType) -> None:
    """Through the log, so that train.log has it too."""
    drawing = Console(highlight=False, markup=False, width=width())
    with drawing.capture() as capture:
        drawing.print(view)
    log.info("%s", capture.get().rstrip())


def print_view(view: RenderableType) -> None:
    """Without the log, for what runs inside the programs of others; never cut to less than a file is wide."""
    Console(highlight=False, markup=False, width=width()).print(view)


class _Table(Table):
    """Its cells are shown as they are written, whatever is in them."""

    def add_row(self, *cells: RenderableType | None, **how: Any) -> None:
        super().add_row(*(printable(cell) if isinstance(cell, str) else cell for cell in cells), **how)


def table(title: str, *columns: str, numbers: list[str] | None = None, last: str = "") -> Table:
    """Text columns to the left, columns of numbers to the right, and a last one that may be long."""
    view = _Table(title=printable(title), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in columns:
        view.add_column(printable(column), no_wrap=True)
    for column in numbers or []:
        view.add_column(printable(column), justify="right")
    if last:
        view.add_column(last)
    return view


def show_whole(view: Table) -> None:
    """Rows are not cut on their way into a file."""
    (console if console.is_terminal else Console(highlight=False, markup=False, width=200)).print(view)
