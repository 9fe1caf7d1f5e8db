"""Suite tables: with and without a modifier, and which comparison of a prediction fails."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from pyarrow import parquet

from ..files import JsonObject
from ..probes.suite_display import stability_selections
from ..probes.suites.circuits import Stability, stability, stability_means
from .conditions import RunCondition, about_deviation
from .estimates import Estimates
from .grids import EMPTY, Cell, Grid, Head, freeze_rows, number_cell
from .left_out import UNREADABLE
from .results import Result
from .wording import construction_labels, language_name

Holding = dict[tuple[str, str, int], tuple[str, float, int]]  # suite, contrast, place → what is compared, its share, n


def suite_tables(estimates: Estimates) -> list[Grid]:
    """The suite tables that have numbers."""
    return [made for made in (stability_table(estimates), clause_table(estimates)) if made]


def stability_table(estimates: Estimates) -> Grid | None:
    """One row per phenomenon, without and with a modifier (Pérez-Mayos et al. 2021, Figures 3 and 4)."""
    found = {id(condition): condition_stability(condition) for condition in estimates.conditions}
    conditions = [condition for condition in estimates.conditions if found[id(condition)]]
    if not conditions:
        return None
    labels = construction_labels(estimates.constructions)
    every = [row for condition in conditions for row in found[id(condition)]]
    rows: list[tuple[str, list[Cell]]] = []
    for base in dict.fromkeys(row.base for row in every):
        versions = dict.fromkeys(name for row in every if row.base == base for name in row.modified)
        cells = [cell for c in conditions for cell in _pair_cells([r for r in found[id(c)] if r.base == base])]
        rows.append((f"{labels.get(base, base)} ({', '.join(labels.get(name, name) for name in versions)})", cells))
    chance = {name: condition.first.chance(name) for condition in conditions for name in condition.constructions}
    for label, kept in stability_selections(chance, every):
        rows.append((label, [cell for c in conditions for cell in _pair_cells([r for r in found[id(c)] if r.base in kept])]))
    heads = [
        Head(f"{language_name(condition.language)}, {condition.name_with_seeds}", name)
        for condition in conditions
        for name in ("without", "with")
    ]
    note = (
        "Accuracy of suites without a modifier and of their versions with one (in brackets), first averaged within their "
        "phenomenon; means over seeds. A phenomenon whose versions differ in chance is not comparable: the second mean, "
        "if shown, leaves it out."
    )
    return Grid("stability", "With and without a modifier", note, "phenomenon", tuple(heads), freeze_rows(rows))


def condition_stability(condition: RunCondition) -> list[Stability]:
    """Stability computed from each suite's mean accuracy over seeds."""
    values: dict[str, float] = {}
    for name in condition.constructions:
        own = [result.scores[name].accuracy for result in condition.results if name in result.scores and result.scores[name].n]
        if own:
            values[name] = float(np.mean(own))
    return stability(values, condition.first.bases)


def _pair_cells(rows: Sequence[Stability]) -> tuple[Cell, Cell]:
    if not rows:
        return EMPTY, EMPTY
    without, within = stability_means(rows)
    return number_cell(without), number_cell(within)


def clause_table(estimates: Estimates) -> Grid | None:
    """How often each comparison of a prediction holds on its own."""
    found = [[_holding(result) for result in condition.results] for condition in estimates.conditions]
    keys = list(dict.fromkeys(key for own in found for each in own for key in each))
    several = {key[:2] for key in keys if key[2] > 0}
    keys = [key for key in keys if key[:2] in several]  # for a single comparison, the accuracy says it all
    if not keys:
        return None
    labels = construction_labels(estimates.constructions)
    rows = []
    for key in keys:
        text = next(each[key][0] for own in found for each in own if key in each)
        cells = [
            _share_cell(condition, [each[key][1:] for each in own if key in each])
            for condition, own in zip(estimates.conditions, found, strict=True)
        ]
        rows.append((f"{labels.get(key[0], key[0])}: {text}", cells))
    heads = tuple(Head(language_name(c.language), c.name_with_seeds) for c in estimates.conditions)
    note = (
        "Share of covered items in which a comparison holds on its own; chance is 0.50 if two regions are compared. An item "
        f"counts only if all comparisons of its prediction hold. Mean {about_deviation(estimates.conditions)}."
    )
    return Grid("clauses", "Which comparison fails", note, "comparison", heads, freeze_rows(rows))


def _share_cell(condition: RunCondition, values: Sequence[tuple[float, int]]) -> Cell:
    if not values:
        return EMPTY
    shares = np.array([share for share, _ in values])
    sd = condition.spread(shares)
    text = f"{shares.mean():.2f}" + ("" if math.isnan(sd) else f" ± {sd:.2f}")
    return Cell(text, (("value", float(shares.mean())), ("sd", sd), ("n", float(values[0][1]))), max(2 * shares.mean() - 1, 0.0))


def _holding(result: Result) -> Holding:
    """From the verdict file; empty if it says nothing about predictions."""
    try:
        stated = stated_predictions(result.items)
        if not stated or result.items is None:
            return {}
        table = parquet.read_table(result.items, columns=["construction", "contrast", "covered", "clause_margins"]).to_pylist()
    except UNREADABLE:
        return {}
    margins: dict[tuple[str, str], list[list[float]]] = {}
    for row in table:
        if row["covered"]:
            margins.setdefault((row["construction"], row["contrast"]), []).append(row["clause_margins"])
    found: Holding = {}
    for (suite, contrast), own in margins.items():
        clauses = stated.get(suite, {}).get(contrast, {}).get("clauses", [])
        if not all(len(each) == len(clauses) for each in own):
            continue
        for place, text in enumerate(clauses):
            held = [each[place] > 0 or (" = " in text and each[place] == 0) for each in own]
            found[suite, contrast, place] = (text, float(np.mean(held)), len(held))
    return found


def stated_predictions(items: Path | None) -> Mapping[str, JsonObject]:
    """What the clauses in a verdict file compare, by suite and contrast."""
    if items is None:
        return {}
    about = json.loads((parquet.read_schema(items).metadata or {}).get(b"concord", b"{}"))
    found: Mapping[str, JsonObject] = about.get("predictions", {})
    return found
