"""Tables 1 and 2 of the German study (Zaczynska et al. 2020) for any models: pooled cases, sub-cases, and the data.

They cover every collection whose items have sub-cases: our `cases`, the published data, or a user's own.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from pyarrow import parquet

from .conditions import RunCondition, about_deviation
from .estimates import Estimates
from .grids import EMPTY, Cell, Grid, Head, accuracy_cell, freeze_rows, number_cell
from .left_out import UNREADABLE
from .published_values import Published, published
from .wording import construction_labels, language_name

SUB_CASE = "sub_case"  # the grouping
PAPER = "Zaczynska et al. 2020"
WORST = 5  # the number of cases that the paper underlines
CASES = {  # our cases, by the paper's names
    "simple": "SimplSent",
    "sent_comp": "SVinSentCompl",
    "vp_coord_short": "SVshortVPCoord",
    "vp_coord_medium": "SVmediumVPCoord",
    "vp_coord_long": "SVlongVPCoord",
    "across_pp": "SVPP",
    "across_subj_rel": "SVSubjRelC",
    "across_obj_rel": "SVacrossObjRelC",
    "within_obj_rel": "SVinObjRelC",
    "modifier": "SVModifier",
    "extended_modifier": "SVextendedModifier",
    "prefield": "SVVorf",
    "reflexive_person": "RA_acc",
    "reflexive_case": "RA_case",
}
SUB_CASES = {"complement": "SentCompl", "sent_comp": "SentCompl"}  # the same
ABOUT_PUBLISHED = f" † {PAPER}, on items other than ours; their n is what remains under their equal-pieces rule."
ABOUT_SWAP = " ‡ known to be wrong in the paper: {}."


def case_tables(estimates: Estimates) -> list[Grid]:
    """The case tables; none if no collection has sub-cases."""
    if not any(SUB_CASE in condition.first.groupings for condition in estimates.conditions):
        return []
    made = [pooled_table(estimates), sub_case_table(estimates), data_table(estimates)]
    return [each for each in made if each]


# ------------------------------------------------------------------- Table 1


def pooled_table(estimates: Estimates) -> Grid:
    """Cases over all their sub-cases: the best model of each in bold, the five worst cases of each model underlined."""
    conditions, names = estimates.conditions, _in_order(estimates.constructions)
    values = {id(c): {name: estimates.of(c, name).mean for name in names} for c in conditions}
    worst = {id(c): worst_cases(values[id(c)]) for c in conditions}
    labels = construction_labels(names)
    beside = _published_models(conditions, "1")
    rows: list[tuple[str, list[Cell]]] = []
    for name in names:
        best = max((values[id(c)][name] for c in conditions if not math.isnan(values[id(c)][name])), default=math.nan)
        cells: list[Cell] = []
        for condition in conditions:
            found = estimates.of(condition, name)
            score = condition.first.scores.get(name)
            shown = accuracy_cell(found)
            if shown is not EMPTY:
                leads = len(conditions) > 1 and found.mean == best
                shown = replace(shown, best=leads, under=name in worst[id(condition)])
            cells += [number_cell(score.n, f"{score.n:,}") if score else EMPTY, shown]
        cells += [cell for model in beside for cell in _published_cells(model, name, "", "1")]
        rows.append((labels[name], cells))
    heads = [Head(_title(c), what) for c in conditions for what in ("n", "accuracy")]
    heads += [Head(f"{PAPER} Table 1, {model}", what, published=True) for model in beside for what in ("n", "accuracy")]
    bold = "Bold: the best model. " if len(conditions) > 1 else ""
    note = (
        f"Mean {about_deviation(conditions)}, over all sub-cases; n: pairs scored, after the equal-pieces rule if the "
        f"protocol has one. {bold}Underlined: each model's {WORST} worst cases."
    )
    note += _overlaps(conditions, worst) + (ABOUT_PUBLISHED if beside else "") + _slips("1", beside)
    return Grid("cases", "Accuracy by case (Table 1 of the German study)", note, "case", tuple(heads), freeze_rows(rows))


def worst_cases(values: Mapping[str, float], most: int = WORST) -> list[str]:
    """The lowest values; among ties, those that come first."""
    known = [(value, place, name) for place, (name, value) in enumerate(values.items()) if not math.isnan(value)]
    return [name for _, _, name in sorted(known)[:most]]


def _overlaps(conditions: Sequence[RunCondition], worst: Mapping[int, list[str]]) -> str:
    """How many of the worst cases two models share; only for two or three models, or the note would outgrow the table."""
    if not 1 < len(conditions) < 4:
        return ""
    said = [
        f"{one.name} and {other.name} share {len({*worst[id(one)]} & {*worst[id(other)]})} of their {WORST} worst"
        for one, other in itertools.combinations(conditions, 2)
    ]
    return f" {'; '.join(said)} (the paper's two models: 4)."


# ------------------------------------------------------------------- Table 2


def sub_case_table(estimates: Estimates) -> Grid | None:
    """One row per sub-case: the number of the tested word, then the number of the attractor."""
    conditions, names = estimates.conditions, _in_order(estimates.constructions)
    labels = construction_labels(names)
    beside = _published_models(conditions, "2")
    rows = []
    for name in names:
        for part in _parts(conditions, name):
            cells = [cell for condition in conditions for cell in _part_cells(condition, name, part)]
            cells += [cell for model in beside for cell in _published_cells(model, name, _short(part), "2")]
            rows.append((f"{labels[name]} › {_short(part)}", cells))
    if not rows:
        return None
    heads = [Head(_title(c), what) for c in conditions for what in ("n", "accuracy")]
    heads += [Head(f"{PAPER} Table 2, {model}", what, published=True) for model in beside for what in ("n", "accuracy")]
    note = f"Mean {about_deviation(conditions)}. sgpl: a singular tested word, a plural attractor; sg, pl: no attractor."
    note += (ABOUT_PUBLISHED if beside else "") + _slips("2", beside)
    return Grid(
        "sub-cases",
        "Accuracy by sub-case (Table 2 of the German study)",
        note,
        "case › sub-case",
        tuple(heads),
        freeze_rows(rows),
    )


def _parts(conditions: Sequence[RunCondition], name: str) -> list[str]:
    own = [part for c in conditions for part in c.first.groupings.get(SUB_CASE, []) if name in c.first.scores]
    return [
        part
        for part in dict.fromkeys(own)
        if any(part in c.first.scores[name].parts for c in conditions if name in c.first.scores)
    ]


def _part_cells(condition: RunCondition, name: str, part: str) -> tuple[Cell, Cell]:
    found = [r.scores[name].parts[part] for r in condition.results if name in r.scores and part in r.scores[name].parts]
    values = np.array([score.accuracy for score in found])
    if not len(values) or np.isnan(values).any():
        return EMPTY, EMPTY
    sd = condition.spread(values)
    text = f"{values.mean():.2f}" + ("" if math.isnan(sd) else f" ± {sd:.2f}")
    shade = max(2 * float(values.mean()) - 1, 0.0)
    n = found[0].n  # not known of a run that goes on
    numbers = (("value", float(values.mean())), ("sd", sd), *([("n", float(n))] if n else []))
    return number_cell(n, f"{n:,}") if n else EMPTY, Cell(text, numbers, shade)


def _short(part: str) -> str:
    return part.removeprefix(f"{SUB_CASE}=")


# ---------------------------------------------------------------- published


def _published_models(conditions: Sequence[RunCondition], table: str) -> list[str]:
    """The paper's two models, beside German cases."""
    if not any(condition.language == "de" for condition in conditions):
        return []
    return list(
        dict.fromkeys(each.model for each in published() if each.source == PAPER and each.table == table and _is_accuracy(each))
    )


