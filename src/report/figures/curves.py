"""What is learnt when: accuracy of every construction against words seen, perplexity beside it."""

from typing import TYPE_CHECKING, Any

from ...errors import UserError
from ...probes.accuracy import MEAN
from ..wording import construction_name, in_paper_order
from .style import (
    GREY,
    MOST,
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


def draw_curves(frame: "pd.DataFrame") -> "Figure":
    """Accuracy of every construction against words seen, perplexity beside it; mean and standard deviation over seeds."""
    moving = frame[frame.moment.str.startswith("step")]
    conditions = condition_keys(moving)[:MOST]
    if not conditions:
        raise UserError("curves: none of these runs has been probed on the way")
    every = in_paper_order([name for name in moving.construction.unique() if name != MEAN])
    made, axes = panels(9, 2.9 * len(conditions) + 0.7, len(conditions), 2, width_ratios=[1.9, 1])
    shown: dict[str, Any] = {}
    for (left, right), condition in zip(axes, conditions, strict=True):
        own = rows_of(moving, condition)
        left.set_title(with_seeds(condition_title(condition), own), loc="left", fontsize=9.5)
        shown |= _accuracies(left, own, every)
        _perplexity(right, own[own.construction == MEAN].dropna(subset="perplexity"))
        right.set_xlim(left.get_xlim())
    note_omitted(made, len(conditions), len(condition_keys(moving)))
    over = "lines: mean over seeds, bands: ± standard deviation" if moving.groupby("condition").run.nunique().max() > 1 else None
    options = {"ncols": 4, "fontsize": 8, "handlelength": 3.4, "title": over, "title_fontsize": 8}
    made.legend(shown.values(), shown.keys(), loc="outside lower center", **options)
    return made


def _accuracies(axis: "Axes", own: "pd.DataFrame", every: list[str]) -> dict[str, Any]:
    drawn = {}
    for i, name in enumerate(every):
        if (own.construction == name).any():
            drawn[construction_name(name)] = _line(axis, own[own.construction == name], "accuracy", line_style(i))
    draw_chance(axis, chances_of(own))
    axis.set(
        xlabel="words seen",
        ylabel="accuracy on the sample",
        ylim=(min([axis.get_ylim()[0], *(chance - 0.1 for chance in chances_of(own))]), 1.02),
    )
    axis.xaxis.set_major_formatter(_words)
    return drawn


def _perplexity(axis: "Axes", own: "pd.DataFrame") -> None:
    # Not the look of any construction.
    _line(axis, own, "perplexity", {"color": GREY, "linestyle": "-", "marker": "."})
    low, high = axis.get_ylim()
    axis.set(xlabel="words seen", ylabel="validation perplexity", yscale="log" if high > 10 * max(low, 1) else "linear")
    axis.locator_params(axis="x", nbins=4)
    axis.xaxis.set_major_formatter(_words)


def _words(value: float, _: Any = None) -> str:
    return f"{value / 1e6:g} M" if value >= 1e6 else f"{value / 1e3:g} k" if value >= 1e3 else f"{value:g}"


def _line(axis: "Axes", own: "pd.DataFrame", column: str, style: dict[str, Any]) -> Any:
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
