"""Figures for a paper or a talk, drawn from a frame.

Readable in grey and by the colour-blind: colours differ in brightness, and lines also in their dashes and marks.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from data.errors import UserError
from probes.accuracy import CHANCE, MEAN

from .frame import FINAL
from .missing import explained
from .wording import construction_name, language_name, ordered

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito (2008), without their yellow, which is lost on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1.2, 1.2)),
    (0, (7, 1.5, 1.2, 1.5)),
    (0, (3, 1, 1, 1, 1, 1)),
    (0, (9, 2)),
    (0, (2, 2.5)),
)
MARKS = ("o", "s", "^", "D", "v", "P", "X")
MOST = 8  # conditions in one figure of curves
STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "concord",
    "figure.constrained_layout.use": True,
    "font.family": ["DejaVu Sans"],
}


def draw(frame: "pd.DataFrame", kind: str = "curves") -> "Figure":
    """One of the figures of a report: curves, bars, heat, perplexity."""
    if kind not in FIGURES:
        raise UserError(f"{kind}: there is no such figure; there are: {', '.join(FIGURES)}")
    with explained():
        from matplotlib import rc_context  # noqa: PLC0415
    with rc_context(STYLE):
        return FIGURES[kind](frame)


def _figure(width: float, height: float, rows: int = 1, columns: int = 1, **options: Any) -> tuple["Figure", Any]:
    # Not pyplot: it keeps every figure alive and opens windows.
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    made = Figure(figsize=(width, height))
    FigureCanvasAgg(made)
    return made, made.subplots(rows, columns, squeeze=False, **options)


def _style(i: int) -> dict[str, Any]:
    turn = i + i // len(COLOURS)  # after a round of colours, another pairing with dashes
    return {"color": COLOURS[i % len(COLOURS)], "linestyle": DASHES[turn % len(DASHES)], "marker": MARKS[i % len(MARKS)]}


def _conditions(frame: "pd.DataFrame") -> list[tuple[str, str, str]]:
    return list(dict.fromkeys(frame[["language", "set", "condition"]].itertuples(index=False, name=None)))


def _of(frame: "pd.DataFrame", condition: tuple[str, str, str]) -> "pd.DataFrame":
    language, name, group = condition
    return frame[(frame.language == language) & (frame.set == name) & (frame.condition == group)]


def _title(condition: tuple[str, str, str]) -> str:
    return f"{language_name(condition[0])}, {condition[2]}"


# ---------------------------------------------------------------------- curves


def curves(frame: "pd.DataFrame") -> "Figure":
    """Accuracy of every construction against words seen, perplexity beside it; mean and standard deviation over seeds."""
    moving = frame[frame.moment.str.startswith("step")]
    conditions = _conditions(moving)[:MOST]
    if not conditions:
        raise UserError("curves: none of these runs has been probed on the way")
    every = ordered([name for name in moving.construction.unique() if name != MEAN])
    made, axes = _figure(9, 2.9 * len(conditions) + 0.7, len(conditions), 2, width_ratios=[1.9, 1])
    shown: dict[str, Any] = {}
    for (left, right), condition in zip(axes, conditions, strict=True):
        own = _of(moving, condition)
        for i, name in enumerate(every):
            if (own.construction == name).any():
                shown.setdefault(construction_name(name), _line(left, own[own.construction == name], "accuracy", i))
        left.axhline(CHANCE, color="#888888", linewidth=0.8, zorder=0)
        left.set(xlabel="words seen", ylabel="accuracy", ylim=(min(0.4, left.get_ylim()[0]), 1.02))
        left.set_title(_title(condition), loc="left", fontsize=9.5)
        _line(right, own[own.construction == MEAN].dropna(subset="perplexity"), "perplexity", len(COLOURS) - 1)
        low, high = right.get_ylim()
        right.set(xlabel="words seen", ylabel="validation perplexity", yscale="log" if high > 10 * max(low, 1) else "linear")
        for axis in (left, right):
            axis.xaxis.set_major_formatter(_words)
    made.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=4, fontsize=8, handlelength=3.4)
    return made


def _words(value: float, _: Any = None) -> str:
    return f"{value / 1e6:g} M" if value >= 1e6 else f"{value / 1e3:g} k" if value >= 1e3 else f"{value:g}"


def _line(axis: "Axes", own: "pd.DataFrame", column: str, i: int) -> Any:
    over = (
        own.groupby("moment", sort=False)
        .agg(words=("words", "mean"), mean=(column, "mean"), sd=(column, "std"))
        .sort_values("words")
    )
    style = _style(i)
    (drawn,) = axis.plot(over.words, over["mean"], linewidth=1.4, markersize=3, markevery=max(len(over) // 8, 1), **style)
    if over.sd.notna().any():
        sd = over.sd.fillna(0)
        axis.fill_between(over.words, over["mean"] - sd, over["mean"] + sd, color=style["color"], alpha=0.13, linewidth=0)
    return drawn


# -------------------------------------------------------------- bars, heat map


def _final(frame: "pd.DataFrame") -> "pd.DataFrame":
    return frame[frame.moment.isin([FINAL, "last"])]


def _averaged(frame: "pd.DataFrame") -> "pd.DataFrame":
    keys = ["language", "set", "condition", "construction"]
    columns = {"accuracy": ("accuracy", "mean"), "low": ("low", "first"), "high": ("high", "first"), "runs": ("run", "nunique")}
    return _final(frame).groupby(keys, sort=False).agg(**columns).reset_index()


HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++", "oo")


def bars(frame: "pd.DataFrame") -> "Figure":
    """Accuracy by construction, a panel a language; whiskers are 95 % intervals over items and seeds."""
    found = _averaged(frame)
    languages = list(dict.fromkeys(found.language))
    names = ordered([name for name in found.construction.unique() if name != MEAN])
    most = max(len(_conditions(found[found.language == language])) for language in languages)
    made, axes = _figure(
        max(6.5, 0.2 * len(names) * min(most, MOST) + 3.5), 2.7 * len(languages) + 0.6, len(languages), 1, sharex=True
    )
    for axis, language in zip(axes[:, 0], languages, strict=True):
        conditions = _conditions(found[found.language == language])[:MOST]
        width = 0.8 / len(conditions)
        for i, condition in enumerate(conditions):
            own = _of(found, condition).set_index("construction").reindex(names)
            places = np.arange(len(names)) + (i - (len(conditions) - 1) / 2) * width
            whiskers = np.array([own.accuracy - own.low, own.high - own.accuracy]).clip(min=0)
            shown = {
                "color": COLOURS[i % len(COLOURS)],
                "hatch": HATCHES[i % len(HATCHES)],
                "edgecolor": "white",
                "label": condition[2],
            }
            axis.bar(
                places,
                own.accuracy,
                width * 0.94,
                yerr=whiskers,
                ecolor="#333333",
                capsize=2,
                error_kw={"linewidth": 0.9},
                **shown,
            )
        axis.axhline(CHANCE, color="#666666", linewidth=0.8)
        axis.set(ylim=(0, 1.05), ylabel="accuracy", title=language_name(language))
        axis.grid(axis="x", visible=False)
        axis.set_xticks(
            range(len(names)), [construction_name(name) for name in names], rotation=28, ha="right", rotation_mode="anchor"
        )
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7.5)
    return made


def heat(frame: "pd.DataFrame") -> "Figure":
    """Constructions × conditions, brighter is better; the numbers stand in the cells."""
    found = _averaged(frame)
    conditions, names = _conditions(found), [*ordered([n for n in found.construction.unique() if n != MEAN]), MEAN]
    values = np.array([_of(found, condition).set_index("construction").accuracy.reindex(names) for condition in conditions]).T
    made, axes = _figure(2.8 + 0.75 * len(conditions), 1.4 + 0.33 * len(names))
    axis = axes[0, 0]
    image = axis.imshow(values, vmin=0, vmax=1, cmap="cividis", aspect="auto")
    for row, column in np.argwhere(~np.isnan(values)):
        value = values[row, column]
        axis.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=7.5, color="white" if value < 0.6 else "black")
    axis.set_yticks(range(len(names)), [construction_name(name) for name in names])
    axis.set_xticks(range(len(conditions)), [_title(c) for c in conditions], rotation=32, ha="right", rotation_mode="anchor")
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)
    made.colorbar(image, ax=axis, label="accuracy", shrink=0.8)
    return made


# ------------------------------------------------------------------ perplexity


def perplexity(frame: "pd.DataFrame") -> "Figure":
    """Perplexity against mean accuracy, a point a run; a panel a language, since perplexities of two languages do not compare."""
    own = _final(frame)
    own = own[(own.construction == MEAN) & own.perplexity.notna()]
    languages = list(dict.fromkeys(own.language))
    if not languages:
        raise UserError("perplexity: none of these runs has one")
    made, axes = _figure(4.2 * len(languages) + 1.2, 3.6, 1, len(languages), sharey=True)
    for axis, language in zip(axes[0], languages, strict=True):
        conditions = _conditions(own[own.language == language])
        for i, condition in enumerate(conditions):
            some, style = _of(own, condition), _style(i)
            shown = {"color": style["color"], "marker": style["marker"], "label": condition[2]}
            axis.scatter(some.perplexity, some.accuracy, s=30, edgecolors="white", linewidths=0.6, **shown)
        axis.axhline(CHANCE, color="#888888", linewidth=0.8, zorder=0)
        axis.set(title=language_name(language), xlabel="test perplexity", ylabel="mean accuracy")
        axis.margins(0.12)
        if len(conditions) <= MOST:
            axis.legend(fontsize=7.5, loc="best")
    return made


FIGURES: dict[str, Callable[["pd.DataFrame"], "Figure"]] = {
    "curves": curves,
    "bars": bars,
    "heat": heat,
    "perplexity": perplexity,
}
