"""What the statistics promise, under a simulated null: alarms and misses are as rare as they say."""

import math

import numpy as np
import pytest
from concord.report.comparison import holm, mcnemar_p, permutation_p
from concord.report.intervals import estimate
from scipy.stats import binomtest
from simulated_verdicts import judged, simulated


def not_above(misses: int, trials: int, level: float = 0.05) -> bool:
    """Within what chance allows: the rate is not shown to be above the level."""
    return binomtest(misses, trials, level, alternative="greater").pvalue > 0.01


def test_under_the_null_models_and_recipes_are_seldom_told_apart() -> None:
    rng = np.random.default_rng(5)
    alarms = {"models": 0, "recipes": 0}
    for _ in range(300):
        values: dict[str, list[float]] = {"models": [], "recipes": []}
        for _construction in range(7):
            correct = simulated(rng, 2, 80, differing=0.0)
            better, worse = (int((correct[:, i] > correct[:, 1 - i]).sum()) for i in (0, 1))
            values["models"].append(mcnemar_p(better, worse))
        seeds = simulated(rng, 8, 80).mean(axis=0)
        values["recipes"].append(permutation_p(seeds[:4], seeds[4:]))
        for kind, ps in values.items():
            alarms[kind] += min(holm(ps)) < 0.05
    assert not_above(alarms["models"], 300), alarms
    assert not_above(alarms["recipes"], 300), alarms
    assert alarms["recipes"] > 0  # a test that never speaks keeps any level


@pytest.mark.parametrize("seeds", [3, 5])
def test_the_interval_covers_the_truth_as_often_as_it_says(seeds: int) -> None:
    rng = np.random.default_rng(seeds)
    truth = float((1 / (1 + np.exp(-(1 + rng.normal(0, math.hypot(0.5, 0.5), 500_000))))).mean())
    missed, widths = 0, []
    for trial in range(400):
        found = estimate([judged(simulated(rng, seeds, 200))], draws=500, seed=trial)
        missed += not found.low <= truth <= found.high
        widths.append(found.high - found.low)
    assert not_above(missed, 400), missed
    assert missed > 0
    assert np.mean(widths) < 0.5
