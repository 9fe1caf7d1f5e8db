"""Accuracy by construction, as bars with whiskers."""

from typing import TYPE_CHECKING

import numpy as np

from ...probes.accuracy import MEAN
from ..wording import construction_name, in_paper_order, language_name
from .style import (
    COLOURS,
    GREY,
    MOST,
    Look,
    chances_of,
    condition_keys,
    condition_means,
    condition_title,
    note_omitted,
    panels,
    rows_of,
    with_seeds,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++", "oo")


def draw_bars(frame: "pd.DataFrame") -> "Figure":
    """Accuracy by construction, one panel per language; whiskers are 95 % intervals over items and seeds."""
    found = condition_means(frame)
    languages = list(dict.fromkeys(found.language))
    names = in_paper_order([name for name in found.construction.unique() if name != MEAN])
    most = max(len(condition_keys(found[found.language == language])) for language in languages)
    width = max(6.5, 0.2 * len(names) * min(most, MOST) + 3.5)
    made, axes = panels(width, 2.7 * len(languages) + 0.8, len(languages), 1, sharex=True)
    for axis, language in zip(axes[:, 0], languages, strict=True):
        own = found[found.language == language]
        _panel(axis, own, names)
        _mark_chance(axis, own, names)
        axis.set(ylim=(0, 1.05), ylabel="accuracy, 95\u00a0% interval")
        axis.grid(axis="x", visible=False)
    # A single construction would become a wall: leave as much room as for four.
    axes[-1, 0].set_xlim(-0.6 - max(0, 4 - len(names)) / 2, len(names) - 0.4 + max(0, 4 - len(names)) / 2)
    shown = [construction_name(name) for name in names]
    axes[-1, 0].set_xticks(range(len(names)), shown, rotation=28, ha="right", rotation_mode="anchor")
    note_omitted(made, min(most, MOST), most)
    return made


def _mark_chance(axis: "Axes", own: "pd.DataFrame", names: list[str]) -> None:
    """Across the bars of each construction, since chance may differ; labelled once."""
    for place, name in enumerate(names):
        for chance in chances_of(own[own.construction == name]):
            axis.hlines(chance, place - 0.45, place + 0.45, colors="#333333", linewidth=0.9, linestyles=(0, (2, 1.5)), zorder=3)
    last = chances_of(own[own.construction == names[-1]])
    if last:
        where: Look = {"textcoords": "offset points", "xytext": (3, -2.5), "ha": "left", "annotation_clip": False}
        axis.annotate("chance", (len(names) - 0.55, last[-1]), fontsize=7, color=GREY, **where)


def _panel(axis: "Axes", found: "pd.DataFrame", names: list[str]) -> None:
    """A single condition is named above, several in a legend beside."""
    conditions = condition_keys(found)[:MOST]
    width = 0.8 / len(conditions)
    for i, condition in enumerate(conditions):
        own = rows_of(found, condition).set_index("construction").reindex(names)
        places = np.arange(len(names)) + (i - (len(conditions) - 1) / 2) * width
        whiskers = np.array([own.accuracy - own.low, own.high - own.accuracy]).clip(min=0)
        shown: Look = {"color": COLOURS[i % len(COLOURS)], "hatch": HATCHES[i % len(HATCHES)], "edgecolor": "white"}
        error: Look = {"ecolor": "#333333", "capsize": 2, "error_kw": {"linewidth": 0.9}}
        axis.bar(places, own.accuracy, width * 0.94, yerr=whiskers, label=with_seeds(condition[2], own), **error, **shown)
    if len(conditions) == 1:
        axis.set_title(with_seeds(condition_title(conditions[0]), found), loc="left", fontsize=9.5)
    else:
        axis.set_title(language_name(conditions[0][0]), loc="left", fontsize=9.5)
        axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=7.5)
