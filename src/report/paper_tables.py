"""The tables of the papers: accuracy by construction and language, sizes and coverage, sub-cases, contracts, scorers."""

import math
from collections.abc import Sequence

import numpy as np

from ..probes.accuracy import CELLS, MEAN
from ..probes.contrast_chance import PAIR_CHANCE
from .conditions import Condition, condition_key
from .estimates import Estimates
from .grids import EMPTY, Cell, Grid, Head, accuracy_cell, number_cell
from .intervals import Estimate, spread
from .published_values import PERPLEXITY, Published, published_columns
from .results import Result
from .wording import PARTS, construction_name, language_name, paper_name

# ------------------------------------------------------------------- the table

ABOUT_ACCURACY = (
    "Mean ± standard deviation over seeds (n − 1); of finished runs the whole sets with the best weights, of evaluations what "
    f"was asked; chance {PAIR_CHANCE:.2f}; mean: unweighted, over the seven constructions of CLAMS where they are asked. A "
    "perplexity compares only within one corpus and vocabulary."
)
ABOUT_UNFINISHED = " unfinished: the last probe so far, of the sample."
ABOUT_PUBLISHED = " † published, with other training data and other items than ours."
UNCHECKED = " ? not yet checked against the paper."


def accuracy_table(estimates: Estimates, unchecked: bool = False) -> Grid:
    """Constructions down, languages and conditions across, test perplexity on top; published numbers to the right."""
    conditions, names = estimates.conditions, [*estimates.constructions, MEAN]
    rows = [("test perplexity", [_perplexity(condition) for condition in conditions])]
    rows += [
        (construction_name(name), [accuracy_cell(estimates.of(condition, name)) for condition in conditions]) for name in names
    ]
    heads = [Head(language_name(condition.language), condition.name_with_seeds) for condition in conditions]
    known = _published(list(dict.fromkeys(condition.language for condition in conditions)), estimates.constructions, unchecked)
    for head, values in known:
        heads.append(head)
        for (_, cells), name in zip(rows, [PERPLEXITY, *names], strict=True):
            cells.append(_published_cell(values.get(paper_name(name))))
    note = ABOUT_ACCURACY + ("" if all(condition.first.finished for condition in conditions) else ABOUT_UNFINISHED)
    note += ABOUT_PUBLISHED if known else ""
    note += UNCHECKED if any(not each.checked for _, values in known for each in values.values()) else ""
    return Grid("accuracy", "Accuracy by construction and language", note, "construction", tuple(heads), _rows(rows))


def _published(languages: Sequence[str], names: list[str], unchecked: bool) -> list[tuple[Head, dict[str, Published]]]:
    return [
        (Head(f"{language_name(language)}, {source}", model, published=True), values)
        for language in languages
        for (source, model), values in published_columns(language, names, unchecked).items()
    ]


def _published_cell(found: Published | None) -> Cell:
    return EMPTY if found is None else number_cell(found.value, f"{found.value:.2f}" + ("" if found.checked else "?"))


def _rows(rows: Sequence[tuple[str, Sequence[Cell]]]) -> tuple[tuple[str, tuple[Cell, ...]], ...]:
    return tuple((label, tuple(cells)) for label, cells in rows)


def _perplexity(condition: Condition) -> Cell:
    values = np.array([result.perplexity for result in condition.results])
    if np.isnan(values).any():
        return EMPTY
    sd = spread(values)
    text = f"{values.mean():,.2f}" + ("" if math.isnan(sd) else f" ± {sd:,.2f}")
    return Cell(text, (("value", float(values.mean())), ("sd", sd), ("runs", len(values))))


# ------------------------------------------------------------ sizes, sub-cases


def size_table(estimates: Estimates) -> Grid:
    """How many contrasts were scored, and how many could not be: coverage depends on the vocabulary."""
    names = estimates.constructions
    found: dict[tuple[str, tuple[tuple[Cell, ...], ...]], list[Condition]] = {}
    for condition in estimates.conditions:
        found.setdefault((condition.language, tuple(tuple(_sizes(condition, name)) for name in names)), []).append(condition)
    heads = tuple(Head(_alike(conditions), name) for conditions in found.values() for name in ("n", "covered", "ties"))
    rows = [(construction_name(name), [c for _, own in found for c in own[i]]) for i, name in enumerate(names)]
    note = "n: contrasts scored; covered: share of all whose tested words the model knows; ties: mean over seeds."
    return Grid("sizes", "Set sizes and coverage", note, "construction", heads, _rows(rows))


def _alike(conditions: Sequence[Condition]) -> str:
    """Conditions of one language with the same numbers need them once."""
    several = conditions[0].name if len(conditions) == 1 else f"{len(conditions)} conditions"
    return f"{language_name(conditions[0].language)}, {several}"


def _sizes(condition: Condition, name: str) -> list[Cell]:
    own = [result.scores[name] for result in condition.results if name in result.scores]
    if not own:
        return [EMPTY] * 3
    n, uncovered, ties = (float(np.mean([getattr(score, field) for score in own])) for field in ("n", "uncovered", "ties"))
    share = n / (n + uncovered) if n + uncovered else math.nan
    return [
        number_cell(n, f"{n:,.0f}"),
        number_cell(share, f"{share:.0%}"),
        number_cell(ties, f"{ties:,.0f}" if ties % 1 == 0 else f"{ties:,.1f}"),
    ]


