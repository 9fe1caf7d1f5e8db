"""A learning curve in the terminal: every construction at the first and the last checkpoint, with a sparkline in between."""

import logging
import math
from collections.abc import Sequence

from ..probes.accuracy import MEAN
from ..settings.watched import Axis
from ..terminal import share, show, table
from .curve_folder import CurveFolder

log = logging.getLogger(__name__)
BARS = "▁▂▃▄▅▆▇█"
FLOOR = 0.5  # the value of the lowest bar, and of everything below it
WIDEST = 32


def show_curve(curve: CurveFolder, axis: Axis) -> None:
    """One table per set."""
    points = curve.scored()
    if not points:
        return
    rows = [point.metrics for point in points]
    for plan in curve.plans:
        names = [*plan.sample.constructions, MEAN]
        curves = {name: [row.get(f"{plan.prefix}/{name}/accuracy", math.nan) for row in rows] for name in names}
        title = f"{plan.sample.language} {plan.sample.name}, {len(points)} checkpoints"
        view = table(title, "construction", numbers=["n", "first", "last"], last=f"by {axis}")
        for name, values in curves.items():
            if name == MEAN:
                view.add_section()
            n = rows[-1].get(f"{plan.prefix}/{name}/n")
            shown = "" if n is None else f"{n:,.0f}"
            view.add_row(name, shown, share(values[0]), share(values[-1]), spark(values))
        show(view)
    log.info("bars       %s is %.2f or less, %s is 1.00", BARS[0], FLOOR, BARS[-1])
    for name, point in curve.results().items():
        if point.broken:
            log.warning("broken     %s: %s", name, point.broken)
    log.info("results    %s", curve.path)
    log.info("report     %s", curve.run.report)


def spark(values: Sequence[float]) -> str:
    """One bar per checkpoint, or per group of them if there are many; a gap where nothing could be evaluated."""
    chosen = values
    if len(values) > WIDEST:
        chosen = [values[round(i * (len(values) - 1) / (WIDEST - 1))] for i in range(WIDEST)]
    steps = len(BARS) - 1
    return "".join(" " if math.isnan(v) else BARS[round(max(0.0, (v - FLOOR) / (1 - FLOOR)) * steps)] for v in chosen)
