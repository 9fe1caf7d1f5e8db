"""The terminal: one console for all, tables and numbers that look alike, and the log, which a run also keeps in train.log."""

import copy
import logging
import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Column, Table

from .escapes import printable

log = logging.getLogger(__name__)
# Without markup: untrusted names may look like it.
console = Console(highlight=False, markup=False)
# Columns of what is written to a file; a terminal has its own width.
FILE_WIDTH = 120
MOST_NAMES = 2  # text columns that name a row
READABLE = 30  # columns that running text needs
# Packages that log every request to a server.
TALKATIVE = ("httpx", "httpx2", "httpcore")
ANSI = re.compile(r"\x1b\[[0-9;]*m")
UNCHANGED = "="


def width() -> int:
    """The columns available."""
    return console.width if console.is_terminal or "COLUMNS" in os.environ else FILE_WIDTH


def show(view: RenderableType) -> None:
    """Print through the log, so that train.log has it too."""
    drawing = Console(highlight=False, markup=False, width=width())
    with drawing.capture() as capture:
        drawing.print(view)
    log.info("%s", capture.get().rstrip())


def print_view(view: RenderableType) -> None:
    """Print without the log, for code running inside other programs; never narrower than a file."""
    Console(highlight=False, markup=False, width=width()).print(view)


class _Table(Table):
    """Cells are shown verbatim, whatever they contain. Numbers are never cut: columns that do not fit follow below, beside the
    row names again.
    """

    def add_row(self, *cells: RenderableType | None, **how: Any) -> None:
        super().add_row(*(printable(cell) if isinstance(cell, str) else cell for cell in cells), **how)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for part in self.parts(console, options):
            yield from Table.__rich_console__(part, console, options)

    def parts(self, console: Console, options: ConsoleOptions) -> list[Table]:
        """Tables that fit, each with the leading text columns, which name the rows."""
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
        """The width it needs: names and numbers in full, a head by its longest word, running text enough to be readable."""
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
    """Whether a table fits without being split."""
    return not isinstance(view, _Table) or len(view.parts(console, console.options.update(width=width()))) == 1


def table(title: str, *columns: str, numbers: list[str] | None = None, last: str = "") -> Table:
    """Text columns on the left, number columns on the right, and a last one that may be long."""
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


class _Screen(logging.Handler):
    """Prints through the console that also draws the progress bar, so that lines appear above it."""

    def emit(self, record: logging.LogRecord) -> None:
        console.out(self.format(record), highlight=False)


class _Plain(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return ANSI.sub("", super().format(record))


class RunLog:
    """Keeps messages until there is a file for them."""

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
        """From now on also write to this file, starting with the earlier messages."""
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
    """The program's messages, from the first process only."""
    kept = RunLog(first)
    try:
        yield kept
    finally:
        kept.close()


def share(value: float) -> str:
    """0.94, or – if there is nothing."""
    return "–" if math.isnan(value) else f"{value:.2f}"


def show_interval(interval: tuple[float, float]) -> str:
    return "–" if math.isnan(interval[0]) else f"{interval[0]:.2f}–{interval[1]:.2f}"


def show_change(value: float) -> str:
    if math.isnan(value):
        return ""
    return UNCHANGED if abs(value) < 0.005 else f"{value:+.2f}"
