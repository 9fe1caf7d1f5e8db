"""Tables by any features of the items (`attractor_number`, `distance`, …), down or across."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from pyarrow import parquet

from ..errors import UserError
from .conditions import RunCondition
from .grids import EMPTY, Cell, Grid, Head, accuracy_cell
from .intervals import Estimate, spread
from .results import Result
from .texts import OTHER
from .wording import construction_name, in_paper_order, language_name

# Features of the run, not of the item.
OF_RUNS = ("language", "set", "condition")
CONSTRUCTION = "construction"
ABOUT = "Mean ± standard deviation over seeds (n − 1), each over all covered contrasts with these values."
FeatureValue = str | float | None
Values = tuple[FeatureValue, ...]
Cells = dict[Values, dict[Values, list[tuple[float, int]]]]


def feature_table(conditions: Sequence[RunCondition], rows: str, columns: str, name: str = "", title: str = "") -> Grid:
    """`rows` and `columns` are feature names, comma-separated; an error if no item has them."""
    if made := feature_table_if_any(conditions, rows, columns, name, title):
        return made
    asked = " ".join(f"{option} {names}" for option, names in (("--rows", rows), ("--columns", columns)) if names)
    raise UserError(f"{asked}: no finished run with items has all of these features{_known_features(conditions)}")


def feature_table_if_any(
    conditions: Sequence[RunCondition], rows: str, columns: str, name: str = "", title: str = ""
) -> Grid | None:
    """The same, or None if no covered item has all of these features."""
    down, across = ([name.strip() for name in each.split(",") if name.strip()] for each in (rows, columns))
    across += [name for name in OF_RUNS if name not in [*down, *across] and _varies(conditions, name)]
    found, lacking = _collect_cells(conditions, down, across)
    if not found:
        return None
    order = _sort_values(dict.fromkeys(column for cells in found.values() for column in cells), across)
    lines = tuple(
        (_label(down, row) or "all", tuple(_cell(found[row].get(column)) for column in order))
        for row in _sort_values(found, down)
    )
    note = ABOUT + (f" Not shown, since no item has these features: {', '.join(lacking)}." if lacking else "")
    title = title or f"Accuracy by {', '.join(down) or 'nothing'}" + (f" and {', '.join(across)}" if across else "")
    name = name or "-".join(["by", *down, *(["and"] if across else []), *across])
    return Grid(name, title, note, ", ".join(down), tuple(_head(across, column) for column in order), lines)


def _collect_cells(conditions: Sequence[RunCondition], down: list[str], across: list[str]) -> tuple[Cells, list[str]]:
    """Accuracy and n of every model, by row and column; and the models that have none."""
    found: Cells = {}
    lacking = []
    for condition in conditions:
        for result in condition.results:
            own = _accuracies(condition, result, down, across)
            lacking += [] if own else [result.name]
            for (row, column), value in own.items():
                found.setdefault(row, {}).setdefault(column, []).append(value)
    return found, lacking


def _sort_values(keys: Iterable[Values], names: Sequence[str]) -> list[Values]:
    """Numbers by size, constructions in paper order, everything else alphabetically; the first feature sorts first."""
    keys = list(keys)
    places = (
        {c: i for i, c in enumerate(in_paper_order([str(k[names.index(CONSTRUCTION)]) for k in keys]))}
        if CONSTRUCTION in names
        else {}
    )

    def place(key: Values) -> list[tuple[bool, float, str]]:
        return [
            (False, places[str(value)], "") if name == CONSTRUCTION else _place(value)
            for name, value in zip(names, key, strict=True)
        ]

    return sorted(keys, key=place)


def _place(value: FeatureValue) -> tuple[bool, float, str]:
    try:
        return False, float("" if value is None else value), ""
    except ValueError:
        return True, 0.0, str(value)


def _head(across: Sequence[str], column: Values) -> Head:
    """The last feature varies fastest and names the column; the others go above it."""
    return Head(_label(across[:-1], column[:-1]), _label(across[-1:], column[-1:]) or "all")


def _label(names: Sequence[str], values: Values) -> str:
    return ", ".join(_format_value(name, value) for name, value in zip(names, values, strict=True))


def _known_features(conditions: Sequence[RunCondition]) -> str:
    """The features that exist, for the error message."""
    files = [result.items for condition in conditions for result in condition.results if result.items]
    names = [name for name in (parquet.read_schema(files[0]).names if files else []) if name not in OTHER]
    return f"; available: {', '.join([CONSTRUCTION, *OF_RUNS, *names])}" if names else ""


def _varies(conditions: Sequence[RunCondition], name: str) -> bool:
    values = {"condition": lambda c: c.name, "language": lambda c: c.language, "set": lambda c: c.first.set}
    return len({values[name](condition) for condition in conditions}) > 1


def _accuracies(
    condition: RunCondition, result: Result, down: list[str], across: list[str]
) -> dict[tuple[Values, Values], tuple[float, int]]:
    """Accuracy and n for every combination of values in one model's items."""
    if result.items is None:
        return {}
    own = {"condition": condition.name, "language": result.language, "set": result.set}
    asked = [name for name in [*down, *across] if name not in own]
    known = parquet.read_schema(result.items).names
    if any(name not in known for name in asked):
        return {}
    table = parquet.read_table(result.items, columns=[*dict.fromkeys(asked), "verdict", "covered"])
    verdict, covered = table["verdict"].to_numpy(), table["covered"].to_numpy()
    columns = {name: table[name].to_pylist() for name in asked}
    places: dict[tuple[Values, Values], list[int]] = {}
    for i in np.flatnonzero(covered).tolist():
        values = {name: column[i] for name, column in columns.items()} | own
        if all(values[name] is not None for name in asked):
            places.setdefault((tuple(values[n] for n in down), tuple(values[n] for n in across)), []).append(i)
    return {key: (float(verdict[rows].mean()), len(rows)) for key, rows in places.items()}


def _format_value(name: str, value: FeatureValue) -> str:
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
