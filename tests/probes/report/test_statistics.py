"""Our statistics against a second implementation, and their promises under a simulated null."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from scipy.stats import binomtest, spearmanr
from statsmodels.stats.contingency_tables import mcnemar as theirs
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from probes.report.acquisition import learnt, tau, words_to
from probes.report.comparison import holm, mcnemar, models_compared, permuted, recipes_compared
from probes.report.conditions import grouped
from probes.report.correlation import correlations, spearman
from probes.report.gathering import gather
from probes.report.intervals import estimate, few, other_items
from probes.report.judgements import Judgements, finals, moments


def judged(correct: NDArray[np.float64]) -> Judgements:
    return Judgements(np.array(["x"] * len(correct)), correct, np.ones_like(correct))


def simulated(rng: np.random.Generator, seeds: int, items: int, differing: float = 0.5) -> NDArray[np.float64]:
    """Verdicts of models whose skill differs from seed to seed, on items that are not equally hard."""
    logits = 1 + rng.normal(0, differing, seeds)[None] + rng.normal(0, 0.5, items)[:, None]
    return (rng.random((items, seeds)) < 1 / (1 + np.exp(-logits))).astype(float)


# ------------------------------------------------------ a second implementation


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_that_of_statsmodels(values: list[float]) -> None:
    assert holm(values) == pytest.approx(multipletests(values, method="holm")[1].tolist())


@pytest.mark.parametrize(("better", "worse"), [(0, 0), (3, 0), (5, 5), (12, 4), (1, 30)])
def test_mcnemar_is_that_of_statsmodels(better: int, worse: int) -> None:
    expected = theirs([[7, better], [worse, 9]], exact=True).pvalue if better + worse else 1.0
    assert mcnemar(better, worse) == pytest.approx(min(expected, 1.0))


def test_the_permutation_test_tries_every_arrangement() -> None:
    rng = np.random.default_rng(0)
    one, two = rng.random(5), rng.random(4) + 0.2
    pooled, gap = np.concatenate([one, two]), abs(one.mean() - two.mean())
    found = 0
    arrangements = list(itertools.combinations(range(9), 5))
    for chosen in arrangements:
        rest = [i for i in range(9) if i not in chosen]
        found += abs(pooled[list(chosen)].mean() - pooled[rest].mean()) >= gap - 1e-9
    assert permuted(one, two) == pytest.approx(found / len(arrangements))
    assert permuted(np.array([0.9, 0.91]), np.array([0.1, 0.2])) == pytest.approx(1 / 3)


def test_spearman_is_that_of_scipy_and_its_p_that_of_all_orders() -> None:
    rng = np.random.default_rng(1)
    one, two = rng.random(6), rng.random(6)
    rho, p = spearman(one, two)
    assert rho == pytest.approx(spearmanr(one, two).statistic)
    every = [abs(spearmanr(one[list(order)], two).statistic) for order in itertools.permutations(range(6))]
    assert p == pytest.approx(np.mean([value >= abs(rho) - 1e-9 for value in every]))


@given(arrays.arrays(float, (2, 7), elements=st.integers(0, 4).map(float)))
def test_kendalls_tau_counts_pairs(values: NDArray[np.float64]) -> None:
    one, two = values
    signs = [(np.sign(a - b), np.sign(c - d)) for (a, c), (b, d) in itertools.combinations(zip(one, two, strict=True), 2)]
    untied = [sum(s[side] != 0 for s in signs) for side in (0, 1)]
    found = tau(one.tolist(), two.tolist())[0]
    if min(untied):
        assert found == pytest.approx(sum(a * b for a, b in signs) / math.sqrt(untied[0] * untied[1]))
    else:
        assert math.isnan(found)


def test_what_is_never_learnt_comes_last_in_the_order() -> None:
    assert tau([1, 2, math.inf, math.inf], [10, 20, 30, math.inf])[0] == pytest.approx(tau([1, 2, 3, 3], [1, 2, 3, 4])[0])
    assert math.isnan(tau([math.inf] * 4, [1, 2, 3, 4])[0])


@given(arrays.arrays(float, 6, elements=st.integers(0, 20).map(lambda v: v / 20)))
def test_words_to_a_level_agree_with_a_walk_along_the_curve(curve: NDArray[np.float64]) -> None:
    words = [0, 10, 30, 40, 80, 100]
    found = float(words_to(0.75, words, curve))
    expected = math.inf
    for i in range(6):
        if curve[i] >= 0.75 and (i == 5 or curve[i + 1] >= 0.75):
            expected = words[i]
            if i and curve[i - 1] < 0.75:
                expected = words[i - 1] + (0.75 - curve[i - 1]) / (curve[i] - curve[i - 1]) * (words[i] - words[i - 1])
            break
    assert found == pytest.approx(expected)


def test_drawing_patterns_is_drawing_items() -> None:
    rng = np.random.default_rng(2)
    correct = simulated(rng, 3, 60)
    ours = other_items(judged(correct), 4000, np.random.default_rng(3))
    naive = [correct[rng.integers(0, 60, 60)].mean() for _ in range(4000)]
    assert ours.mean() == pytest.approx(np.mean(naive), abs=0.004)
    assert ours.std() == pytest.approx(np.std(naive), rel=0.06)


def test_an_estimate_of_one_run_is_wilsons_and_of_several_is_wider_for_their_seeds() -> None:
    correct = simulated(np.random.default_rng(4), 5, 300, differing=1.0)
    single = estimate([judged(correct[:, :1])])
    assert (single.low, single.high) == pytest.approx(proportion_confint(correct[:, 0].sum(), 300, method="wilson"))
    several = estimate([judged(correct)])
    assert several.mean == pytest.approx(correct.mean())
    assert several.sd == pytest.approx(correct.mean(axis=0).std(ddof=1))
    # Student's interval over seeds is the part that does not go away with more items.
    assert several.high - several.low > 0.9 * 2 * few(5) * 1.96 * several.sd / math.sqrt(5) * math.sqrt(4 / 5)
    perfect = estimate([judged(np.ones((50, 3)))])
    assert (perfect.mean, perfect.high) == (1, 1)
    assert 0.9 < perfect.low < 0.95


# --------------------------------------------------------------- under the null


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
            values["models"].append(mcnemar(better, worse))
        seeds = simulated(rng, 8, 80).mean(axis=0)
        values["recipes"].append(permuted(seeds[:4], seeds[4:]))
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


def test_models_that_differ_are_told_apart() -> None:
    rng = np.random.default_rng(6)
    good, bad = rng.random(200) < 0.9, rng.random(200) < 0.6
    assert mcnemar(int((good & ~bad).sum()), int((bad & ~good).sum())) < 1e-6
    assert permuted(np.array([0.9, 0.91, 0.92, 0.93, 0.94]), np.array([0.6, 0.61, 0.62, 0.63, 0.64])) == pytest.approx(2 / 252)


# ------------------------------------------------------------------ from folders


def test_accuracies_from_verdicts_are_those_of_the_tables(study: Path) -> None:
    groups = grouped(gather([study]).results)
    for group in groups:
        found = finals(group.results)
        for construction in group.constructions:
            expected = [result.scores[construction].accuracy for result in group.results]
            assert found.of(construction).accuracy.tolist() == pytest.approx(expected)
    result = groups[0].first
    made = moments(result)
    assert made is not None
    assert made[0].of("prep").accuracy.tolist() == pytest.approx([moment.accuracy("prep") for moment in result.moments])
    assert made[1] == [moment.words for moment in result.moments]


def test_two_models_are_compared_on_the_items_that_both_have(study: Path) -> None:
    groups = grouped(gather([study]).results)
    lstm, transformer, hebrew = groups
    found = {each.construction: each for each in models_compared(transformer.first, lstm.first)}
    one, two = (finals([result]).of("prep").correct[:, 0] for result in (transformer.first, lstm.first))
    assert (found["prep"].better, found["prep"].worse) == (int((one > two).sum()), int((one < two).sum()))
    assert found["prep"].difference == pytest.approx(one.mean() - two.mean())
    assert models_compared(hebrew.first, lstm.first) == []  # other items
    assert [each.construction for each in recipes_compared(transformer, lstm)] == transformer.constructions


def test_what_is_easy_is_learnt_sooner(study: Path) -> None:
    group = grouped(gather([study]).results)[1]
    found = {(each.construction, each.level): each for each in learnt(group)}
    easy, hard = found["simple_agrmt", 0.75], found["obj_rel_across", 0.75]
    assert easy.words < hard.words
    assert easy.low <= easy.words <= easy.high
    assert (easy.reached, easy.seeds) == (2, 2)
    assert found["simple_agrmt", 0.9].words >= easy.words


def test_perplexities_are_correlated_only_where_they_compare(study: Path) -> None:
    results = gather([study]).results
    found = [each for each in correlations(results) if each.construction == "mean"]
    assert [(each.language, each.runs) for each in found] == [("de", 5)]  # of three Hebrew runs no order is rare
    assert found[0].rho < -0.5
    assert found[0].corrected >= found[0].p
