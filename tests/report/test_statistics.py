"""Our statistics against slow ones that count, and from folders of runs."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from concord.report.acquisition import kendall_tau, measure_acquisition, words_until
from concord.report.comparison import compare_conditions, compare_models, mcnemar_p, permutation_p
from concord.report.conditions import group_by_condition
from concord.report.correlation import correlations, spearman
from concord.report.gathering import gather_results
from concord.report.intervals import resample_items
from concord.report.judgements import final_judgements, judgements_over_time
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from scipy.stats import spearmanr
from simulated_verdicts import judged, simulated

# ------------------------------------------------------------------- by counting


def test_the_permutation_test_tries_every_arrangement() -> None:
    rng = np.random.default_rng(0)
    one, two = rng.random(5), rng.random(4) + 0.2
    pooled, gap = np.concatenate([one, two]), abs(one.mean() - two.mean())
    found = 0
    arrangements = list(itertools.combinations(range(9), 5))
    for chosen in arrangements:
        rest = [i for i in range(9) if i not in chosen]
        found += abs(pooled[list(chosen)].mean() - pooled[rest].mean()) >= gap - 1e-9
    assert permutation_p(one, two) == pytest.approx(found / len(arrangements))
    assert permutation_p(np.array([0.9, 0.91]), np.array([0.1, 0.2])) == pytest.approx(1 / 3)
    # Equal differences stay equal, in whatever order they are summed up.
    assert permutation_p(np.array([0.3, 0.1, 0.2]), np.array([0.2, 0.3, 0.1])) == 1
    assert permutation_p(np.array([0.3, 0.1, 0.2]), np.array([0.7, 0.7])) == pytest.approx(1 / 10)


def test_spearman_is_that_of_scipy_and_its_p_that_of_all_orders() -> None:
    rng = np.random.default_rng(1)
    one, two = rng.random(6), rng.random(6)
    rho, p = spearman(one, two)
    assert rho == pytest.approx(spearmanr(one, two).statistic)
    every = [abs(spearmanr(one[list(order)], two).statistic) for order in itertools.permutations(range(6))]
    assert p == pytest.approx(np.mean([value >= abs(rho) - 1e-9 for value in every]))
    tied = np.array([0.5, 0.5, 0.9, 1.0, 1.0, 1.0])  # the orders of these lie not evenly about 0
    rho, p = spearman(one, tied)
    every = [abs(spearmanr(one[list(order)], tied).statistic) for order in itertools.permutations(range(6))]
    assert p == pytest.approx(np.mean([value >= abs(rho) - 1e-9 for value in every]))


@given(arrays.arrays(float, (2, 7), elements=st.integers(0, 4).map(float)))
def test_kendalls_tau_counts_pairs(values: NDArray[np.float64]) -> None:
    one, two = values
    signs = [(np.sign(a - b), np.sign(c - d)) for (a, c), (b, d) in itertools.combinations(zip(one, two, strict=True), 2)]
    untied = [sum(s[side] != 0 for s in signs) for side in (0, 1)]
    found = kendall_tau(one.tolist(), two.tolist())[0]
    if min(untied):
        assert found == pytest.approx(sum(a * b for a, b in signs) / math.sqrt(untied[0] * untied[1]))
    else:
        assert math.isnan(found)


def test_what_is_never_learnt_comes_last_in_the_order() -> None:
    assert kendall_tau([1, 2, math.inf, math.inf], [10, 20, 30, math.inf])[0] == pytest.approx(
        kendall_tau([1, 2, 3, 3], [1, 2, 3, 4])[0]
    )
    assert math.isnan(kendall_tau([math.inf] * 4, [1, 2, 3, 4])[0])


@given(arrays.arrays(float, 6, elements=st.integers(0, 20).map(lambda v: v / 20)))
def test_words_to_a_level_agree_with_a_walk_along_the_curve(curve: NDArray[np.float64]) -> None:
    words = [0, 10, 30, 40, 80, 100]
    found = float(words_until(0.75, words, curve))
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
    ours = resample_items(judged(correct), 4000, np.random.default_rng(3))
    naive = [correct[rng.integers(0, 60, 60)].mean() for _ in range(4000)]
    assert ours.mean() == pytest.approx(np.mean(naive), abs=0.004)
    assert ours.std() == pytest.approx(np.std(naive), rel=0.06)


def test_models_that_differ_are_told_apart() -> None:
    rng = np.random.default_rng(6)
    good, bad = rng.random(200) < 0.9, rng.random(200) < 0.6
    assert mcnemar_p(int((good & ~bad).sum()), int((bad & ~good).sum())) < 1e-6
    assert permutation_p(np.array([0.9, 0.91, 0.92, 0.93, 0.94]), np.array([0.6, 0.61, 0.62, 0.63, 0.64])) == pytest.approx(
        2 / 252
    )


# ------------------------------------------------------------------ from folders


def test_accuracies_from_verdicts_are_those_of_the_tables(study: Path) -> None:
    conditions = group_by_condition(gather_results([study]).results)
    for condition in conditions:
        found = final_judgements(condition.results)
        for construction in condition.constructions:
            expected = [result.scores[construction].accuracy for result in condition.results]
            assert found.of(construction).accuracy.tolist() == pytest.approx(expected)
    result = conditions[0].first
    made = judgements_over_time(result)
    assert made is not None
    assert made[0].of("prep").accuracy.tolist() == pytest.approx([moment.accuracy("prep") for moment in result.moments])
    assert made[1] == [moment.words for moment in result.moments]


def test_two_models_are_compared_on_the_items_that_both_have(study: Path) -> None:
    conditions = group_by_condition(gather_results([study]).results)
    lstm, transformer, hebrew = conditions
    found = {each.construction: each for each in compare_models(transformer.first, lstm.first)}
    one, two = (final_judgements([result]).of("prep").correct[:, 0] for result in (transformer.first, lstm.first))
    assert (found["prep"].better, found["prep"].worse) == (int((one > two).sum()), int((one < two).sum()))
    assert found["prep"].gain == pytest.approx(one.mean() - two.mean())
    assert compare_models(hebrew.first, lstm.first) == []  # other items
    assert {each.construction for each in compare_conditions(transformer, lstm)} == set(transformer.constructions)


def test_what_is_easy_is_learnt_sooner(study: Path) -> None:
    condition = group_by_condition(gather_results([study]).results)[1]
    found = {(each.construction, each.level): each for each in measure_acquisition(condition)}
    easy, hard = found["simple_agrmt", 0.75], found["obj_rel_across", 0.75]
    assert easy.words < hard.words
    assert easy.low <= easy.words <= easy.high
    assert (easy.reached, easy.seeds) == (2, 2)
    assert found["simple_agrmt", 0.9].words >= easy.words


def test_perplexities_are_correlated_only_where_they_compare(study: Path) -> None:
    results = gather_results([study]).results
    found = [each for each in correlations(results) if each.construction == "mean"]
    assert [(each.language, each.runs) for each in found] == [("de", 5)]  # of three Hebrew runs no order is rare
    assert found[0].rho < -0.5
    assert found[0].corrected >= found[0].p
