"""Verdicts of made-up models, for tests of statistics."""

import numpy as np
from concord.report.judgements import Judgements
from numpy.typing import NDArray


def judged(correct: NDArray[np.float64]) -> Judgements:
    return Judgements(np.array(["x"] * len(correct)), correct, np.ones_like(correct))


def simulated(rng: np.random.Generator, seeds: int, items: int, differing: float = 0.5) -> NDArray[np.float64]:
    """Verdicts of models whose skill differs from seed to seed, on items that are not equally hard."""
    logits = 1 + rng.normal(0, differing, seeds)[None] + rng.normal(0, 0.5, items)[:, None]
    return (rng.random((items, seeds)) < 1 / (1 + np.exp(-logits))).astype(float)
