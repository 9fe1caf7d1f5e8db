"""Suites in the terminal: by circuit, with normalised scores, and with and without a modifier."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rich.table import Table as View

from ..terminal import share, show_change, show_interval, table
from .accuracy import MEAN, Accuracy, ConstructionRow, GroupRow, Mean, Table
from .result_files import means_are_alike
from .suites.chance import above_chance
from .suites.circuits import CIRCUIT, Stability, circuit_name, equal_chance, in_circuit_order, stability, stability_means

SG_SCORE = "SG score"
NO_CIRCUIT = "no circuit"
ABOUT_SUITES = (
    "norm.: (accuracy − chance) / (1 − chance); a circuit is the unweighted mean of its suites, the SG score that of all suites"
)


class CircuitRows(NamedTuple):
    """A circuit and its suites; None for suites that belong to no circuit."""

    circuit: GroupRow | None
    suites: list[ConstructionRow]

    @property
    def name(self) -> str:
        return circuit_name(self.circuit.key) if self.circuit else NO_CIRCUIT


def has_circuits(shown: Table) -> bool:
    return any(group.grouping == CIRCUIT for group in shown.groups)


def mean_label(shown: Table) -> str:
    """What the mean over constructions is called, and how many it covers if not all."""
    name = SG_SCORE if has_circuits(shown) else MEAN
    return name if len(shown.mean.over) == len(shown.rows) else f"{name} of {len(shown.mean.over)}"


def rows_by_circuit(shown: Table) -> list[CircuitRows]:
    """In the papers' order; suites without a circuit come last."""
    groups = {group.key: group for group in shown.groups if group.grouping == CIRCUIT}
    suites = {key: group.members or group.over for key, group in groups.items()}  # older files name only what was scored
    found = [CircuitRows(groups[key], [shown.row(suite) for suite in suites[key]]) for key in in_circuit_order(groups)]
    inside = {row.construction for each in found for row in each.suites}
    rest = [row for row in shown.rows if row.construction not in inside]
    return [*found, CircuitRows(None, rest)] if rest else found


def suites_view(title: str, now: Table, before: Table | None = None) -> View:
    """Every circuit with its mean, followed by its suites."""
    changed = ["change"] if before else []
    view = table(title, "suite", numbers=["accuracy", "95 %", *changed, "chance", "norm.", "n", "ties", "uncovered"])
    was = {group.key: group.accuracy for group in before.groups} if before else {}
    for each in rows_by_circuit(now):
        if each.circuit is None:
            view.add_row(each.name, style="bold")
        else:
            change = [show_change(each.circuit.accuracy - was.get(each.circuit.key, math.nan))] if before else []
            view.add_row(each.name, *_numbers(each.circuit, change), "", "", "", style="bold")
        for row in each.suites:
            change = [show_change(row.all.accuracy - before.row(row.construction).all.accuracy)] if before else []
            counts = (f"{count:,}" for count in (row.all.n, row.all.ties, row.all.uncovered))
            view.add_row(f"  {row.construction}", *_numbers(row.all, change), *counts)
    view.add_section()
    change = [show_change(now.mean.accuracy - before.mean.accuracy)] if before else []
    view.add_row(mean_label(now), *_numbers(now.mean, change), "", "", "", style="bold")
    return view


def circuits_view(title: str, tables: Mapping[str, Table]) -> View:
    """Several models or reference lines on the same suites, circuit by circuit."""
    view = table(title, "suite", numbers=list(tables))
    for each in rows_by_circuit(next(iter(tables.values()))):
        means = [_group_share(one, each.circuit.key) for one in tables.values()] if each.circuit else []
        view.add_row(each.name, *means, style="bold")
        for row in each.suites:
            view.add_row(f"  {row.construction}", *(share(one.row(row.construction).all.accuracy) for one in tables.values()))
    view.add_section()
    view.add_row(SG_SCORE, *(share(one.mean.accuracy) for one in tables.values()), style="bold")
    if not means_are_alike(tables.values()):
        view.add_row(f"{SG_SCORE} of", *(str(len(one.mean.over)) if one.mean.over else "" for one in tables.values()))
    return view


def stability_view(tables: Mapping[str, Table]) -> View | None:
    """Accuracy without and with a modifier, one row per phenomenon, both for every model; None if no suite has a modifier."""
    found = {name: table_stability(shown) for name, shown in tables.items()}
    bases = list(dict.fromkeys(row.base for rows in found.values() for row in rows))
    if not bases:
        return None
    view = table("without → with a modifier", "phenomenon", numbers=list(tables), last="versions with a modifier")
    for base in bases:
        own = [next((row for row in rows if row.base == base), None) for rows in found.values()]
        modified = next(row.modified for row in own if row)
        view.add_row(base, *("–" if row is None else _arrow(row.without, row.within) for row in own), ", ".join(modified))
    view.add_section()
    chance = {row.construction: row.all.chance for row in next(iter(tables.values())).rows}
    for label, kept in stability_selections(chance, [row for rows in found.values() for row in rows]):
        own_rows = [[row for row in rows if row.base in kept] for rows in found.values()]
        view.add_row(label, *(_arrow(*stability_means(rows)) if rows else "–" for rows in own_rows), "", style="bold")
    return view


def table_stability(shown: Table) -> list[Stability]:
    """Stability over the suites that could be scored."""
    return stability({row.construction: row.all.accuracy for row in shown.rows if row.all.n}, shown.bases)


def stability_selections(chance: Mapping[str, float], rows: Sequence[Stability]) -> Iterator[tuple[str, set[str]]]:
    """Means over all phenomena; and, if different, over those whose chance is the same without and with."""
    every = {row.base for row in rows}
    yield "mean", every
    fair = {row.base for row in equal_chance(rows, chance)}
    if fair and fair < every:
        yield f"mean of the {len(fair)} with equal chance", fair


def _arrow(without: float, within: float) -> str:
    return f"{without:.2f} → {within:.2f}"


def _numbers(shown: Accuracy | GroupRow | Mean, change: list[str]) -> list[str]:
    norm = above_chance(shown.accuracy, shown.chance)
    return [share(shown.accuracy), show_interval(shown.interval), *change, share(shown.chance), share(norm)]


def _group_share(shown: Table, key: str) -> str:
    return next((share(group.accuracy) for group in shown.groups if group.key == key), "–")