def _is_accuracy(each: Published) -> bool:
    return each.metric == "accuracy"


def _published_value(model: str, construction: str, sub_case: str, table: str) -> Published | None:
    wanted = (PAPER, table, model, CASES.get(construction, construction), SUB_CASES.get(sub_case, sub_case))
    return next(
        (
            each
            for each in published()
            if _is_accuracy(each) and (each.source, each.table, each.model, each.construction, each.condition) == wanted
        ),
        None,
    )


def _published_cells(model: str, construction: str, sub_case: str, table: str) -> tuple[Cell, Cell]:
    found = _published_value(model, construction, sub_case, table)
    if found is None:
        return EMPTY, EMPTY
    n = EMPTY if found.n is None else number_cell(found.n, f"{found.n:,}")
    return n, Cell(f"{found.share:.2f}{'‡' if found.note else ''}", (("value", found.share),))


def _slips(table: str, models: Sequence[str]) -> str:
    notes = dict.fromkeys(
        f"{each.construction} {each.condition}".strip() + f": {each.note}"
        for each in published()
        if each.source == PAPER and each.table == table and each.model in models and each.note and _is_accuracy(each)
    )
    return ABOUT_SWAP.format("; ".join(notes)) if notes else ""


# ------------------------------------------------------------------- the data


