"""Means over constructions: which ones, stated wherever means appear side by side."""

from collections.abc import Sequence
from dataclasses import replace

from ..probes.accuracy import MEAN, SEVEN
from .conditions import RunCondition
from .estimates import Estimates
from .grids import EMPTY, Cell, accuracy_cell
from .wording import paper_name


def about_mean(conditions: Sequence[RunCondition]) -> str:
    """Which constructions these conditions' means cover."""
    over = {frozenset(map(paper_name, condition.first.mean_over)) for condition in conditions}
    if len(over) > 1:
        return "mean: unweighted, over the number of constructions it states (columns differ in which ones they have)."
    names = over.pop() if over else frozenset()
    if names == set(SEVEN):
        return "mean: unweighted, over the seven CLAMS constructions."
    clams = "CLAMS " if names & set(SEVEN) else ""
    counted = f"one {clams}construction" if len(names) == 1 else f"{len(names)} {clams}constructions"
    return f"mean: unweighted, over the {counted} tested."


def mean_cells(estimates: Estimates) -> list[Cell]:
    """Means over different constructions never appear side by side unmarked: each then says how many it covers."""
    over = [condition.first.mean_over for condition in estimates.conditions]
    cells = [accuracy_cell(estimates.of(condition, MEAN)) for condition in estimates.conditions]
    if len({frozenset(map(paper_name, names)) for names in over}) == 1:
        return cells
    return [
        cell if cell is EMPTY else replace(cell, text=f"{cell.text} of {len(names)}")
        for cell, names in zip(cells, over, strict=True)
    ]
