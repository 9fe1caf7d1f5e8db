"""Means over constructions: over which, and said wherever they stand side by side."""

from collections.abc import Sequence
from dataclasses import replace

from ..probes.accuracy import MEAN, SEVEN
from .conditions import RunCondition
from .estimates import Estimates
from .grids import EMPTY, Cell, accuracy_cell
from .wording import paper_name


def about_mean(conditions: Sequence[RunCondition]) -> str:
    """Over which constructions the means of these conditions are."""
    over = {frozenset(map(paper_name, condition.first.mean_over)) for condition in conditions}
    if len(over) > 1:
        return "mean: unweighted, over as many constructions as it says (columns differ in which they were asked)."
    names = over.pop() if over else frozenset()
    if names == set(SEVEN):
        return "mean: unweighted, over the seven constructions of CLAMS."
    return f"mean: unweighted, over {'the one construction' if len(names) == 1 else f'the {len(names)} constructions'} asked" + (
        f", those of CLAMS among them{' alone' if names < set(SEVEN) else ''}." if names & set(SEVEN) else "."
    )


def mean_cells(estimates: Estimates) -> list[Cell]:
    """Means over different constructions never stand side by side unmarked: then each says over how many it is."""
    over = [condition.first.mean_over for condition in estimates.conditions]
    cells = [accuracy_cell(estimates.of(condition, MEAN)) for condition in estimates.conditions]
    if len({frozenset(map(paper_name, names)) for names in over}) == 1:
        return cells
    return [
        cell if cell is EMPTY else replace(cell, text=f"{cell.text} of {len(names)}")
        for cell, names in zip(cells, over, strict=True)
    ]
