"""Tables by any feature of the items: `attractor_number`, `distance`, … down or across."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from pyarrow import parquet

from data.errors import UserError

from .conditions import Group
from .grids import EMPTY, Cell, Grid, Head, accuracy_cell
from .intervals import Estimate, spread
from .results import Result
from .wording import construction_name, language_name

# Of the run, not of the item.
OF_RUNS = ("condition", "language")
CONSTRUCTION = "construction"


def crossed(groups: Sequence[Group], rows: str, columns: str) -> Grid:
    """`rows` and `columns` are names of features, joined by commas where they are several."""
    down, across = ([name for name in each.split(",") if name] for each in (rows, columns))
    across += [name for name in OF_RUNS if name not in [*down, *across] and _varies(groups, name)]
    found: dict[tuple[Any, ...], dict[tuple[Any, ...], list[tuple[float, int]]]] = {}
    for group in groups:
        for result in group.results:
            for (row, column), value in _of(group, result, down, across).items():
                found.setdefault(row, {}).setdefault(column, []).append(value)
    if not found:
        raise UserError(f"--rows {rows} --columns {columns}: no finished run with items has all of these features")
    order = list(dict.fromkeys(column for cells in found.values() for column in cells))
    order.sort(key=lambda column: tuple(str(part) for part in column))
    heads = tuple(
        Head(", ".join(_shown(n, v) for n, v in list(zip(across, c, strict=True))[1:]), _shown(across[0], c[0])) for c in order
    )
    heads = tuple(Head("", "all") for _ in order) if not across else heads
    lines = tuple(
        (", ".join(_shown(n, v) for n, v in zip(down, row, strict=True)), tuple(_cell(cells.get(c)) for c in order))
        for row, cells in found.items()
    )
    name = "by-" + "-".join([*down, "and", *across])
    return Grid(
        name,
        f"Accuracy by {', '.join(down)} and {', '.join(across) or 'nothing else'}",
        "Mean ± standard deviation over seeds.",
        ", ".join(down),
        heads,
        lines,
    )


def _varies(groups: Sequence[Group], name: str) -> bool:
    return len({group.name if name == "condition" else group.language for group in groups}) > 1


def _of(group: Group, result: Result, down: list[str], across: list[str]) -> dict[tuple[Any, Any], tuple[float, int]]:
    """Accuracy and n of every combination of values, in the items of one model."""
    if result.items is None:
        return {}
    own = {"condition": group.name, "language": result.language}
    asked = [name for name in [*down, *across] if name not in own]
    known = parquet.read_schema(result.items).names
    if any(name not in known for name in asked):
        return {}
    table = parquet.read_table(result.items, columns=[*dict.fromkeys(asked), "verdict", "covered"])
    verdict, covered = table["verdict"].to_numpy(), table["covered"].to_numpy()
    columns = {name: table[name].to_pylist() for name in asked}
    places: dict[tuple[Any, Any], list[int]] = {}
    for i in np.flatnonzero(covered).tolist():
        values = {name: column[i] for name, column in columns.items()} | own
        if all(values[name] is not None for name in asked):
            places.setdefault((tuple(values[n] for n in down), tuple(values[n] for n in across)), []).append(i)
    return {key: (float(verdict[rows].mean()), len(rows)) for key, rows in places.items()}


def _shown(name: str, value: Any) -> str:
    if name == CONSTRUCTION:
        return construction_name(str(value))
    if name == "language":
        return language_name(str(value))
    return str(value) if name in OF_RUNS else f"{name}={value}"


def _cell(values: list[tuple[float, int]] | None) -> Cell:
    if not values:
        return EMPTY
    each = np.array([value for value, _ in values])
    return accuracy_cell(Estimate(float(each.mean()), spread(each), math.nan, math.nan, len(each), values[0][1]))
