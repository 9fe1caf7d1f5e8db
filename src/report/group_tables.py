"""Accuracy by groups of items (by number of subject and attractor, or as a collection declares) and of constructions."""

import math
from collections.abc import Sequence

import numpy as np

from ..probes.probe import CONTRAST
from .conditions import RunCondition, about_deviation
from .estimates import Estimates
from .feature_tables import CONSTRUCTION, feature_table
from .grids import EMPTY, Cell, Grid, Head, accuracy_cell, freeze_rows
from .intervals import Estimate
from .results import NUMBER, ConstructionGroup, Score
from .wording import PARTS, construction_labels, construction_name, language_name

ATTRACTOR = " An attractor is a noun that the verb does not agree with."
RESTS_ON = " The number of contrasts behind each value is in the CSV file, and on the page when you hover over it."
POOLED = ("matched", "mismatched")  # covered by other groups of the same grouping, and not shown twice


def grouping_tables(estimates: Estimates) -> list[Grid]:
    """One table for each way in which the collection groups its items."""
    names: dict[str, list[str]] = {}
    for condition in estimates.conditions:
        for grouping, parts in condition.first.groupings.items():
            own = names.setdefault(grouping, [])
            if grouping == CONTRAST:  # has its own table, with intervals
                continue
            own += [part for part in parts if part not in own]
    return [made for grouping, parts in names.items() if (made := _grouping_table(estimates, grouping, parts))]


def _grouping_table(estimates: Estimates, grouping: str, parts: Sequence[str]) -> Grid | None:
    labels = construction_labels(estimates.constructions)
    rows = []
    for name in estimates.constructions:
        for part in parts:
            cells = [_part_cell(condition, name, part) for condition in estimates.conditions]
            if any(cell is not EMPTY for cell in cells) and part not in POOLED:
                rows.append((f"{labels[name]}: {PARTS.get(part, part)}", cells))
    if not rows:
        return None
    heads = tuple(Head(language_name(c.language), c.name_with_seeds) for c in estimates.conditions)
    by_number = grouping == NUMBER
    title = "Accuracy by number of subject and attractor" if by_number else f"Accuracy by {grouping}"
    note = f"Mean {about_deviation(estimates.conditions)}.{ATTRACTOR if by_number else ''}{RESTS_ON}"
    return Grid("subcases" if by_number else f"by-{grouping}", title, note, "sub-case", heads, freeze_rows(rows))


def _part_cell(condition: RunCondition, construction: str, part: str) -> Cell:
    scores = [r.scores[construction].parts.get(part) for r in condition.results if construction in r.scores]
    return _mean_cell(condition, [score for score in scores if score is not None])


def _mean_cell(condition: RunCondition, scores: Sequence[Score]) -> Cell:
    values = np.array([score.accuracy for score in scores])
    if not len(values) or np.isnan(values).any():
        return EMPTY
    first = scores[0]
    sd = condition.spread(values)
    return accuracy_cell(Estimate(float(values.mean()), sd, math.nan, math.nan, len(values), first.n, first.chance))


def group_table(estimates: Estimates) -> Grid | None:
    """Groups of constructions that the collection declares; each says what it covers."""
    keys = list(dict.fromkeys(key for condition in estimates.conditions for key in condition.first.groups))
    if not keys:
        return None
    labels = construction_labels(estimates.constructions)
    rows, said = [], []
    for key in keys:
        group = next(c.first.groups[key] for c in estimates.conditions if key in c.first.groups)
        how = "items pooled" if group.combine == "pool" else "mean"
        name = group_name(group)
        rows.append(
            (
                f"{group.grouping}: {name} ({how} of {len(group.over)})",
                [_mean_cell(c, [r.groups[key].score for r in c.results if key in r.groups]) for c in estimates.conditions],
            )
        )
        said.append(f"{name}: {', '.join(labels.get(name, name) for name in group.over)}")
    heads = tuple(Head(language_name(c.language), c.name_with_seeds) for c in estimates.conditions)
    note = f"Mean {about_deviation(estimates.conditions)}. {'; '.join(said)}."
    return Grid("groups", "Accuracy by groups of constructions", note, "group", heads, freeze_rows(rows))


def group_name(group: ConstructionGroup) -> str:
    """`center embedding` for a group `circuit=center_embedding`; a declared name as readers know it."""
    value = group.name.removeprefix(f"{group.grouping}=")
    return construction_name(value) if value == group.name else value.replace("_", " ")


def contrast_table(estimates: Estimates) -> Grid | None:
    """One row per named contrast, for constructions whose items have several (negative polarity: three)."""
    results = [result for condition in estimates.conditions for result in condition.results]
    if not any(result.files.columns(result.items).asked.in_several_ways for result in results if result.items):
        return None
    return feature_table(estimates.conditions, f"{CONSTRUCTION},contrast", "", "contrasts", "Accuracy by contrast")
