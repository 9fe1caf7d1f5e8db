"""A table for a paper: built once as numbers, then written as Markdown, LaTeX or CSV."""

import csv
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..escapes import csv_cell, markdown_cell
from .intervals import Estimate


@dataclass(frozen=True)
class Cell:
    """What is shown, and the numbers behind it. `shade` colours the cell: 0 at chance, 1 at the best."""

    text: str
    numbers: tuple[tuple[str, float], ...] = ()
    shade: float | None = None
    strong: bool = False
    best: bool = False  # bold in every format
    under: bool = False  # underlined


@dataclass(frozen=True)
class Head:
    """A column: the heading it shares with its neighbours, and its own name. Published numbers are marked, never mixed in."""

    top: str
    name: str
    published: bool = False

    @property
    def flat(self) -> str:
        return f"{self.top} · {self.name}" if self.top else self.name


@dataclass(frozen=True)
class Grid:
    name: str  # of its files
    title: str
    note: str
    corner: str
    heads: tuple[Head, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


EMPTY = Cell("–")
LAST = "mean"  # the row set apart from those above it


def accuracy_cell(found: Estimate) -> Cell:
    """0.94 ± 0.02: mean and standard deviation over seeds; for one run, just its accuracy."""
    if not found.known:
        return EMPTY
    text = f"{found.mean:.2f}" + ("" if math.isnan(found.sd) else f" ± {found.sd:.2f}")
    numbers = (("value", found.mean), ("sd", found.sd), ("low", found.low), ("high", found.high))
    counts = (("runs", found.seeds), ("n", found.n), ("chance", found.chance))
    return Cell(text, (*numbers, *counts), _above_chance(found.mean, found.chance))


def _above_chance(value: float, chance: float) -> float | None:
    return None if math.isnan(chance) or chance >= 1 else max((value - chance) / (1 - chance), 0.0)


def chance_cell(values: Sequence[float]) -> Cell:
    """One chance level, or the lowest to the highest if the columns cover different items."""
    if not values:
        return EMPTY
    text = "–".join(dict.fromkeys(f"{value:.2f}" for value in (min(values), max(values))))
    return Cell(text, (("value", min(values)),))


def perplexity_cell(values: NDArray[np.float64], spread: Callable[[NDArray[np.float64]], float]) -> Cell:
    """Mean and standard deviation over seeds; empty while one of them is unknown."""
    if np.isnan(values).any():
        return EMPTY
    sd = spread(values)
    text = f"{values.mean():,.2f}" + ("" if math.isnan(sd) else f" ± {sd:,.2f}")
    return Cell(text, (("value", float(values.mean())), ("sd", sd), ("runs", len(values))))


def mark_best(cells: Sequence[Cell], groups: Sequence[object], lowest: bool = False) -> list[Cell]:
    """Bold the best of each group of comparable cells: every cell that reads the same as the best; none if all do.

    A group with a single cell, or the group None, has no best.
    """
    marked = list(cells)
    for group in dict.fromkeys(groups):
        own = [i for i, each in enumerate(groups) if each == group and group is not None and cells[i].numbers]
        values = {i: round(dict(cells[i].numbers)["value"], 2) for i in own}
        if len(set(values.values())) > 1:
            best = min(values.values()) if lowest else max(values.values())
            for i in own:
                marked[i] = replace(cells[i], best=values[i] == best)
    return marked


def freeze_rows(rows: Sequence[tuple[str, Sequence[Cell]]]) -> tuple[tuple[str, tuple[Cell, ...]], ...]:
    return tuple((label, tuple(cells)) for label, cells in rows)


def number_cell(value: float, text: str | None = None, chance: float = math.nan) -> Cell:
    """One number; with `chance`, an accuracy."""
    if math.isnan(value):
        return EMPTY
    return Cell(text if text is not None else f"{value:,.2f}", (("value", value),), _above_chance(value, chance))


def to_markdown(grid: Grid) -> str:
    """Markdown, to paste into a README or an issue."""
    heads = [markdown_cell(head.flat) + (" †" if head.published else "") for head in grid.heads]
    lines = [
        f"### {grid.title}",
        "",
        f"| {markdown_cell(grid.corner)} | " + " | ".join(heads) + " |",
        "|---|" + "--:|" * len(heads),
    ]
    for label, cells in grid.rows:
        lines.append(f"| {markdown_cell(label)} | " + " | ".join(map(_marked, cells)) + " |")
    return "\n".join([*lines, "", grid.note, ""])


def _marked(cell: Cell) -> str:
    """Markdown has no underline; its renderers show HTML's."""
    text = markdown_cell(cell.text)
    text = f"<u>{text}</u>" if cell.under else text
    return f"**{text}**" if cell.best else text


def spans(heads: Sequence[Head]) -> list[tuple[str, int]]:
    """Each shared heading and the number of columns it spans."""
    found: list[tuple[str, int]] = []
    for head in heads:
        if found and found[-1][0] == head.top:
            found[-1] = (head.top, found[-1][1] + 1)
        else:
            found.append((head.top, 1))
    return found


def to_csv(grid: Grid) -> str:
    """One row per cell, with all the numbers behind it: for programs."""
    names = list(dict.fromkeys(name for _, cells in grid.rows for cell in cells for name, _ in cell.numbers))
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["row", "column group", "column", "published", "text", *names])
    for label, cells in grid.rows:
        for head, cell in zip(grid.heads, cells, strict=True):
            numbers = dict(cell.numbers)
            values = ["" if math.isnan(numbers.get(name, math.nan)) else repr(float(numbers[name])) for name in names]
            names_and_text = map(csv_cell, (label, head.top, head.name, "yes" if head.published else "", cell.text))
            writer.writerow([*names_and_text, *values])
    return stream.getvalue()
