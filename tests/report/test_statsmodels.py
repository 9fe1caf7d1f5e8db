"""Our statistics against those of statsmodels. Nothing else imports it: the first time, that takes long."""

import math

import numpy as np
import pytest
from concord.report.comparison import holm, mcnemar_p
from concord.report.intervals import estimate, student_stretch
from simulated_verdicts import judged, simulated
from statsmodels.stats.contingency_tables import mcnemar as theirs
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint


@pytest.mark.parametrize("values", [[0.03], [0.01, 0.01, 1.0], [0.5, 0.02, 0.02, 0.0], np.random.default_rng(0).random(12) ** 4])
def test_holm_is_that_of_statsmodels(values: list[float]) -> None:
    assert holm(values) == pytest.approx(multipletests(values, method="holm")[1].tolist())


@pytest.mark.parametrize(("better", "worse"), [(0, 0), (3, 0), (5, 5), (12, 4), (1, 30)])
def test_mcnemar_is_that_of_statsmodels(better: int, worse: int) -> None:
    expected = theirs([[7, better], [worse, 9]], exact=True).pvalue if better + worse else 1.0
    assert mcnemar_p(better, worse) == pytest.approx(min(expected, 1.0))


def test_an_estimate_of_one_run_is_wilsons_and_of_several_is_wider_for_their_seeds() -> None:
    correct = simulated(np.random.default_rng(4), 5, 300, differing=1.0)
    single = estimate([judged(correct[:, :1])])
    assert (single.low, single.high) == pytest.approx(proportion_confint(correct[:, 0].sum(), 300, method="wilson"))
    several = estimate([judged(correct)])
    assert several.mean == pytest.approx(correct.mean())
    assert several.sd == pytest.approx(correct.mean(axis=0).std(ddof=1))
    # Student's interval over seeds is the part that does not go away with more items.
    assert several.high - several.low > 0.9 * 2 * student_stretch(5) * 1.96 * several.sd / math.sqrt(5) * math.sqrt(4 / 5)
    perfect = estimate([judged(np.ones((50, 3)))])
    assert (perfect.mean, perfect.high) == (1, 1)
    assert 0.9 < perfect.low < 0.95