def subcase_table(estimates: Estimates) -> Grid | None:
    """By the numbers of subject and attractor."""
    rows = []
    for name in estimates.constructions:
        for part in CELLS:
            cells = [_part(condition, name, part) for condition in estimates.conditions]
            if any(cell is not EMPTY for cell in cells):
                rows.append((f"{construction_name(name)}: {PARTS[part]}", cells))
    if not rows:
        return None
    heads = tuple(Head(language_name(condition.language), condition.name_with_seeds) for condition in estimates.conditions)
    note = (
        "Mean ± standard deviation over seeds (n − 1); an attractor is a noun that the verb does not agree with. How many "
        "contrasts a number rests on is in the CSV file, and shown on pointing at it in the page."
    )
    return Grid("subcases", "Accuracy by the numbers of subject and attractor", note, "sub-case", heads, _rows(rows))


def _part(condition: Condition, construction: str, part: str) -> Cell:
    known = [r.scores[construction].parts[part] for r in condition.results if part in _parts(r, construction)]
    values = np.array([value for value, _ in known])
    if not len(values) or np.isnan(values).any():
        return EMPTY
    return accuracy_cell(Estimate(float(values.mean()), spread(values), math.nan, math.nan, len(values), known[0][1]))


def _parts(result: Result, construction: str) -> dict[str, tuple[float, int]]:
    return dict(result.scores[construction].parts) if construction in result.scores else {}


# ------------------------------------------------- contracts, references, scorers


def contract_table(estimates: Estimates) -> Grid | None:
    """The same models asked in different ways: lower-case against capitalised, whole sentence against target."""
    families: dict[tuple[str, str, str], list[Condition]] = {}
    for condition in estimates.conditions:
        if condition.first.finished:
            families.setdefault((condition_key(condition.first), condition.language, condition.first.set), []).append(condition)
    chosen = [
        condition for family in families.values() if len({g.first.label for g in family}) > 1 for condition in _shared(family)
    ]
    if not chosen:
        return None
    own = Estimates(chosen)
    heads = tuple(Head(f"{language_name(g.language)}, {g.name.split(' · ')[0]}", g.with_seeds(g.first.label)) for g in chosen)
    rows = [
        (construction_name(n), [accuracy_cell(own.of(condition, n)) for condition in chosen]) for n in [*own.constructions, MEAN]
    ]
    stated = {condition.first.label: condition.first.contract.get("statement", "not known") for condition in chosen}
    note = "Of the runs that were asked in all of these ways. " + " ".join(f"{label}: {said}." for label, said in stated.items())
    return Grid("contracts", "The same models under different scoring contracts", note, "construction", heads, _rows(rows))


def _shared(family: Sequence[Condition]) -> list[Condition]:
    """The seeds that all conditions of a family have: five seeds are not compared with one of them."""
    seeds = set.intersection(*({result.seed for result in condition.results} for condition in family))
    return [Condition(g.name, tuple(r for r in g.results if r.seed in seeds)) for g in family] if seeds else []


def reference_table(estimates: Estimates) -> Grid | None:
    """Counting words, and rules that need no model, on the same items."""
    heads: list[Head] = []
    found: list[Result] = []
    for condition in estimates.conditions:
        known = [r for r in condition.results if r.references]
        if known and not any(r.digest == known[0].digest and r.label == known[0].label for r in found):
            found.append(known[0])
            contract = f", {known[0].label}" if known[0].label != "default" else ""
            top = f"{language_name(condition.language)} {known[0].set}{contract}"
            heads += [Head(top, name) for name in known[0].references]
    if not found:
        return None
    rows = []
    for name in estimates.constructions:
        cells = [s.get(name) for result in found for s in result.references.values()]
        rows.append((construction_name(name), [_reference(score.accuracy) if score and score.n else EMPTY for score in cells]))
    note = "Reference lines on the same items: n-grams counted in the training text, and rules that look at one noun."
    return Grid("references", "How far one gets without a network", note, "construction", tuple(heads), _rows(rows))


def _reference(value: float) -> Cell:
    return number_cell(value, f"{value:.2f}", value)


def scorer_table(estimates: Estimates) -> Grid | None:
    """Models down, ways of scoring across: mean accuracy."""
    scored = [condition for condition in estimates.conditions if condition.first.model.scoring]
    if not scored:
        return None
    ways = list(dict.fromkeys(condition.first.model.scoring for condition in scored))
    keys = list(dict.fromkeys((condition.language, condition.first.model.name) for condition in scored))
    cells = {(g.language, g.first.model.name, g.first.model.scoring): g for g in scored}
    rows = []
    for language, model in keys:
        conditions = [cells.get((language, model, way)) for way in ways]
        rows.append(
            (f"{language_name(language)}, {model}", [accuracy_cell(estimates.of(g, MEAN)) if g else EMPTY for g in conditions])
        )
    return Grid(
        "scorers",
        "Models and ways of scoring them",
        "Mean accuracy over constructions, each worth the same.",
        "model",
        tuple(Head("", w) for w in ways),
        _rows(rows),
    )


def paper_tables(estimates: Estimates, unchecked: bool) -> list[Grid]:
    """Those for which there are numbers."""
    made = [
        accuracy_table(estimates, unchecked),
        subcase_table(estimates),
        contract_table(estimates),
        scorer_table(estimates),
        reference_table(estimates),
        size_table(estimates),
    ]
    return [grid for grid in made if grid is not None]
