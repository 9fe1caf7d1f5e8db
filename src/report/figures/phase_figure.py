"""Accuracy where a surface rule helps and where it misleads, over words seen, with the phases below the axis."""

from math import isnan, log, nan
from typing import TYPE_CHECKING, Any

from ...errors import UserError
from ...probes.accuracy import MEAN
from ...probes.phases import AGREES, CONTRADICTED, HELPED, MISLED, STRUCTURE, UNDECIDED, phase
from ..frame import STEP
from ..learning_curves import half_width
from ..phase_tables import mean_agreement, rule_name
from ..wording import format_words, seen
from .style import GREY, MOST, condition_keys, condition_title, draw_chance, line_style, note_omitted, panels, rows_of, with_seeds

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STAGES = {STRUCTURE: "#6b3fa0", UNDECIDED: "#d0d0d0"}  # colours that no rule uses
SIDES = {"where the rule is right": HELPED, "where the rule is wrong": MISLED}
UNDER, HEIGHT = -0.36, 0.07  # where phases are drawn, as shares of a panel's height


def draw_phases(frame: "pd.DataFrame") -> "Figure":
    """Over the items of all constructions, one row of panels per condition; 95 % intervals over seeds."""
    moving = frame[frame.moment.str.startswith(STEP) & (frame.construction == MEAN) & (frame.words > 0)]
    rules = [name.removeprefix(MISLED) for name in moving.columns if name.startswith(MISLED) and moving[name].notna().any()]
    if not rules:
        raise UserError("phases: none of these runs was compared with surface rules during training")
    moving = moving[moving[[MISLED + rule for rule in rules]].notna().any(axis=1)]
    conditions = condition_keys(moving)[:MOST]
    made, axes = panels(9.5, 3.0 * len(conditions) + 0.7, len(conditions), 2, sharey=True)
    for row, condition in zip(axes, conditions, strict=True):
        own = rows_of(moving, condition)
        _panels(row, own, rules)
        row[0].set_title(f"{with_seeds(condition_title(condition), own)}\nwhere the rule is right", loc="left", fontsize=9.5)
        row[1].set_title("where the rule is wrong", loc="left", fontsize=9.5)
    handles: list[Any] = [axes[0, 0].plot([], [], **_look(i))[0] for i in range(len(rules))]
    handles += [axes[0, 0].plot([], [], color=colour, linewidth=6, solid_capstyle="butt")[0] for colour in STAGES.values()]
    made.legend(handles, [*map(rule_name, rules), *STAGES], loc="outside lower center", ncols=4, fontsize=8, handlelength=3.4)
    note_omitted(made, len(conditions), len(condition_keys(moving)))
    return made


def _look(i: int) -> dict[str, Any]:
    return {"linewidth": 1.4, "markersize": 3, **line_style(i)}


def _panels(row: Any, own: "pd.DataFrame", rules: list[str]) -> None:
    for axis, start in zip(row, SIDES.values(), strict=True):
        for i, rule in enumerate(rules):
            if start + rule in own:
                _line(axis, own, start + rule, 1 if start == HELPED else -1, i)
        axis.set(xscale="log", ylim=(0, 1.02), xlabel=seen(own.attrs.get("axis", "words")), ylabel="accuracy on the sample")
        axis.minorticks_off()
        axis.xaxis.set_major_formatter(lambda value, _: format_words(value))
        draw_chance(axis, [0.5])
    spans = _spans(own, rules)
    for axis in row:
        _strip(axis, spans, rules)


def _line(axis: "Axes", own: "pd.DataFrame", column: str, sign: int, i: int) -> None:
    """Accuracy is the share itself where the rule is right, and its complement where the rule is wrong."""
    over = own.dropna(subset=column).groupby("moment", sort=False)
    found = over.agg(words=("words", "mean"), mean=(column, "mean"), sd=(column, "std"), runs=("run", "nunique")).sort_values(
        "words"
    )
    accuracy = found["mean"] if sign > 0 else 1 - found["mean"]
    axis.plot(found.words, accuracy, markevery=max(len(found) // 8, 1), **_look(i))
    if (found.runs > 1).any():
        half = [half_width(sd, int(runs)) for sd, runs in zip(found.sd, found.runs, strict=True)]
        low, high = (accuracy - half).clip(lower=0), (accuracy + half).clip(upper=1)
        axis.fill_between(found.words, low, high, color=line_style(i)["color"], alpha=0.13, linewidth=0)


def _spans(own: "pd.DataFrame", rules: list[str]) -> list[tuple[str, float, float]]:
    """The phase at each probe, merging consecutive probes of one phase: from its first probe to the first of the next."""
    over = own.groupby("moment", sort=False).mean(numeric_only=True).sort_values("words")
    spans: list[tuple[str, float, float]] = []
    for _, row in over.iterrows():
        beside = {
            rule: mean_agreement(row[MISLED + rule], row.get(AGREES + rule, nan), row.get(CONTRADICTED + rule, nan))
            for rule in rules
            if not isnan(row[MISLED + rule])  # where the rule never contradicts the grammar
        }
        now = phase(beside)
        if spans:
            spans[-1] = (*spans[-1][:2], float(row.words))
        if not spans or spans[-1][0] != now:
            spans.append((now, float(row.words), float(row.words)))
    return spans


def _strip(axis: "Axes", spans: list[tuple[str, float, float]], rules: list[str]) -> None:
    """Below the axis; labelled where there is room."""
    from matplotlib.patches import Rectangle  # noqa: PLC0415

    place: dict[str, Any] = {"transform": axis.get_xaxis_transform(), "clip_on": False}
    low, high = axis.get_xlim()
    for name, first, last in spans:
        colour = STAGES.get(name) or line_style(rules.index(name))["color"]
        axis.add_patch(Rectangle((first, UNDER), last - first, HEIGHT, color=colour, linewidth=0, **place))
        wide = _share(first, last, low, high)
        if wide > 0.014 * len(name) + 0.02:
            middle = (first * last) ** 0.5
            ink = GREY if name == UNDECIDED else "white"
            axis.text(middle, UNDER + HEIGHT / 2, rule_name(name), ha="center", va="center", fontsize=6.5, color=ink, **place)


def _share(first: float, last: float, low: float, high: float) -> float:
    """The share of a logarithmic axis's width."""
    return log(last / first) / log(high / low)