def data_table(estimates: Estimates) -> Grid | None:
    """Pairs, sentences, words and forms per case, counted on the items of the first model of each language."""
    conditions = [c for c in estimates.conditions if c.first.items]
    firsts = {condition.language: condition for condition in reversed(conditions)}
    names = _in_order(estimates.constructions)
    labels = construction_labels(names)
    columns = ("pairs", "sentences", "tokens", "forms", "tested forms", "tested lexemes")
    found = {language: _count_data(condition.first.items) for language, condition in firsts.items() if condition.first.items}
    if not any(found.values()):
        return None
    rows = [
        (labels[name], [cell for counts in found.values() for cell in _data_cells(counts.get(name), columns)]) for name in names
    ]
    rows.append(("all", [cell for counts in found.values() for cell in _data_cells(counts.get(""), columns)]))
    heads = tuple(Head(language_name(language), column) for language in found for column in columns)
    note = (
        "Sentences are distinct; tokens: their words and punctuation; forms: distinct words; a tested lexeme is a good form with "
    )
    note += "its bad counterpart, whichever of the two is good."
    return Grid("case-data", "What the cases contain", note, "case", heads, freeze_rows(rows))


def _data_cells(counts: Mapping[str, int] | None, columns: Sequence[str]) -> list[Cell]:
    return [EMPTY if counts is None else number_cell(counts[column], f"{counts[column]:,}") for column in columns]


@cache
def _count_data(items: Path) -> dict[str, dict[str, int]]:
    """Counts per case; the totals are under the empty name."""
    columns = ["construction", "good", "bad", "good_target", "bad_target"]
    try:
        table = parquet.read_table(items, columns=columns).to_pylist()
    except UNREADABLE:
        return {}
    found: dict[str, list[dict[str, object]]] = {"": table}
    for row in table:
        found.setdefault(row["construction"], []).append(row)
    return {name: count_pairs(rows) for name, rows in found.items()}


def count_pairs(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Counts over pairs of a good and a bad sentence."""
    sentences: set[tuple[str, ...]] = set()
    forms: set[str] = set()
    lexemes: set[frozenset[str]] = set()
    pairs = 0
    for row in rows:
        if row["good"] is None:
            continue
        pairs += 1
        tested = [" ".join(row[side][slice(*row[f"{side}_target"])]) for side in ("good", "bad")]
        forms.update(tested)
        lexemes.add(frozenset(tested))
        sentences.update((tuple(row["good"]), tuple(row["bad"])))
    words = {word for sentence in sentences for word in sentence}
    tokens = sum(map(len, sentences))
    counts = {"pairs": pairs, "sentences": len(sentences), "tokens": tokens, "forms": len(words)}
    return counts | {"tested forms": len(forms), "tested lexemes": len(lexemes)}


def _in_order(names: Sequence[str]) -> list[str]:
    """The fourteen cases in the paper's order, then any others."""
    order = [*CASES, *CASES.values()]
    return sorted(names, key=lambda name: order.index(name) if name in order else len(order))


def _title(condition: RunCondition) -> str:
    return f"{language_name(condition.language)}, {condition.name_with_seeds}"
