"""What watching costs: the share of time spent probing, and what would halve it."""

import itertools
import math
import time
from collections.abc import Sequence


class Stopwatch:
    """Runs from the first probe on; `probes` are the seconds of each, `steps` the steps at which they were made.

    `every` is the schedule by steps, if the watch decides it rather than the user; `sample`, the items per set.
    """

    def __init__(self, every: int | None = None, sample: int | None = None) -> None:
        self.every, self.sample = every, sample
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
        """`end`: the seconds of training, if the whole sets were evaluated after it.

        `probing took 2.1 s of 30.0 s (7%); every=230 instead of every=100 would halve that`
        """
        asked_after = "" if end is None else f"; the whole sets at the end took {self.seconds - end:.1f} s"
        spent, total = sum(self.probes), self.seconds if end is None else end
        told = f"probing    {len(self.probes)} probes took {spent:.1f} s of {total:.1f} s ({spent / max(total, 1e-9):.0%})"
        advice = halving_advice(self.probes, self.steps, self.every, self.sample)
        return told + (f"; {advice} would halve that" if advice else "") + asked_after


def halving_advice(probes: Sequence[float], steps: Sequence[int], every: int | None, sample: int | None) -> str:
    """What to change so that probing takes half as long; nothing for a single probe.

    A sparser schedule by steps removes only its own probes: the first, the last, those at words seen and those of evaluations
    stay. If these alone take more than half of the time, fewer items help instead.
    """
    if len(probes) < 2:
        return ""
    if every is None:
        gaps = {after - before for before, after in itertools.pairwise(steps)}
        if len(gaps) == 1 and (gap := gaps.pop()) > 0:
            return f"every {2 * gap:,} steps instead of every {gap:,}"
        return "dropping every second probe"
    ends = (0, steps[-1])
    scheduled = sum(seconds for seconds, step in zip(probes, steps, strict=True) if step % every == 0 and step not in ends)
    others = sum(probes) - scheduled
    if scheduled > others:
        return f"every={_round_up(every * scheduled / ((scheduled - others) / 2)):,} instead of every={every:,}"
    return f"sample={max(sample // 2, 1):,} instead of sample={sample:,}" if sample else "sample= with fewer items per set"


def _round_up(number: float) -> int:
    """Round up to two digits, since a schedule is a round number."""
    unit = 10 ** max(math.floor(math.log10(number)) - 1, 0)
    return math.ceil(round(number / unit, 6)) * unit
