"""Results people would show: tables, figures, statistics, and a page that opens offline.

In a notebook two lines are enough:

    from concord.report import draw, load
    draw(load("runs/*"), "curves")
"""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from ..runs.run_folder import RunFolder

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def load(*paths: Path | str) -> "pd.DataFrame":
    """Runs and evaluations as a frame: one row per run, moment (`final`, or a step on the way) and construction."""
    from .conditions import group_by_condition  # noqa: PLC0415 heavy imports wait until they are needed
    from .estimates import Estimates  # noqa: PLC0415
    from .frame import make_frame  # noqa: PLC0415
    from .gathering import gather_results  # noqa: PLC0415

    return make_frame(Estimates(group_by_condition(gather_results(paths).results)))


def draw(frame: "pd.DataFrame", kind: str = "curves") -> "Figure":
    """Draw a figure from a frame or from a subset of its rows: curves, bars, heat, perplexity."""
    from . import figures  # noqa: PLC0415

    return figures.draw_figure(frame, kind)


def write_own_report(folder: Path) -> None:
    """Write the page of one run into its own folder; if it cannot be written, the run itself loses nothing."""
    try:
        own_report(folder)
    except OSError as error:
        logging.getLogger(__name__).info("report     not written: %s", error)


def complete_own_report(folder: Path) -> None:
    """Write the page of a run that was killed after training finished but before its page was written."""
    if not RunFolder(folder).report.exists():
        write_own_report(folder)


def own_report(folder: Path) -> Path | None:
    """The small report of one run, in its own folder: just the page."""
    from .gathering import gather_results  # noqa: PLC0415
    from .report_folder import PAGE, ReportParts, write_page  # noqa: PLC0415

    found = gather_results([folder])
    return write_page(ReportParts(found, plain=True), folder / PAGE) if found.results else None


__all__ = ["complete_own_report", "draw", "load", "own_report", "write_own_report"]
