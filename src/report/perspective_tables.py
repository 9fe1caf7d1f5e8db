"""Accuracies in perspective: the same models under other contracts, rules without a model, other ways of scoring."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..probes.accuracy import MEAN
from .conditions import RunCondition, about_deviation, condition_key, contracts_of
from .estimates import Estimates
from .grids import EMPTY, Cell, Grid, Head, accuracy_cell, freeze_rows, number_cell
from .mean_rows import about_mean, mean_cells
from .results import Result, Score
from .wording import construction_labels, language_name


def contract_table(estimates: Estimates) -> Grid | None:
    """The same models evaluated in different ways: lower-case or capitalised, whole sentence or target."""
    families: dict[tuple[str, str], list[RunCondition]] = {}
    for condition in estimates.conditions:
        if condition.first.finished:
            families.setdefault((condition_key(condition.first), condition.language), []).append(condition)
    several = [family for family in families.values() if len({c.first.label for c in family}) > 1]
    chosen = [condition for family in several for condition in _with_shared_seeds(family)]
    if not chosen:
        return None
    own = Estimates(chosen)
    labels = construction_labels(own.constructions)
    heads = [Head(_family_name(c), c.with_seeds(c.first.label)) for c in chosen]
    rows = [(labels[name], [accuracy_cell(own.of(condition, name)) for condition in chosen]) for name in own.constructions]
    rows += [(MEAN, mean_cells(own))]
    # With two contracts, show the gain of the second, as the papers do.
    for place in reversed(range(len(chosen) - 1)):
        first, second = chosen[place : place + 2]
        alike = [c for c in chosen if _family_name(c) == _family_name(first)]
        if alike == [first, second]:
            heads.insert(place + 2, Head(_family_name(first), f"{second.first.label} − {first.first.label}"))
            for name, (_, cells) in zip([*own.constructions, MEAN], rows, strict=True):
                gain = own.of(second, name).mean - own.of(first, name).mean
                cells.insert(place + 2, number_cell(gain, f"{gain:+.2f}"))
    note = f"Mean {about_deviation(chosen)}, over the runs evaluated under all of these contracts; {about_mean(chosen)} "
    note += " ".join(f"{label}: {said}." for label, said in contracts_of(chosen))
    return Grid(
        "contracts", "The same models under different scoring contracts", note, "construction", tuple(heads), freeze_rows(rows)
    )


def _family_name(condition: RunCondition) -> str:
    """The shared name of conditions that differ only in the contract."""
    return f"{language_name(condition.language)}, {condition.name.split(' · ')[0]}"


def _with_shared_seeds(family: Sequence[RunCondition]) -> list[RunCondition]:
    """The seeds that all conditions of a family share: five seeds are not compared with one of them."""
    seeds = set.intersection(*({result.seed for result in condition.results} for condition in family))
    return [RunCondition(c.name, tuple(r for r in c.results if r.seed in seeds)) for c in family] if seeds else []


@dataclass(frozen=True)
class _ReferenceLine:
    """A reference line on the items of one condition."""

    where: str  # language, set and contract
    name: str
    condition: str
    result: Result
    scores: Mapping[str, Score]

    def equals(self, other: "_ReferenceLine") -> bool:
        """Rules depend on the items alone, n-grams on the training text as well."""
        items = [(each.where, each.name, each.result.digest) for each in (self, other)]
        values = [{name: score.accuracy for name, score in each.scores.items() if score.n} for each in (self, other)]
        return items[0] == items[1] and values[0] == values[1]


def reference_table(estimates: Estimates) -> Grid | None:
    """n-gram counts, and rules that need no model, on the same items. Where a rule makes no prediction, there is no number."""
    lines: list[_ReferenceLine] = []
    for condition in estimates.conditions:
        if known := next((result for result in condition.results if result.references), None):
            contract = f", {known.label}" if known.label != "default" else ""
            where = f"{language_name(condition.language)} {known.set}{contract}"
            own = [_ReferenceLine(where, name, condition.name, known, scores) for name, scores in known.references.items()]
            lines += [line for line in own if not any(line.equals(other) for other in lines)]
    if not lines:
        return None
    # A line that has several values says whose text or items it is about; those that hold for all come first.
    times = Counter((line.where, line.name) for line in lines)
    wheres = list(dict.fromkeys(line.where for line in lines))
    lines.sort(key=lambda line: (wheres.index(line.where), times[line.where, line.name] > 1))
    tops = [line.where + (f", {line.condition}" if times[line.where, line.name] > 1 else "") for line in lines]
    heads = tuple(Head(top, line.name) for top, line in zip(tops, lines, strict=True))
    labels = construction_labels(estimates.constructions)
    rows = [(labels[name], [_reference_cell(line.scores.get(name)) for line in lines]) for name in estimates.constructions]
    rows += [(MEAN, [_reference_mean(line.result, line.scores) for line in lines])]
    note = (
        "Reference lines on the same items: n-grams counted in the training text, and rules that see only the words; –: the "
        "rule makes no prediction. mean: over the constructions of the model's mean; (5 of 7): over only that many of them, "
        "so not comparable with it."
    )
    note += " Columns that name a condition are about its training text and items alone." if max(times.values()) > 1 else ""
    return Grid("references", "How far you get without a network", note, "construction", heads, freeze_rows(rows))


def _reference_cell(score: Score | None) -> Cell:
    return score_cell(score) if score and score.n else EMPTY


def _reference_mean(result: Result, scores: Mapping[str, Score]) -> Cell:
    known = [scores[name] for name in result.mean_over if name in scores and scores[name].n]
    if not known:
        return EMPTY
    mean, chance = (math.fsum(getattr(score, what) for score in known) / len(known) for what in ("accuracy", "chance"))
    cell = score_cell(Score(mean, 0, chance=chance))
    return (
        cell
        if len(known) == len(result.mean_over)
        else replace(cell, text=f"{cell.text} ({len(known)} of {len(result.mean_over)})")
    )


def scorer_table(estimates: Estimates) -> Grid | None:
    """Pretrained models down, ways of scoring across: mean accuracy."""
    scored = [condition for condition in estimates.conditions if condition.first.model.scoring]
    if not scored:
        return None
    ways = list(dict.fromkeys(condition.first.model.scoring for condition in scored))
    cells: dict[tuple[str, str, str], dict[str, Cell]] = {}
    for condition, cell in zip(scored, mean_cells(Estimates(scored)), strict=True):
        row = (condition.language, condition.first.model.name, condition.first.label)
        cells.setdefault(row, {})[condition.first.model.scoring] = cell
    several = len({label for _, _, label in cells}) > 1
    rows = [
        (f"{language_name(language)}, {model}" + (f", {label}" if several else ""), [own.get(way, EMPTY) for way in ways])
        for (language, model, label), own in cells.items()
    ]
    heads = tuple(Head("", way) for way in ways)
    return Grid("scorers", "Models and ways of scoring them", about_mean(scored).capitalize(), "model", heads, freeze_rows(rows))


def score_cell(score: Score) -> Cell:
    """The score of one model, as saved."""
    return number_cell(score.accuracy, f"{score.accuracy:.2f}", score.chance)
