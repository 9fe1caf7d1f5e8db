"""The best runs of each condition, ranked by a perplexity; the others are left out and listed."""

import math
from collections.abc import Callable

from ..errors import UserError
from ..metric_names import TEST_PERPLEXITY, VALID_PERPLEXITY
from .conditions import group_by_condition
from .gathering import GatheredResults
from .left_out import LeftOut
from .results import Result

METRICS: dict[str, Callable[[Result], float]] = {
    VALID_PERPLEXITY: lambda result: min((value for _, value in result.perplexities), default=math.nan),
    TEST_PERPLEXITY: lambda result: result.perplexity,
}


def keep_best(found: GatheredResults, size: int, metric: str) -> GatheredResults:
    """Of runs that differ only in the seed, keep the `size` with the lowest value; a run without a value is left out."""
    if metric not in METRICS:
        raise UserError(f"--by {metric}: runs cannot be ranked by this; choose one of: {', '.join(METRICS)}")
    kept: list[Result] = []
    left_out = list(found.left_out)
    for condition in group_by_condition(found.results):
        values = {id(result): METRICS[metric](result) for result in condition.results}
        known = sorted((r for r in condition.results if not math.isnan(values[id(r)])), key=lambda r: values[id(r)])
        kept += known[:size]
        left_out += [LeftOut(str(r.path), f"not among the {size} best by {metric} ({values[id(r)]:.2f})") for r in known[size:]]
        unknown = (r for r in condition.results if math.isnan(values[id(r)]))
        left_out += [LeftOut(str(r.path), f"it has no {metric} to rank it by") for r in unknown]
    if not kept:
        raise UserError(f"--best {size} --by {metric}: no run has this metric")
    return GatheredResults(kept, left_out)
