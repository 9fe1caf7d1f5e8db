"""The tables of the papers: accuracy by construction and language, sizes and coverage, sub-cases, contracts, scorers."""

import math
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from probes.accuracy import CELLS, CHANCE, MEAN, averaged

from .conditions import Group, condition
from .grids import EMPTY, Cell, Grid, Head, accuracy_cell, number_cell
from .intervals import NOTHING, Estimate, estimate, spread
from .judgements import Judgements, Mismatch, finals
from .published import PERPLEXITY, Published, columns
from .results import Result
from .wording import PARTS, canonical, construction_name, language_name, ordered


class Estimates:
    """What is known of every group, computed once."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self.groups = list(groups)

    @cached_property
    def constructions(self) -> list[str]:
        return ordered(list(dict.fromkeys(name for group in self.groups for name in group.constructions)))

    @cached_property
    def all(self) -> dict[tuple[int, str], Estimate]:
        """By number of the group and construction, the mean among them."""
        found = {}
        for number, group in enumerate(self.groups):
            for construction, value in _estimates(group).items():
                found[number, construction] = value
        return found

    def of(self, group: Group, construction: str) -> Estimate:
        return self.all.get((self.groups.index(group), construction), NOTHING)


def _estimates(group: Group) -> dict[str, Estimate]:
    judged = _judged(group)
    if judged is None:
        return _without_items(group)
    parts = {name: judged.of(name) for name in group.constructions}
    scored = [name for name in averaged(group.constructions) if parts[name].n.sum()]
    found = {name: estimate([part]) for name, part in parts.items()} | {MEAN: estimate([parts[name] for name in scored])}
    return {name: _as_counted(group, name, value) for name, value in found.items()}


def _judged(group: Group) -> Judgements | None:
    if not all(result.items for result in group.results):
        return None
    try:
        return finals(group.results)
    except (Mismatch, OSError, ValueError):
        return None


def _as_counted(group: Group, construction: str, found: Estimate) -> Estimate:
    """The mean as the contract counts it (CLAMS: (c+1)/(n+1)); the interval is that of c/n."""
    values = _values(group, construction)
    if not found.known or np.isnan(values).any():
        return found
    return Estimate(float(values.mean()), spread(values), found.low, found.high, found.seeds, found.n)


def _values(group: Group, construction: str) -> NDArray[np.float64]:
    return np.array([r.mean if construction == MEAN else _accuracy(r, construction) for r in group.results])


def _accuracy(result: Result, construction: str) -> float:
    return result.scores[construction].accuracy if construction in result.scores else math.nan


def _without_items(group: Group) -> dict[str, Estimate]:
    """From accuracies alone: between seeds by their spread, of a single run by Wilson."""
    found = {}
    for name in [*group.constructions, MEAN]:
        values = _values(group, name)
        low, high = group.first.scores[name].interval if name != MEAN and len(values) == 1 else (math.nan, math.nan)
        n = 0 if name == MEAN else group.first.scores[name].n if name in group.first.scores else 0
        if not np.isnan(values).any():
            found[name] = Estimate(float(values.mean()), spread(values), low, high, len(values), n)
    return found


# ------------------------------------------------------------------- the table


ABOUT_ACCURACY = (
    f"Mean ± standard deviation over seeds; whole sets, best weights; chance {CHANCE:.2f}; mean: unweighted, over the seven "
    "constructions of CLAMS where they are asked. A perplexity compares only within one corpus and vocabulary."
)
ABOUT_PUBLISHED = " † published, with other training data and other items than ours."
UNCHECKED = " ? not yet checked against the paper."


def accuracy(estimates: Estimates) -> Grid:
    """Constructions down, languages and conditions across, test perplexity on top; published numbers to the right."""
    groups, names = estimates.groups, [*estimates.constructions, MEAN]
    rows = [("test perplexity", [_perplexity(group) for group in groups])]
    rows += [(construction_name(name), [accuracy_cell(estimates.of(group, name)) for group in groups]) for name in names]
    heads = [Head(language_name(group.language), _with_size(group)) for group in groups]
    known = _published(list(dict.fromkeys(group.language for group in groups)), estimates.constructions)
    for head, values in known:
        heads.append(head)
        for (_, cells), name in zip(rows, [PERPLEXITY, *names], strict=True):
            cells.append(_published_cell(values.get(canonical(name))))
    note = ABOUT_ACCURACY + (ABOUT_PUBLISHED if known else "")
    note += UNCHECKED if any(not each.checked for _, values in known for each in values.values()) else ""
    return Grid("accuracy", "Accuracy by construction and language", note, "construction", tuple(heads), _rows(rows))


def _published(languages: Sequence[str], names: list[str]) -> list[tuple[Head, dict[str, Published]]]:
    return [
        (Head(f"{language_name(language)}, {source}", model, published=True), values)
        for language in languages
        for (source, model), values in columns(language, names).items()
    ]


def _published_cell(found: Published | None) -> Cell:
    return EMPTY if found is None else number_cell(found.value, f"{found.value:.2f}" + ("" if found.checked else "?"))


def _rows(rows: Sequence[tuple[str, Sequence[Cell]]]) -> tuple[tuple[str, tuple[Cell, ...]], ...]:
    return tuple((label, tuple(cells)) for label, cells in rows)


def _with_size(group: Group) -> str:
    return group.name if len(group.results) == 1 else f"{group.name} ({len(group.results)} seeds)"


def _perplexity(group: Group) -> Cell:
    values = np.array([result.perplexity for result in group.results])
    if np.isnan(values).any():
        return EMPTY
    sd = spread(values)
    text = f"{values.mean():,.2f}" + ("" if math.isnan(sd) else f" ± {sd:,.2f}")
    return Cell(text, (("value", float(values.mean())), ("sd", sd), ("runs", len(values))))


# ------------------------------------------------------------ sizes, sub-cases


def sizes(estimates: Estimates) -> Grid:
    """How many contrasts were scored, and how many could not be: coverage depends on the vocabulary."""
    heads: list[Head] = []
    for group in estimates.groups:
        heads += [Head(f"{language_name(group.language)}, {group.name}", name) for name in ("n", "covered", "ties")]
    rows = [
        (construction_name(name), [c for group in estimates.groups for c in _sizes(group, name)])
        for name in estimates.constructions
    ]
    note = "n: contrasts scored; covered: share of all whose tested words the model knows; ties: mean over seeds."
    return Grid("sizes", "Set sizes and coverage", note, "construction", tuple(heads), _rows(rows))


def _sizes(group: Group, name: str) -> list[Cell]:
    own = [result.scores[name] for result in group.results if name in result.scores]
    if not own:
        return [EMPTY] * 3
    n, uncovered, ties = (float(np.mean([getattr(score, field) for score in own])) for field in ("n", "uncovered", "ties"))
    share = n / (n + uncovered) if n + uncovered else math.nan
    return [
        number_cell(n, f"{n:,.0f}"),
        number_cell(share, f"{share:.0%}"),
        number_cell(ties, f"{ties:,.0f}" if ties % 1 == 0 else f"{ties:,.1f}"),
    ]


def subcases(estimates: Estimates) -> Grid | None:
    """By the numbers of subject and attractor."""
    rows = []
    for name in estimates.constructions:
        for part in CELLS:
            cells = [_part(group, name, part) for group in estimates.groups]
            if any(cell is not EMPTY for cell in cells):
                rows.append((f"{construction_name(name)}: {PARTS[part]}", cells))
    if not rows:
        return None
    heads = tuple(Head(language_name(group.language), _with_size(group)) for group in estimates.groups)
    note = "Mean ± standard deviation over seeds. An attractor is a noun that the verb does not agree with."
    return Grid("subcases", "Accuracy by the numbers of subject and attractor", note, "sub-case", heads, _rows(rows))


def _part(group: Group, construction: str, part: str) -> Cell:
    known = [r.scores[construction].parts[part] for r in group.results if part in _parts(r, construction)]
    values = np.array([value for value, _ in known])
    if not len(values) or np.isnan(values).any():
        return EMPTY
    return accuracy_cell(Estimate(float(values.mean()), spread(values), math.nan, math.nan, len(values), known[0][1]))


def _parts(result: Result, construction: str) -> dict[str, tuple[float, int]]:
    return dict(result.scores[construction].parts) if construction in result.scores else {}


# ------------------------------------------------- contracts, references, scorers


def contracts(estimates: Estimates) -> Grid | None:
    """The same models asked in different ways: lower-case against capitalised, whole sentence against target."""
    families: dict[tuple[str, str, str], list[Group]] = {}
    for group in estimates.groups:
        if group.first.finished:
            families.setdefault((condition(group.first), group.language, group.first.set), []).append(group)
    chosen = [group for family in families.values() if len({g.first.label for g in family}) > 1 for group in family]
    if not chosen:
        return None
    return _side_by_side(
        estimates,
        chosen,
        lambda group: group.first.label,
        "contracts",
        "The same models under different contracts",
        "Contracts in full below.",
    )


def _side_by_side(
    estimates: Estimates, groups: Sequence[Group], column: Callable[[Group], str], name: str, title: str, note: str
) -> Grid:
    heads = tuple(Head(f"{language_name(group.language)}, {group.name.split(' · ')[0]}", column(group)) for group in groups)
    rows = [
        (construction_name(c), [accuracy_cell(estimates.of(group, c)) for group in groups])
        for c in [*estimates.constructions, MEAN]
    ]
    return Grid(name, title, note, "construction", heads, _rows(rows))


def references(estimates: Estimates) -> Grid | None:
    """Counting words, and rules that need no model, on the same items."""
    heads: list[Head] = []
    found: list[Result] = []
    for group in estimates.groups:
        known = [r for r in group.results if r.references]
        if known and not any(r.digest == known[0].digest and r.label == known[0].label for r in found):
            found.append(known[0])
            heads += [Head(f"{language_name(group.language)} {known[0].set}", name) for name in known[0].references]
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


def scorers(estimates: Estimates) -> Grid | None:
    """Models down, ways of scoring across: mean accuracy."""
    scored = [group for group in estimates.groups if "scoring" in group.first.settings]
    if not scored:
        return None
    ways = list(dict.fromkeys(str(group.first.settings["scoring"]) for group in scored))
    keys = list(dict.fromkeys((group.language, str(group.first.settings["model"]["name"])) for group in scored))
    cells = {(g.language, str(g.first.settings["model"]["name"]), str(g.first.settings["scoring"])): g for g in scored}
    rows = []
    for language, model in keys:
        groups = [cells.get((language, model, way)) for way in ways]
        rows.append(
            (f"{language_name(language)}, {model}", [accuracy_cell(estimates.of(g, MEAN)) if g else EMPTY for g in groups])
        )
    return Grid(
        "scorers",
        "Models and ways of scoring them",
        "Mean accuracy over constructions.",
        "model",
        tuple(Head("", w) for w in ways),
        _rows(rows),
    )


def paper_tables(estimates: Estimates) -> list[Grid]:
    """Those for which there are numbers."""
    made = [
        accuracy(estimates),
        subcases(estimates),
        contracts(estimates),
        scorers(estimates),
        references(estimates),
        sizes(estimates),
    ]
    return [grid for grid in made if grid is not None]
