"""One recipe in several languages: means over them, and whether accuracy tracks morphological complexity or perplexity."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ..probes.accuracy import MEAN
from .conditions import RunCondition
from .correlation import spearman
from .estimates import Estimates
from .grids import Cell, Grid, Head, number_cell
from .intervals import spread
from .wording import construction_labels, in_paper_order, language_name

# Ranks of morphological complexity as implied by the coefficients of Mueller et al. 2020: of all orders of these languages,
# only this one reproduces all four from their tables.
COMPLEXITY: Mapping[str, float] = {"en": 1, "de": 2, "fr": 3, "ru": 4, "he": 5}
FEWEST = 4  # languages: with three, no order is rarer than one in six
ABOUT_LANGUAGES = (
    "Mean ± standard deviation (the sample's, n − 1) over the languages of one recipe, equally weighted; in brackets the "
    "number of languages, if a construction is missing in some. mean: over the constructions that all of them have."
)
ABOUT_COMPLEXITY = (
    "Spearman's ρ over languages, with each left out in turn. Accuracy: the mean over the constructions that all languages of a "
    "recipe have. Morphological complexity: ranks {ranks}, {source}. Perplexity: of the test text; languages differ in "
    "vocabulary, so only the order is used. p: exact, the share of all orders with at least as large a ρ; with five "
    "languages never below 0.017, with four never below 0.083; not corrected."
)


@dataclass(frozen=True)
class LanguageSeries:
    """Conditions that share a name and a collection of sets, one per language."""

    name: str
    conditions: tuple[RunCondition, ...]

    @property
    def shared(self) -> list[str]:
        """Constructions that all languages have."""
        known = [{name for name in each.constructions if each.first.scores[name].n} for each in self.conditions]
        return in_paper_order([name for name in self.conditions[0].constructions if all(name in own for own in known)])

    def mean_accuracy(self, estimates: Estimates) -> dict[str, float]:
        """The accuracy of every language, over the constructions that all of them have."""
        return {
            each.language: math.fsum(estimates.of(each, name).mean for name in self.shared) / len(self.shared)
            for each in self.conditions
        }

    def perplexity(self) -> dict[str, float]:
        """Perplexity of the test text, the mean over seeds; NaN if unknown."""
        return {each.language: float(np.mean([result.perplexity for result in each.results])) for each in self.conditions}


def recipes_of(estimates: Estimates, fewest: int = 2) -> list[LanguageSeries]:
    """Recipes with finished runs in several languages."""
    found: dict[tuple[str, str, str], dict[str, RunCondition]] = {}
    for condition in estimates.conditions:
        if condition.first.finished:
            own = found.setdefault((condition.name, condition.first.set, condition.first.label), {})
            own.setdefault(condition.language, condition)
    made = [LanguageSeries(name, tuple(own.values())) for (name, _, _), own in found.items() if len(own) >= fewest]
    return [recipe for recipe in made if recipe.shared]


def language_table(estimates: Estimates) -> Grid | None:
    """One row per construction, one column per recipe."""
    recipes = recipes_of(estimates)
    if not recipes:
        return None
    names = in_paper_order(list(dict.fromkeys(n for recipe in recipes for c in recipe.conditions for n in c.constructions)))
    labels = construction_labels(names) | {MEAN: MEAN}
    heads = tuple(Head("", f"{recipe.name} ({_which_languages(recipe, estimates)})") for recipe in recipes)
    rows = [(labels[name], tuple(_over_languages(recipe, estimates, name) for recipe in recipes)) for name in [*names, MEAN]]
    return Grid("languages", "Over languages", ABOUT_LANGUAGES, "construction", heads, tuple(rows))


def _which_languages(recipe: LanguageSeries, estimates: Estimates) -> str:
    """How many; by name if the report has more, where a condition has another name and so is not of this series."""
    there = {condition.language for condition in estimates.conditions if condition.first.finished}
    own = [each.language for each in recipe.conditions]
    return f"{len(own)} languages" if {*own} == there else ", ".join(own)


def _over_languages(recipe: LanguageSeries, estimates: Estimates, name: str) -> Cell:
    if name == MEAN:
        values = np.array([*recipe.mean_accuracy(estimates).values()])
    else:
        values = np.array([found.mean for each in recipe.conditions if (found := estimates.of(each, name)).known])
    if not len(values):
        return number_cell(math.nan)
    few = f" ({len(values)})" if len(values) < len(recipe.conditions) else ""
    sd = spread(values)
    text = f"{values.mean():.2f}" + ("" if math.isnan(sd) else f" ± {sd:.2f}") + few
    return number_cell(float(values.mean()), text)


@dataclass(frozen=True)
class LanguageCorrelation:
    """Spearman's ρ between a measure and accuracy over languages, all of them or all but one."""

    recipe: str
    what: str
    without: str | None
    languages: int
    rho: float
    p: float


def language_correlations(estimates: Estimates, complexity: Mapping[str, float] = COMPLEXITY) -> list[LanguageCorrelation]:
    """Over all languages of a recipe, and with each left out, if enough remain."""
    found = []
    for recipe in recipes_of(estimates, FEWEST):
        accuracy = recipe.mean_accuracy(estimates)
        for what, values in (("morphological complexity", dict(complexity)), ("test perplexity", recipe.perplexity())):
            known = [each for each in accuracy if not math.isnan(values.get(each, math.nan)) and not math.isnan(accuracy[each])]
            for without in [None, *known]:
                kept = [each for each in known if each != without]
                if len(kept) >= FEWEST:
                    sides = [np.array([side[each] for each in kept], float) for side in (values, accuracy)]
                    if all(len(set(side.tolist())) > 1 for side in sides):
                        found.append(LanguageCorrelation(recipe.name, what, without, len(kept), *spearman(*sides)))
    return found


def complexity_table(
    estimates: Estimates, format_p: Callable[[float], str], complexity: Mapping[str, float] = COMPLEXITY
) -> Grid | None:
    """One row per recipe, measure and left-out language."""
    found = language_correlations(estimates, complexity)
    if not found:
        return None
    rows = tuple(
        (
            f"{each.recipe}: {each.what}" + (f", without {language_name(each.without)}" if each.without else ""),
            (
                number_cell(each.rho),
                number_cell(each.p, format_p(each.p)),
                number_cell(each.languages, str(each.languages)),
            ),
        )
        for each in found
    )
    ranks = " < ".join(sorted(complexity, key=complexity.__getitem__))
    source = "as implied by the published coefficients of Mueller et al. 2020" if complexity is COMPLEXITY else "as given"
    note = ABOUT_COMPLEXITY.format(ranks=ranks, source=source)
    heads = tuple(Head("", name) for name in ("ρ", "p", "languages"))
    return Grid("complexity", "Complexity and perplexity against accuracy, over languages", note, "over languages", heads, rows)
