"""Figures for suites: learning curves by circuit, and accuracy with and without a modifier."""

from typing import TYPE_CHECKING

import numpy as np

from ...errors import UserError
from ...probes.suites.circuits import CIRCUITS, stability, stability_means
from ..frame import STEP
from ..wording import format_words, seen
from .style import (
    COLOURS,
    GREY,
    MOST,
    Look,
    condition_keys,
    condition_title,
    final_rows,
    line_style,
    note_omitted,
    panels,
    rows_of,
    with_seeds,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_circuits(frame: "pd.DataFrame") -> "Figure":
    """Each circuit (the unweighted mean of its suites) against words seen; its chance is a tick on the right."""
    moving = frame[frame.moment.str.startswith(STEP) & (frame.circuit != "")]
    conditions = condition_keys(moving)
    if not conditions:
        raise UserError("circuits: none of these runs was probed on suites during training")
    made, axes = panels(7.5, 3.0 * min(len(conditions), MOST) + 0.4, min(len(conditions), MOST), 1)
    for axis, condition in zip(axes[:, 0], conditions, strict=False):
        own = rows_of(moving, condition)
        _circuit_lines(axis, own)
        axis.set_title(with_seeds(condition_title(condition), own), loc="left", fontsize=9.5)
    axes[-1, 0].set_xlabel(f"{seen(moving.attrs.get('axis', 'words'))}; the tick on the right marks chance")
    note_omitted(made, min(len(conditions), MOST), len(conditions))
    return made


def _circuit_lines(axis: "Axes", own: "pd.DataFrame") -> None:
    there = list(dict.fromkeys(own.circuit))
    for i, circuit in enumerate([name for name in CIRCUITS if name in there] + [name for name in there if name not in CIRCUITS]):
        rows = own[own.circuit == circuit]
        over = rows.groupby("moment").agg(words=("words", "mean"), accuracy=("accuracy", "mean")).sort_values("words")
        axis.plot(over.words, over.accuracy, label=circuit.replace("_", " "), linewidth=1.5, markersize=3.5, **line_style(i))
        place = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "xytext": (-1, -3.5), "fontsize": 9}
        shown: Look = {"color": COLOURS[i % len(COLOURS)], "annotation_clip": False, **place}
        axis.annotate("◂", (1.0, float(rows.chance.mean())), **shown)
    axis.set(ylim=(-0.03, 1.03), ylabel="accuracy")
    axis.xaxis.set_major_formatter(lambda value, _: format_words(value))
    axis.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), fontsize=7.5)


def draw_stability(frame: "pd.DataFrame") -> "Figure":
    """For each model, the mean of suites without a modifier beside that of their versions with one; one line per phenomenon."""
    final = final_rows(frame)
    final = final[final.circuit.notna()]
    found = []
    for condition in condition_keys(final):
        own = (
            rows_of(final, condition)
            .groupby("construction", sort=False)
            .agg(accuracy=("accuracy", "mean"), base=("base", "first"))
        )
        bases = {name: base for name, base in own.base.items() if base}
        rows = stability(own.accuracy.dropna().to_dict(), bases)
        if rows:
            found.append((condition, rows, with_seeds(condition_title(condition), rows_of(final, condition))))
    if not found:
        raise UserError("stability: no suite here has a version with a modifier")
    shown = found[:MOST]
    made, axes = panels(max(4.5, 1.9 * len(shown) + 1.2), 3.4, 1, 1)
    axis = axes[0, 0]
    for place, (_, rows, _) in enumerate(shown):
        means = stability_means(rows)
        for side, (value, colour) in enumerate(zip(means, (COLOURS[0], COLOURS[1]), strict=True)):
            label = ("without a modifier", "with a modifier")[side] if place == 0 else None
            axis.bar(
                place + (side - 0.5) * 0.36, value, 0.33, color=colour, hatch=("", "///")[side], edgecolor="white", label=label
            )
            axis.annotate(
                f"{value:.2f}",
                (place + (side - 0.5) * 0.36, 0.02),
                ha="center",
                fontsize=8,
                color="white",
                bbox={"boxstyle": "round,pad=0.15", "facecolor": colour, "edgecolor": "none"},
            )
        for row in rows:
            ends = (np.array([-0.5, 0.5]) * 0.36 + place, (row.without, row.within))
            axis.plot(*ends, color="#333333", linewidth=0.8, marker=".", markersize=4, zorder=3)
    axis.set(ylim=(0, 1.05), ylabel="accuracy")
    axis.set_xticks(range(len(shown)), [title.replace(", ", "\n", 1) for _, _, title in shown], fontsize=8)
    axis.grid(axis="x", visible=False)
    axis.legend(
        loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=7.5, title="lines: phenomena", title_fontsize=7.5, labelcolor=GREY
    )
    note_omitted(made, len(shown), len(found))
    return made
