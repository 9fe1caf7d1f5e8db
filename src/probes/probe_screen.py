"""What one sees of a model that is probed again and again: the whole table first, then what has changed."""

import math

from rich.console import RenderableType

from .accuracy import Table
from .probe_display import results_view
from .shown_numbers import UNCHANGED, share, show_change, show_interval
from .suite_display import mean_label


class ProbeScreen:
    """`full`: the whole table every time. Otherwise a row for each construction whose accuracy is not what was shown last."""

    def __init__(self, full: bool = False) -> None:
        self.full = full
        self.last: dict[str, Table] = {}
        self.shown: dict[str, dict[str, float]] = {}  # accuracy by construction, as it last stood on the screen

    def view(self, prefix: str, title: str, now: Table) -> RenderableType:
        """Of one collection of one language, which the prefix names."""
        before, self.last[prefix] = self.last.get(prefix), now
        if before is None or self.full:
            self.shown[prefix] = _accuracies(now)
            return results_view(title, now, before)
        was = self.shown[prefix]
        changed = [name for name, value in _accuracies(now).items() if _differs(value, was.get(name, math.nan))]
        self.shown[prefix] = was | {name: now.row(name).all.accuracy for name in changed}
        return _changes(title, now, was, changed)


def _accuracies(now: Table) -> dict[str, float]:
    return {row.construction: row.all.accuracy for row in now.rows}


def _differs(value: float, was: float) -> bool:
    """Whether one would read another number; a construction of which nothing can be scored never changes."""
    return math.isnan(value) != math.isnan(was) or show_change(value - was) not in ("", UNCHANGED)


def _changes(title: str, now: Table, was: dict[str, float], changed: list[str]) -> str:
    """A line for the probe and one for each construction that has changed, without the frame of a table."""
    mean = f"{title}: {mean_label(now)} {share(now.mean.accuracy)} ({show_interval(now.mean.interval)})"
    if not changed:
        return f"{mean}, nothing has changed"
    lines = [mean]
    widest = max(map(len, changed))
    for name in changed:
        own = now.row(name).all
        change = show_change(own.accuracy - was.get(name, math.nan))
        lines.append(f"  {name:{widest}}  {share(own.accuracy)}  {show_interval(own.interval)}  {change}")
    same = len(now.rows) - len(changed)
    return "\n".join([*lines, *([f"  as shown before: {same} of {len(now.rows)}"] if same else [])])
