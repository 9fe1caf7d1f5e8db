"""What watching costs: the share of the time that went into probing, and the schedule that would halve it."""

import itertools
import statistics
import time
from collections.abc import Sequence


class Stopwatch:
    """Runs from the first probe on; `probes` are the seconds of each, `steps` where they were made."""

    def __init__(self) -> None:
        self.started = time.perf_counter()
        self.probes: list[float] = []
        self.steps: list[int] = []

    def note(self, step: int, seconds: float) -> None:
        self.probes.append(seconds)
        self.steps.append(step)

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started

    def line(self, end: float | None = None) -> str:
        """`end`: the seconds of the training, where the whole sets were asked after it."""
        asked_after = "" if end is None else f"; the whole sets at the end {self.seconds - end:.1f} s"
        return cost_line(self.probes, self.seconds if end is None else end, self.steps) + asked_after


def cost_line(probes: Sequence[float], total: float, steps: Sequence[int]) -> str:
    """`probing took 2.1 s of 30.0 s (7 %); every 200 steps instead of every 100 would halve it`"""
    spent = sum(probes)
    told = f"probing    {len(probes)} probes took {spent:.1f} s of {total:.1f} s ({spent / max(total, 1e-9):.0%})"
    gaps = [after - before for before, after in itertools.pairwise(steps) if after > before]
    if not gaps:
        return told
    usual = int(statistics.median(gaps))
    return f"{told}; every {2 * usual:,} steps instead of every {usual:,} would halve that"
