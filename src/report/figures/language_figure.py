"""One recipe in several languages: accuracy by construction over languages, and against morphological complexity."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import UserError
from ...probes.accuracy import MEAN
from ..correlation import spearman
from ..language_tables import COMPLEXITY, FEWEST
from ..wording import construction_name, in_paper_order
from .style import MOST, condition_means, line_style, panels

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_languages(frame: "pd.DataFrame") -> "Figure":
    """Left: mean ± standard deviation over languages (of the sample). Right: ranks of complexity, one point per language."""
    found = condition_means(frame)
    found = found[found.construction != MEAN]
    recipes = [own for _, own in found.groupby(["set", "condition"], sort=False) if own.language.nunique() > 1][:MOST]
    if not recipes:
        raise UserError("languages: no recipe was trained in more than one language")
    compared = [(i, own) for i, own in enumerate(recipes) if len(_by_language(own)) >= FEWEST]
    made, axes = panels(10 if compared else 6.5, 4.2, 1, 2 if compared else 1)
    _over_languages(axes[0, 0], recipes)
    if compared:
        _against_complexity(axes[0, 1], compared)
    return made


def _over_languages(axis: "Axes", recipes: "list[pd.DataFrame]") -> None:
    names = in_paper_order(list(dict.fromkeys(name for own in recipes for name in own.construction)))
    for i, own in enumerate(recipes):
        over = own.groupby("construction").accuracy.agg(["mean", "std"]).reindex(names)
        places = np.arange(len(names)) + (i - (len(recipes) - 1) / 2) * 0.12
        shown: dict[str, Any] = line_style(i) | {"linestyle": "none", "markersize": 5, "capsize": 2.5, "linewidth": 1}
        label = f"{own.condition.iloc[0]} ({own.language.nunique()} languages)"
        axis.errorbar(places, over["mean"], yerr=over["std"].fillna(0), label=label, **shown)
    axis.set_xticks(range(len(names)), map(construction_name, names), rotation=28, ha="right", rotation_mode="anchor")
    axis.set(ylabel="accuracy, mean ± sd over languages", ylim=(0, 1.05))
    axis.legend(fontsize=7.5, loc="lower left")


def _by_language(own: "pd.DataFrame") -> dict[str, float]:
    """Mean accuracy over the constructions that all languages share, for languages whose complexity is known."""
    table = own.pivot_table(index="construction", columns="language", values="accuracy").dropna()
    means = table.mean() if len(table) else table.mean().dropna()
    return {language: float(means[language]) for language in means.index if language in COMPLEXITY}


def _against_complexity(axis: "Axes", compared: "list[tuple[int, pd.DataFrame]]") -> None:
    for i, own in compared:
        means = _by_language(own)
        ranks = np.array([COMPLEXITY[language] for language in means])
        rho, p = spearman(ranks, np.array([*means.values()]))
        style = line_style(i)
        label = f"{own.condition.iloc[0]}: ρ = {rho:.2f}, p = {p:.2f}"
        axis.scatter(ranks, [*means.values()], color=style["color"], marker=style["marker"], label=label)
        for language, rank in zip(means, ranks, strict=True):
            place: dict[str, Any] = {"xytext": (4, 4), "textcoords": "offset points", "fontsize": 7.5}
            axis.annotate(language, (rank, means[language]), **place)
    axis.set(xlabel="rank of morphological complexity", ylabel="mean accuracy, shared constructions")
    axis.set_xticks(sorted(COMPLEXITY.values()))
    axis.margins(0.15)
    axis.legend(fontsize=7.5, loc="best")
