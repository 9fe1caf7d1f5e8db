"""metrics.csv: every number of a run, one row per event. Our own, because it must survive being stopped and resumed."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytorch_lightning.loggers.logger import Logger
from pytorch_lightning.utilities import rank_zero_only

from ..errors import UserError
from ..files import replace_atomically


class MetricsFile(Logger):
    """Appends; a new kind of metric adds a column. `keep(rows)` cuts back to what a checkpoint knows about."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file = file
        self.rows = 0
        self.columns: list[str] = []
        if file.exists():
            self.columns, rows = _cells(file)
            self.rows = len(rows)

    @property
    def name(self) -> str:
        return "metrics"

    @property
    def version(self) -> str:
        return ""

    def log_hyperparams(self, *_: object, **__: object) -> None:
        """The configuration is in config.yaml."""

    @rank_zero_only
    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        row = {"step": step} | metrics
        new = [name for name in row if name not in self.columns]
        if new:
            self._rewrite(self.rows, self.columns + new)
        with self.file.open("a", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerow([_written(row.get(name, "")) for name in self.columns])
        self.rows += 1

    @rank_zero_only
    def keep(self, rows: int) -> None:
        """Keep the first `rows` rows and no more: what came after the checkpoint will happen again."""
        if rows < self.rows:
            self._rewrite(rows, self.columns)

    def _rewrite(self, rows: int, columns: list[str]) -> None:
        """All or nothing: the old file is replaced once the new one is complete."""
        kept: list[dict[str, str]] = []
        if self.file.exists():
            with self.file.open(encoding="utf-8", newline="") as stream:
                kept = list(csv.DictReader(stream))[:rows]
        # A column that no row uses any more came after the checkpoint; it will reappear in its place.
        if rows < self.rows:
            columns = [name for name in columns if any(row.get(name) for row in kept)]
        with replace_atomically(self.file) as new, new.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, columns, restval="", extrasaction="ignore")
            writer.writeheader()
            writer.writerows(kept)
        self.columns, self.rows = columns, rows


def write_rows(file: Path, rows: Sequence[Mapping[str, float]]) -> None:
    """Write all rows at once, all or nothing, for results that do not arrive in step order."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with replace_atomically(file) as new, new.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns, restval="")
        writer.writeheader()
        writer.writerows({name: _written(value) for name, value in row.items()} for row in rows)


def must_hold(file: Path, rows: int) -> None:
    """Before a run resumes: the rows its checkpoint knows about must be there and intact. What follows them is cut off."""
    columns, found = _cells(file) if file.exists() else ([], [])
    remedy = "restore it, or start afresh with overwrite=true"
    if len(found) < rows:
        raise UserError(f"{file}: {len(found):,} rows, but the checkpoint expects {rows:,}; {remedy}")
    if broken := [number for number, cells in enumerate(found[:rows], start=2) if len(cells) != len(columns)]:
        raise UserError(f"{file}:{broken[0]}: this row is damaged (it must have {len(columns)} cells); {remedy}")


def _cells(file: Path) -> tuple[list[str], list[list[str]]]:
    """The column names, and the rows as written."""
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            columns, *rows = list(csv.reader(stream)) or [[]]
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{file}: cannot be read ({error}); restore it, or start afresh with overwrite=true") from None
    return columns, rows


def _written(value: float | str | None) -> str:
    """Floats written so that reading them back gives the same number."""
    return repr(value) if isinstance(value, float) else str(value)


def read(file: Path) -> list[dict[str, float]]:
    """The rows as numbers, without empty cells."""
    with file.open(encoding="utf-8", newline="") as stream:
        return [{name: float(value) for name, value in row.items() if value} for row in csv.DictReader(stream)]
