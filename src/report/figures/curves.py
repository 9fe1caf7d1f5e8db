"""What is learnt when: accuracy of every construction against words seen, with perplexity beside it."""

from typing import TYPE_CHECKING

from ...errors import UserError
from ...probes.accuracy import MEAN
from ..frame import STEP
from ..wording import MOST_LINES, construction_name, families, in_paper_order, seen
from .style import (
    GREY,
    MOST,
    Look,
    chances_of,
    condition_keys,
    condition_title,
    draw_chance,
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
    from matplotlib.lines import Line2D


def draw_curves(frame: "pd.DataFrame") -> "Figure":
    """Accuracy of every construction against words seen, perplexity beside it; mean and standard deviation over seeds.

    If there are more constructions than one panel can hold, each family gets its own, with the other lines in grey behind.
    """
    moving = frame[frame.moment.str.startswith(STEP)]
    conditions = condition_keys(moving)[:MOST]
    if not conditions:
        raise UserError("curves: none of these runs was probed during training")
    every = in_paper_order([name for name in moving.construction.unique() if name != MEAN])
    columns = families(every, circuits_of(moving)) if len(every) > MOST_LINES else {"": every}
    columns = {family: names for family, names in columns.items() if names}
    width = 9 if len(columns) == 1 else 3.1 * len(columns) + 2.6
    shape = {"width_ratios": [1.9] * len(columns) + [1.0 if len(columns) == 1 else 1.5]}
    made, axes = panels(width, 2.9 * len(conditions) + 0.7, len(conditions), len(columns) + 1, **shape)
    log = _spans_decades(moving.perplexity)
    for row, condition in zip(axes, conditions, strict=True):
        own = rows_of(moving, condition)
        row[0].set_title(with_seeds(condition_title(condition), own), loc="left", fontsize=9.5)
        for axis, names in zip(row, columns.values(), strict=False):
            _accuracies(axis, own, names, [name for name in every if name not in names])
        low = min(axis.get_ylim()[0] for axis in row[:-1])
        for axis in row[:-1]:
            axis.set_ylim(low, 1.02)
        _perplexity(row[-1], own[own.construction == MEAN].dropna(subset="perplexity"), log)
        row[-1].set_xlim(row[0].get_xlim())
    note_omitted(made, len(conditions), len(condition_keys(moving)))
    several = moving.groupby(["language", "set", "condition"]).run.nunique().max() > 1
    over = "lines: mean over seeds, bands: ± standard deviation" if several else None
    for axis, (family, names) in zip(axes[-1], columns.items(), strict=False):
        _legend(axis, family, names, over if len(columns) == 1 else None)
    if over and len(columns) > 1:
        made.supxlabel(over, fontsize=8)
    return made


def circuits_of(frame: "pd.DataFrame") -> dict[str, str]:
    """The circuits of suites, which alone have one."""
    named = frame[frame.circuit.fillna("") != ""] if "circuit" in frame else frame[:0]
    return {name: circuit.replace("_", " ") for name, circuit in zip(named.construction, named.circuit, strict=True)}


def _legend(axis: "Axes", family: str, names: list[str], over: str | None) -> None:
    """Below a family's panels, in as many columns as fit."""
    handles = [axis.plot([], [], linewidth=1.4, markersize=3, **line_style(i))[0] for i in range(len(names))]
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.22)}
    title = family or over
    labels = [construction_name(name) for name in names]
    axis.legend(handles, labels, ncols=1 if family else 2, fontsize=8, handlelength=3.4, title=title, title_fontsize=8, **place)


def _accuracies(axis: "Axes", own: "pd.DataFrame", names: list[str], behind: list[str]) -> None:
    for name in behind:
        over = own[own.construction == name].groupby("moment", sort=False).agg(words=("words", "mean"), mean=("accuracy", "mean"))
        axis.plot(over.words, over["mean"], color="#d9d9d9", linewidth=0.7, zorder=1)
    for i, name in enumerate(names):
        if (own.construction == name).any():
            _line(axis, own[own.construction == name], "accuracy", line_style(i))
    shown = own[own.construction.isin(names)]
    draw_chance(axis, chances_of(shown))
    axis.set(xlabel=seen(own.attrs.get("axis", "words")), ylabel="accuracy on the sample")
    axis.set_ylim(min([axis.get_ylim()[0], *(chance - 0.1 for chance in chances_of(shown))]), 1.02)
    axis.locator_params(axis="x", nbins=5)
    axis.xaxis.set_major_formatter(format_axis_words)


def _spans_decades(values: "pd.Series[float]") -> bool:
    """One kind of axis for all panels: logarithmic if any perplexity is ten times another."""
    known = values.dropna()
    return bool(len(known)) and float(known.max()) > 10 * max(float(known.min()), 1.0)


def _perplexity(axis: "Axes", own: "pd.DataFrame", log: bool) -> None:
    # A look that no construction has.
    _line(axis, own, "perplexity", {"color": GREY, "linestyle": "-", "marker": "."})
    axis.set(xlabel=seen(own.attrs.get("axis", "words")), ylabel="validation perplexity", yscale="log" if log else "linear")
    axis.locator_params(axis="x", nbins=4)
    axis.xaxis.set_major_formatter(format_axis_words)


def format_axis_words(value: float, _: object = None) -> str:
    return f"{value / 1e6:g} M" if value >= 1e6 else f"{value / 1e3:g} k" if value >= 1e3 else f"{value:g}"


def _line(axis: "Axes", own: "pd.DataFrame", column: str, style: Look) -> "Line2D":
    over = (
        own.groupby("moment", sort=False)
        .agg(words=("words", "mean"), mean=(column, "mean"), sd=(column, "std"))
        .sort_values("words")
    )
    (drawn,) = axis.plot(over.words, over["mean"], linewidth=1.4, markersize=3, markevery=max(len(over) // 8, 1), **style)
    if over.sd.notna().any():
        sd = over.sd.fillna(0)
        top = (over["mean"] + sd).clip(upper=1 if column == "accuracy" else None)
        axis.fill_between(over.words, over["mean"] - sd, top, color=style["color"], alpha=0.13, linewidth=0)
    return drawn
