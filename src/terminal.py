"""The terminal: one console for all, tables that look alike, and views that also reach the log."""

import copy
import logging
import os
from dataclasses import replace
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Column, Table

from .escapes import printable

log = logging.getLogger(__name__)
# Without markup: names of strangers may look like it.
console = Console(highlight=False, markup=False)
# Columns of what is written to a file; a terminal has its own.
FILE_WIDTH = 120
MOST_NAMES = 2  # columns of text that name a row
READABLE = 30  # columns that running text needs


def width() -> int:
    """Columns that there are to write in."""
    return console.width if console.is_terminal or "COLUMNS" in os.environ else FILE_WIDTH


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
    """Its cells are shown as they are written, whatever is in them. Numbers are never cut: columns for which there is no room
    follow below, beside the names of the rows.
    """

    def add_row(self, *cells: RenderableType | None, **how: Any) -> None:
        super().add_row(*(printable(cell) if isinstance(cell, str) else cell for cell in cells), **how)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for part in self.parts(console, options):
            yield from Table.__rich_console__(part, console, options)

    def parts(self, console: Console, options: ConsoleOptions) -> list[Table]:
        """Tables that fit, each with the first columns of text, which name the rows."""
        widths = [self._width_of(column, console, options) for column in self.columns]
        names = [place for place, column in enumerate(self.columns[:MOST_NAMES]) if column.no_wrap] or [0]
        room = options.max_width - self._extra_width - sum(widths[place] for place in names)
        groups: list[list[int]] = [[]]
        for place in range(len(names), len(self.columns)):
            if groups[-1] and sum(widths[each] for each in groups[-1]) + widths[place] > room:
                groups.append([])
            groups[-1].append(place)
        return [self] if len(groups) == 1 else [self._part([*names, *own], number) for number, own in enumerate(groups)]

    def _width_of(self, column: Column, console: Console, options: ConsoleOptions) -> int:
        """What it needs: names and numbers whole, a head by its longest word, running text so much that it can be read."""
        whole = column.no_wrap or column.justify == "right"
        cells = [console.measure(cell, options=options) for cell in column.cells]
        widest = max((each.maximum if whole else min(each.maximum, READABLE) for each in cells), default=0)
        return max(widest, console.measure(column.header, options=options).minimum) + self._get_padding_width(column._index)

    def _part(self, places: list[int], number: int) -> Table:
        part = copy.copy(self)
        part.columns = [replace(self.columns[place], _index=at) for at, place in enumerate(places)]
        part.title = None if number else self.title
        return part


def fits(view: Table) -> bool:
    """Whether a table need not be taken apart."""
    return not isinstance(view, _Table) or len(view.parts(console, console.options.update(width=width()))) == 1


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
