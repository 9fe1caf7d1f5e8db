"""The papers' tables: accuracy by construction and language beside published numbers, set sizes and coverage."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..probes.accuracy import MEAN
from .case_tables import case_tables
from .conditions import RunCondition, about_deviation, comparison_key
from .estimates import Estimates
from .grids import EMPTY, Cell, Grid, Head, accuracy_cell, chance_cell, freeze_rows, mark_best, number_cell, perplexity_cell
from .group_tables import contrast_table, group_table, grouping_tables
from .mean_rows import about_mean, mean_cells
from .perspective_tables import contract_table, reference_table, scorer_table
from .published_values import PERPLEXITY, Published, PublishedColumn, published_columns
from .suite_tables import suite_tables
from .training_sizes import training_size_table
from .wording import construction_labels, language_name, paper_name

ABOUT_ACCURACY = (
    "Over all evaluated items; finished runs use their final weights (ours: the best). Perplexities compare only within "
    "one corpus and vocabulary."
)
ABOUT_UNFINISHED = " unfinished: the latest probe, on the sample."
ABOUT_BEST = (
    " Bold: the best in a row among models of one language evaluated on the same items under the same contract; for "
    "perplexity, the lowest within one vocabulary."
)
ABOUT_PUBLISHED = " † published, with different training data and items; ± as in the paper."


def paper_tables(estimates: Estimates, every_published: bool = False) -> list[Grid]:
    """The tables that have numbers, one of each per collection of sets: one name in two collections is not one construction."""
    found: list[Grid] = []
    for name in estimates.sets:
        own = estimates.of_set(name)
        made = [accuracy_table(own, every_published), *grouping_tables(own), *suite_tables(own), *case_tables(own)]
        made += [each for each in (group_table(own), contrast_table(own), contract_table(own), scorer_table(own)) if each]
        made += [each for each in (training_size_table(own), reference_table(own), size_table(own)) if each]
        several = len(estimates.sets) > 1
        found += [replace(each, name=f"{each.name}-{name}", title=f"{each.title}: {name}") if several else each for each in made]
    return found


# -------------------------------------------------------------------- accuracy


def accuracy_table(estimates: Estimates, every_published: bool = False) -> Grid:
    """Constructions down, languages and conditions across, test perplexity on top; published numbers on the right."""
    conditions, names = estimates.conditions, estimates.constructions
    labels = construction_labels(names)
    perplexities = [perplexity_cell(condition.perplexities, condition.spread) for condition in conditions]
    texts = [(condition.language, condition.first.vocabulary) for condition in conditions]
    items = [comparison_key(condition.first) for condition in conditions]
    means = [(*key, *sorted(condition.first.mean_over)) for key, condition in zip(items, conditions, strict=True)]
    rows: list[tuple[str, list[Cell]]] = [("test perplexity", mark_best(perplexities, texts, lowest=True))]
    accuracies = {name: [accuracy_cell(estimates.of(condition, name)) for condition in conditions] for name in names}
    rows += [(labels[name], mark_best(cells, items)) for name, cells in accuracies.items()]
    rows += [(MEAN, mark_best(mean_cells(estimates), means))]
    bold = ABOUT_BEST if any(cell.best for _, cells in rows for cell in cells) else ""
    heads = [Head(language_name(condition.language), condition.name_with_seeds) for condition in conditions]
    chances = _chance_column(estimates)
    if chances:
        heads.insert(0, Head("", "chance"))
        for (_, cells), cell in zip(rows, [EMPTY, *chances], strict=True):
            cells.insert(0, cell)
    columns = _published_columns(estimates, every_published)
    for head, column, over in columns:
        heads.append(head)
        values = [column.values.get(PERPLEXITY), *(column.values.get(paper_name(name)) for name in names)]
        for (_, cells), value in zip(rows, [*values, _paper_average(column, over)], strict=True):
            cells.append(_published_cell(value))
    note = _accuracy_note(estimates) + bold + (ABOUT_PUBLISHED if columns else "") + _slips(columns)
    return Grid("accuracy", "Accuracy by construction and language", note, "construction", tuple(heads), freeze_rows(rows))


def _accuracy_note(estimates: Estimates) -> str:
    conditions = estimates.conditions
    chances = {round(estimates.of(c, name).chance, 4) for c in conditions for name in c.constructions}
    chance = f"chance {chances.pop():.2f}" if len(chances) == 1 else "chance by construction in the first column"
    note = f"Mean {about_deviation(conditions)}; {chance}; {about_mean(conditions)} {ABOUT_ACCURACY}"
    return note + ("" if all(condition.first.finished for condition in conditions) else ABOUT_UNFINISHED)


def _chance_column(estimates: Estimates) -> list[Cell]:
    """The chance of every construction and of the mean, if constructions differ."""
    rows = [[c.first.chance(name) for c in estimates.conditions] for name in [*estimates.constructions, MEAN]]
    known = [[value for value in row if not math.isnan(value)] for row in rows]
    return [chance_cell(row) for row in known] if len({round(v, 4) for row in known for v in row}) > 1 else []


# ------------------------------------------------------------------- published


def _published_columns(estimates: Estimates, every: bool) -> list[tuple[Head, PublishedColumn, list[str]]]:
    """Published columns over the constructions that our mean covers in that language."""
    found = []
    for language in dict.fromkeys(condition.language for condition in estimates.conditions):
        own = [condition for condition in estimates.conditions if condition.language == language]
        names = list(dict.fromkeys(name for condition in own for name in condition.constructions))
        for column in published_columns(language, names, every):
            model = column.model + (f", {column.training}" if column.training in ("monolingual", "multilingual") else "")
            head = Head(f"{language_name(language)}, {column.title}", model, published=True)
            found.append((head, column, own[0].first.mean_over))
    return found


def _paper_average(column: PublishedColumn, over: Sequence[str]) -> Published | None:
    """The paper's own mean, if it covers the same constructions as ours."""
    same = {paper_name(name) for name in over} == set(column.values) - {PERPLEXITY}
    return column.average if same else None


