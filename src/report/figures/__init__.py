"""Figures for a paper or a talk, drawn from a frame: a file a figure.

Readable in grey and by the colour-blind: colours differ in brightness, and lines also in their dashes and marks.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import UserError
from ..missing import explained
from .bars import bars
from .curves import curves
from .heat import heat
from .perplexity_plot import perplexity
from .style import STYLE

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

FIGURES: dict[str, Callable[["pd.DataFrame"], "Figure"]] = {
    "curves": curves,
    "bars": bars,
    "heat": heat,
    "perplexity": perplexity,
}


def draw(frame: "pd.DataFrame", kind: str = "curves") -> "Figure":
    """One of the figures of a report: curves, bars, heat, perplexity."""
    if kind not in FIGURES:
        raise UserError(f"{kind}: there is no such figure; there are: {', '.join(FIGURES)}")
    with explained():
        from matplotlib import rc_context  # noqa: PLC0415
    with rc_context(STYLE):
        return FIGURES[kind](frame)


def save(figure: "Figure", file: Path) -> Path:
    """SVG or PNG by its suffix; the style holds while it is written, so that text stays text."""
    from matplotlib import rc_context  # noqa: PLC0415

    with rc_context(STYLE):
        figure.savefig(file, dpi=160, metadata={"Date": None} if file.suffix == ".svg" else None)
    return file


__all__ = ["FIGURES", "draw", "save"]
