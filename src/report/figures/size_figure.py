"""What more training text brings: accuracy against its size."""

from typing import TYPE_CHECKING

from ...errors import UserError
from ...probes.accuracy import MEAN
from ..wording import MOST_LINES, construction_name, families, in_paper_order
from .curves import circuits_of, format_axis_words
from .style import MOST, Look, chances_of, draw_chance, final_rows, line_style, note_omitted, panels

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MEAN_LOOK: Look = {"color": "#000000", "linewidth": 2.4, "linestyle": "-", "marker": "o"}

BESIDE = 1.04  # offset from one line to the next


def draw_training_size(frame: "pd.DataFrame") -> "Figure":
    """One row of panels per recipe, one line per construction and a thick one for the mean; whiskers: 95 % intervals.

    If there are more constructions than one panel can hold, each family gets its own.
    """
    found = final_rows(frame)
    found = found[(found.size_series != "") & found.training_words.notna()]
    sizes = found.groupby(["size_series", "set"], sort=False).training_words.nunique()
    series = [key for key, count in sizes.items() if count > 1]
    if not series:
        raise UserError("training_size: no recipe was trained on texts of different sizes (data.max_tokens)")
    every = in_paper_order([name for name in found.construction.unique() if name != MEAN])
    columns = families(every, circuits_of(found)) if len(every) > MOST_LINES else {"": every}
    columns = {family: names for family, names in columns.items() if names}
    shown, one_set = series[:MOST], found.set.nunique() == 1
    made, axes = panels(3.4 * len(columns) + 2.6, 3.1 * len(shown) + 0.4, len(shown), len(columns), sharex=True, sharey="row")
    for row, (title, collection) in zip(axes, shown, strict=True):
        own = found[(found.size_series == title) & (found.set == collection)]
        row[0].set_title(title if one_set else f"{title}: {collection}", loc="left", fontsize=9.5)
        row[0].set_ylabel("accuracy, 95\u00a0% interval")
        for axis, names in zip(row, columns.values(), strict=True):
            _lines(axis, own, names)
    for axis, (family, names) in zip(axes[-1], columns.items(), strict=True):
        axis.set_xlabel("words of the training text")
        _legend(axis, family, names)
    note_omitted(made, len(shown), len(series))
    return made


def _looks(names: list[str]) -> dict[str, Look]:
    return {name: line_style(i) | {"linewidth": 1.2} for i, name in enumerate(names)} | {MEAN: MEAN_LOOK}


def _lines(axis: "Axes", own: "pd.DataFrame", names: list[str]) -> None:
    values = {"mean": ("accuracy", "mean"), "low": ("low", "first"), "high": ("high", "first")}
    for i, (name, look) in enumerate(_looks(names).items()):
        over = own[own.construction == name].groupby("training_words").agg(**values)
        whiskers = [side.clip(lower=0).fillna(0) for side in (over["mean"] - over.low, over.high - over["mean"])]
        # Side by side, so that whiskers do not hide each other; the mean stays in place.
        places = over.index * (1 if name == MEAN else BESIDE ** (i + 0.5 - len(names) / 2))
        axis.errorbar(places, over["mean"], yerr=whiskers, markersize=3.5, capsize=1.5, elinewidth=0.6, **look)
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter(format_axis_words)
    shown = own[own.construction.isin(names)]
    draw_chance(axis, chances_of(shown))
    axis.set_ylim(max(min([*(chances_of(shown)), shown.accuracy.min()]) - 0.1, -0.02), 1.03)


def _legend(axis: "Axes", family: str, names: list[str]) -> None:
    handles = [axis.plot([], [], markersize=3.5, **look)[0] for look in _looks(names).values()]
    labels = [*map(construction_name, names), MEAN]
    heading: Look = {"title": family or None, "title_fontsize": 8, "ncols": 1 if family else 2, "handlelength": 3.4}
    axis.legend(handles, labels, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.2), **heading)
