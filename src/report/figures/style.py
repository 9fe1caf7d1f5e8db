"""What all figures share: colours, dashes and markers, and which rows of the frame belong together."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..frame import FINAL, STEP
from ..learning_curves import align_steps
from ..wording import language_name

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ConditionKey = tuple[str, str, str]
Look = dict[str, Any]  # of a line or marker, in matplotlib's terms

# Okabe and Ito (2008), without their yellow, which is hard to see on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES: tuple[object, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1.2, 1.2)),
    (0, (7, 1.5, 1.2, 1.5)),
    (0, (3, 1, 1, 1, 1, 1)),
    (0, (9, 2)),
    (0, (2, 2.5)),
)
GREY = "#6b6b6b"
MARKS = ("o", "s", "^", "D", "v", "P", "X")
MOST = 8  # conditions in one panel or figure
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


def panels(width: float, height: float, rows: int = 1, columns: int = 1, **options: Any) -> tuple["Figure", Any]:
    """A figure and its axes. Not pyplot, which keeps every figure alive and opens windows."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    made = Figure(figsize=(width, height))
    FigureCanvasAgg(made)
    return made, made.subplots(rows, columns, squeeze=False, **options)


def line_style(i: int) -> Look:
    """The style of the i-th line."""
    turn = i + i // len(COLOURS)  # after one round of colours, a different pairing with dashes
    return {"color": COLOURS[i % len(COLOURS)], "linestyle": DASHES[turn % len(DASHES)], "marker": MARKS[i % len(MARKS)]}


def chances_of(frame: "pd.DataFrame") -> list[float]:
    """What a model that ignores the contrast scores; each value once."""
    return sorted(frame.chance.dropna().round(4).unique().tolist())


def draw_chance(axis: "Axes", chances: Sequence[float]) -> None:
    """Lines below which a model does worse than chance, labelled above."""
    for chance in chances:
        axis.axhline(chance, color=GREY, linewidth=0.8, zorder=0)
        where: Look = {
            "xycoords": ("axes fraction", "data"),
            "textcoords": "offset points",
            "xytext": (-2, 2),
            "ha": "right",
        }
        name = "chance" if len(chances) == 1 else f"chance {chance:.2f}"
        axis.annotate(name, (1, chance), fontsize=7, color=GREY, **where)


def condition_keys(frame: "pd.DataFrame") -> list[ConditionKey]:
    """Language, set and name of each condition."""
    return list(dict.fromkeys(frame[["language", "set", "condition"]].itertuples(index=False, name=None)))


def rows_of(frame: "pd.DataFrame", condition: ConditionKey) -> "pd.DataFrame":
    """The rows of one condition."""
    language, collection, name = condition
    return frame[(frame.language == language) & (frame.set == collection) & (frame.condition == name)]


def align_moments(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Probes of a condition's seeds at the same point of training get the same name."""
    if frame.empty:
        return frame
    aligned = frame.reset_index(drop=True)
    moving, named = aligned[aligned.moment.str.startswith(STEP)], aligned.moment.tolist()
    for condition in condition_keys(moving):
        own = rows_of(moving, condition)
        steps = {run: rows.moment.str.removeprefix(STEP).astype(int) for run, rows in own.groupby("run", sort=False)}
        for found, places in zip(steps.values(), align_steps([found.tolist() for found in steps.values()]), strict=True):
            for row, step in found.items():
                named[row] = f"{STEP}{int(places[step])}"
    aligned = aligned.assign(moment=named)
    aligned.attrs = frame.attrs
    return aligned


def with_seeds(name: str, own: "pd.DataFrame") -> str:
    """A name, with the number of runs behind its means."""
    runs = int(own.runs.max()) if "runs" in own else own.run.nunique()
    return name if runs == 1 else f"{name} ({runs} seeds)"


def condition_title(condition: ConditionKey) -> str:
    """The condition's name for readers."""
    return f"{language_name(condition[0])}, {condition[2]}"


def note_omitted(made: "Figure", shown: int, every: int) -> None:
    """Count what does not fit."""
    if shown < every:
        made.suptitle(f"the first {shown} of {every} conditions", fontsize=8, color=GREY)


def final_rows(frame: "pd.DataFrame") -> "pd.DataFrame":
    """The end of every run, or its latest state."""
    return frame[frame.moment.isin([FINAL, "last"])]


def condition_means(frame: "pd.DataFrame") -> "pd.DataFrame":
    """One row per condition and construction."""
    keys = ["language", "set", "condition", "construction"]
    columns = {
        "accuracy": ("accuracy", "mean"),
        "low": ("low", "first"),
        "high": ("high", "first"),
        "chance": ("chance", "first"),
        "runs": ("run", "nunique"),
    }
    return final_rows(frame).groupby(keys, sort=False).agg(**columns).reset_index()
