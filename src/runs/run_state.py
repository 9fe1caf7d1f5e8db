"""How far a run has got, read from its folder during training or afterwards."""

import csv
from pathlib import Path

from ..errors import UserError
from ..metric_names import VALID_PERPLEXITY
from ..settings.watched import is_watched
from .run_folder import RunFolder


def state(folder: RunFolder) -> tuple[str, str]:
    """`done`, `running`, `stopped` (on request, and saved), `failed`, `unfinished` (if watched) or `damaged`, and why."""
    if folder.in_use():
        return "running", ""
    try:
        watched = is_watched(folder.settings())
        if folder.finished():
            folder.result()
            return "done", ""
        starts = folder.starts()
    except (UserError, OSError) as error:
        return "damaged", str(error)
    ended = starts[-1].get("ended") if starts else None
    if isinstance(ended, dict) and {"state", "why"} <= {*ended}:
        return str(ended["state"]), str(ended["why"])
    if watched:
        return "unfinished", "training that is watched: it goes on, or ended before its last probe"
    # A process that was killed or lost power could not say so.
    return "failed", "ended without a message: killed, or the machine went down"


class History:
    """The numbers of a run so far; empty without a file."""

    def __init__(self, folder: RunFolder) -> None:
        try:
            with folder.metrics.open(encoding="utf-8", newline="") as stream:
                self.rows = list(csv.DictReader(stream))
        except (OSError, ValueError, csv.Error):
            self.rows = []
        self.result = _result(folder)

    def names(self) -> list[str]:
        """The names of everything measured."""
        return sorted({name for row in self.rows for name, value in row.items() if value} | {*self.result})

    @property
    def validations(self) -> list[dict[str, str]]:
        """One row per epoch. A model may have been probed in between as well."""
        return [row for row in self.rows if _number(row.get(VALID_PERPLEXITY)) is not None]

    @property
    def epochs(self) -> int:
        return len(self.validations)

    def by_epoch(self, metric: str) -> list[float | None]:
        """Its value after every epoch; None where it was not measured."""
        return [_number(row.get(metric)) for row in self.validations]

    def of_best(self, metric: str) -> float | None:
        """The value that belongs to best.ckpt, so that several metrics describe the same model; otherwise the newest."""
        if metric in self.result:
            value = self.result[metric]
            return float(value) if isinstance(value, int | float) else None
        measured = self.by_epoch(metric)
        epoch = self.result.get("best epoch")
        if isinstance(epoch, int) and 0 < epoch <= len(measured) and (value := measured[epoch - 1]) is not None:
            return value
        everywhere = [value for row in self.rows if (value := _number(row.get(metric))) is not None]
        return everywhere[-1] if everywhere else None


def _result(folder: RunFolder) -> dict[str, object]:
    try:
        return folder.result()
    except (OSError, UserError):
        return {}


def _number(text: str | None) -> float | None:
    """A cell; the last one may be half-written."""
    try:
        return float(text) if text else None
    except ValueError:
        return None


def runs_below(place: Path) -> list[RunFolder]:
    """Every run in a folder or its subfolders, by name; what is inside a run belongs to it."""
    if (place / "config.yaml").exists() and (place / "provenance.json").exists():
        return [RunFolder(place)]
    inside = sorted(part for part in place.iterdir() if part.is_dir() and not part.is_symlink()) if place.is_dir() else []
    return [run for part in inside for run in runs_below(part)]
