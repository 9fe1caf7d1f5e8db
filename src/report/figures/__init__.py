"""Figures for a paper or a talk, drawn from a frame: one file per figure.

Readable in greyscale and by colour-blind readers: colours differ in brightness, lines also in dashes and markers.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import UserError
from ..optional_packages import explain_missing
from .bars import draw_bars
from .curves import draw_curves
from .heat import draw_heat
from .language_figure import draw_languages
from .perplexity_plot import draw_perplexity
from .phase_figure import draw_phases
from .size_figure import draw_training_size
from .style import STYLE, align_moments
from .suite_figures import draw_circuits, draw_stability

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

FIGURES: dict[str, Callable[["pd.DataFrame"], "Figure"]] = {
    "curves": draw_curves,
    "bars": draw_bars,
    "heat": draw_heat,
    "perplexity": draw_perplexity,
    "phases": draw_phases,
    "languages": draw_languages,
    "training_size": draw_training_size,
    "circuits": draw_circuits,
    "stability": draw_stability,
}


def draw_figure(frame: "pd.DataFrame", kind: str = "curves") -> "Figure":
    """One of a report's figures: curves, bars, heat, perplexity, phases, languages, training_size, circuits, stability."""
    if kind not in FIGURES:
        raise UserError(f"{kind}: no such figure; choose one of: {', '.join(FIGURES)}")
    with explain_missing():
        from matplotlib import rc_context  # noqa: PLC0415
    with rc_context(STYLE):
        return FIGURES[kind](align_moments(frame))


def write_figures(frame: "pd.DataFrame", folder: Path) -> list[Path]:
    """Write each as SVG and PNG. A figure without any numbers is not drawn."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for kind in FIGURES:
        try:
            figure = draw_figure(frame, kind)
        except UserError:
            continue
        written += [save(figure, folder / f"{kind}.{suffix}") for suffix in ("svg", "png")]
    return written


def save(figure: "Figure", file: Path) -> Path:
    """SVG or PNG by the suffix; saved under the style, so that text stays text."""
    from matplotlib import rc_context  # noqa: PLC0415

    with rc_context(STYLE):
        figure.savefig(file, dpi=160, metadata={"Date": None} if file.suffix == ".svg" else None)
    return file


__all__ = ["FIGURES", "draw_figure", "save", "write_figures"]
