"""One recipe on training texts of different sizes: what more text brings."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..probes.accuracy import MEAN
from ..settings.setting_words import describe_setting
from .conditions import RunCondition, about_deviation, comparison_key
from .estimates import Estimates
from .grids import Cell, Grid, Head, accuracy_cell, freeze_rows, number_cell, perplexity_cell
from .mean_rows import about_mean
from .results import Result
from .wording import construction_labels, format_words, language_name

SIZE = "data.max_tokens"
ABOUT_SIZES = (
    "Runs that differ only in data.max_tokens (and the seed), evaluated on the same items; a smaller training text is part "
    "of every larger one. Words: of the training text. Perplexities compare if the vocabulary is the same."
)


@dataclass(frozen=True)
class SizeSeries:
    """Conditions of one recipe, by size of training text; an unknown size is NaN and comes last."""

    name: str
    conditions: tuple[RunCondition, ...]
    words: tuple[float, ...]

    @property
    def title(self) -> str:
        return f"{language_name(self.conditions[0].language)}, {self.name}"


def find_size_series(conditions: Sequence[RunCondition]) -> list[SizeSeries]:
    """The recipes with finished runs of several sizes."""
    found: dict[tuple[str, ...], list[RunCondition]] = {}
    for condition in conditions:
        recipe = condition.first.model.recipe
        if condition.first.finished and SIZE in recipe:
            rest = json.dumps({key: value for key, value in recipe.items() if key != SIZE}, sort_keys=True, default=str)
            found.setdefault((rest, *comparison_key(condition.first)), []).append(condition)
    made: list[SizeSeries] = []
    for own in found.values():
        if len({condition.first.model.recipe[SIZE] for condition in own}) > 1:
            ordered = sorted(own, key=lambda condition: (math.isnan(training_words(condition)), training_words(condition)))
            name = _name(ordered)
            same = sum(each.name.partition(" · ")[0] == name and each.conditions[0].language == own[0].language for each in made)
            name += f" · {same + 1}" if same else ""
            made.append(SizeSeries(name, tuple(ordered), tuple(map(training_words, ordered))))
    return made


def training_words(condition: RunCondition) -> float:
    """Words of the training text, the mean over seeds; if a run did not count them, its limit."""
    return math.fsum(map(_words_of_run, condition.results)) / len(condition.results)


def _words_of_run(result: Result) -> float:
    counted = result.provenance.get("corpus", {}).get("train")
    allowed = result.model.recipe[SIZE]
    if isinstance(counted, dict) and isinstance(counted.get("words"), int):
        return float(counted["words"])
    return float(allowed) if isinstance(allowed, int) else math.nan


def _name(conditions: Sequence[RunCondition]) -> str:
    """The conditions' name, without the size."""
    names = [
        condition.name.replace(f", {describe_setting(SIZE, condition.first.model.recipe[SIZE])}", "") for condition in conditions
    ]
    return names[0] if len(set(names)) == 1 else conditions[0].first.model.name


def training_size_table(estimates: Estimates) -> Grid | None:
    """Constructions down, sizes across."""
    series = find_size_series(estimates.conditions)
    if not series:
        return None
    shown = [(each, condition, words) for each in series for condition, words in zip(each.conditions, each.words, strict=True)]
    names, labels = estimates.constructions, construction_labels(estimates.constructions)
    heads = tuple(Head(each.title, condition.with_seeds(_size_name(condition, words))) for each, condition, words in shown)
    rows: list[tuple[str, list[Cell]]] = [
        ("training words", [number_cell(words, f"{words:,.0f}") for _, _, words in shown]),
        ("test perplexity", [perplexity_cell(condition.perplexities, condition.spread) for _, condition, _ in shown]),
    ]
    rows += [(labels[name], [accuracy_cell(estimates.of(condition, name)) for _, condition, _ in shown]) for name in names]
    rows.append((MEAN, [accuracy_cell(estimates.of(condition, MEAN)) for _, condition, _ in shown]))
    conditions = [condition for _, condition, _ in shown]
    note = f"{ABOUT_SIZES} Mean {about_deviation(conditions)}; {about_mean(conditions)}"
    return Grid("training-size", "Accuracy by size of the training text", note, "construction", heads, freeze_rows(rows))


def _size_name(condition: RunCondition, words: float) -> str:
    asked = condition.first.model.recipe[SIZE]
    return "all" if asked is None else format_words(words)