def _published_cell(found: Published | None) -> Cell:
    if found is None:
        return EMPTY
    sd = "" if found.sd is None else f" ± {found.sd:.2f}"
    numbers = (("value", found.share), ("sd", math.nan if found.sd is None else found.sd), ("n", found.n or math.nan))
    return Cell(f"{found.share:,.2f}{sd}{'‡' if found.note else ''}", numbers)


def _slips(columns: Sequence[tuple[Head, PublishedColumn, list[str]]]) -> str:
    wrong: dict[tuple[str, str], list[str]] = {}
    for head, column, _ in columns:
        for value in column.values.values():
            if value.note:
                wrong.setdefault((f"{column.title}, {head.name}", value.note), []).append(value.construction or PERPLEXITY)
    said = "; ".join(f"{where}, {', '.join(dict.fromkeys(names))}: {note}" for (where, note), names in wrong.items())
    return f" ‡ known to be wrong in the paper ({said})." if said else ""


# ----------------------------------------------------------------------- sizes


def size_table(estimates: Estimates) -> Grid:
    """How many contrasts were scored and how many could not be: coverage depends on the vocabulary."""
    names, labels = estimates.constructions, construction_labels(estimates.constructions)
    found: dict[tuple[str, tuple[tuple[Cell, ...], ...]], list[RunCondition]] = {}
    for condition in estimates.conditions:
        found.setdefault((condition.language, tuple(_size_cells(condition, name) for name in names)), []).append(condition)
    heads = tuple(Head(_shared_title(own), name) for own in found.values() for name in ("n", "covered", "ties"))
    rows = [(labels[name], [cell for _, own in found for cell in own[i]]) for i, name in enumerate(names)]
    note = (
        "n: contrasts scored (under the protocol clams: items); covered: share of them whose tested words the model knows; "
        "ties: mean over seeds."
    )
    return Grid("sizes", "Set sizes and coverage", note, "construction", heads, freeze_rows(rows))


def _shared_title(conditions: Sequence[RunCondition]) -> str:
    """Conditions of one language with the same numbers are listed once."""
    several = conditions[0].name if len(conditions) == 1 else f"{len(conditions)} conditions"
    return f"{language_name(conditions[0].language)}, {several}"


def _size_cells(condition: RunCondition, name: str) -> tuple[Cell, ...]:
    own = [result.scores[name] for result in condition.results if name in result.scores]
    if not own:
        return (EMPTY,) * 3
    n, uncovered, ties = (float(np.mean([getattr(score, field) for score in own])) for field in ("n", "uncovered", "ties"))
    share = n / (n + uncovered) if n + uncovered else math.nan
    shown = f"{ties:,.0f}" if ties % 1 == 0 else f"{ties:,.1f}"
    return number_cell(n, f"{n:,.0f}"), number_cell(share, f"{share:.0%}"), number_cell(ties, shown)
