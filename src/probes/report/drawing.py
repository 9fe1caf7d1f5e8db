"""The figures of a report as files."""

from pathlib import Path

from data.errors import UserError

from .figures import FIGURES, draw
from .frame import frame_of
from .paper_tables import Estimates


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
        for suffix in ("svg", "png"):
            file = folder / "figures" / f"{kind}.{suffix}"
            figure.savefig(file, dpi=160, metadata={"Date": None} if suffix == "svg" else None)
            written.append(file)
    return written
