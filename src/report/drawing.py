"""The figures of a report as files."""

from pathlib import Path

from ..errors import UserError
from .estimates import Estimates
from .figures import FIGURES, draw, save
from .frame import frame_of


def write_figures(estimates: Estimates, folder: Path) -> list[Path]:
    """Each as SVG and PNG, and the numbers behind them as one CSV. A figure for which there are no numbers is not drawn."""
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    frame = frame_of(estimates)
    frame.to_csv(folder / "data.csv", index=False)
    written = []
    for kind in FIGURES:
        try:
            figure = draw(frame, kind)
        except UserError:
            continue
        written += [save(figure, folder / "figures" / f"{kind}.{suffix}") for suffix in ("svg", "png")]
    return written
