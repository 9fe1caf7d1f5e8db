"""A probe's table as a frame."""

from typing import TYPE_CHECKING

from ..probes.accuracy import Table
from .optional_packages import explain_missing

if TYPE_CHECKING:
    import pandas as pd


def accuracy_frame(table: Table) -> "pd.DataFrame":
    """One row per construction: n, accuracy with its 95 % interval, ties, and how many were uncovered, unknown or repeated."""
    with explain_missing():
        import pandas as pd  # noqa: PLC0415 - an extra

    rows = {
        row.construction: [
            *(row.all.n, row.all.accuracy, *row.all.interval, row.all.ties, row.all.uncovered),
            *(row.all.unknown_context, row.repeated),
        ]
        for row in table.rows
    }
    names = ["n", "accuracy", "low", "high", "ties", "uncovered", "unknown_context", "repeated"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=names).rename_axis("construction")
