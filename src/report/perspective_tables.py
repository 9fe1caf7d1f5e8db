"""Accuracies in perspective: the same models under other contracts, rules without a model, other ways of scoring."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

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


def reference_table(estimates: Estimates) -> Grid | None:
    """n-gram counts, and rules that need no model, on the same items. Where a rule makes no prediction, there is no number."""
    heads: list[Head] = []
    found: list[Result] = []
    for condition in estimates.conditions:
        known = [r for r in condition.results if r.references]
        if known and not any(r.digest == known[0].digest and r.label == known[0].label for r in found):
            found.append(known[0])
            contract = f", {known[0].label}" if known[0].label != "default" else ""
            heads += [Head(f"{language_name(condition.language)} {known[0].set}{contract}", name) for name in known[0].references]
    if not found:
        return None
    columns = [(result, scores) for result in found for scores in result.references.values()]
    labels = construction_labels(estimates.constructions)
    rows = [(labels[name], [_reference_cell(s.get(name)) for _, s in columns]) for name in estimates.constructions]
    rows += [(MEAN, [_reference_mean(result, scores) for result, scores in columns])]
    note = (
        "Reference lines on the same items: n-grams counted in the training text, and rules that see only the words; –: the "
        "rule makes no prediction. mean: over the constructions of the model's mean; (5 of 7): over only that many of them, "
        "so not comparable with it."
    )
    return Grid("references", "How far you get without a network", note, "construction", tuple(heads), freeze_rows(rows))


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
