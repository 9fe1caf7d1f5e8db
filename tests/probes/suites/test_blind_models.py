"""Models that know nothing of syntax, on published suites: a constant one and one that knows words alone."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from concord.probes.suites.formula import RegionReference
from concord.probes.suites.margins import judge
from concord.probes.suites.region_sentence import sentence_of
from concord.probes.suites.suite import Suite, counted_formulas
from concord.probes.suites.suite_files import files_of, read

PUBLISHED = Path(__file__).resolve().parents[4] / "shared/reference/syntaxgym"
FILES = files_of([PUBLISHED]) if PUBLISHED.is_dir() else []


def values(suite: Suite, surprisal: Callable[[str], float]) -> dict[RegionReference, np.ndarray]:
    """Region sums of all items, one array per region and condition."""
    found: dict[RegionReference, list[float]] = {}
    for item in suite.items:
        for condition in item.conditions:
            sentence = sentence_of(suite, item, condition, "en")
            for region in sentence.regions:
                words = sentence.words[region.first_word : region.end_word]
                found.setdefault(RegionReference(region.number, condition.name), []).append(sum(map(surprisal, words)))
    return {reference: np.array(sums) for reference, sums in found.items()}


def by_letters(word: str) -> float:
    """A surprisal that depends on the word alone, in eighths so that sums are exact."""
    return hashlib.blake2b(word.encode(), digest_size=1).digest()[0] / 8


@pytest.mark.skipif(not FILES, reason="the published suites are not here")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_model_without_context_is_never_right_and_always_ties(file):
    suite = read(file)
    ((_, formula),) = counted_formulas(suite, "first")
    for surprisal in (lambda word: 1.0, by_letters):
        judged = judge(formula, values(suite, surprisal))
        assert judged.holds.sum() == 0
    if suite.name == "number_prep":  # is < are and are < is: one of the two fails by as much as the other holds
        assert (judged.margin <= 0).all()
    else:
        assert judged.tie.all()


@pytest.mark.skipif(not FILES, reason="the published suites are not here")
def test_the_first_prediction_counts_alone_and_all_count_together():
    suite = read(PUBLISHED / "fgd_hierarchy.json.xz")
    generator = np.random.default_rng(3)
    noise = {RegionReference(n, c): generator.uniform(0, 20, len(suite.items)) for n in suite.regions for c in suite.conditions}
    (first,) = [judge(formula, noise).holds for _, formula in counted_formulas(suite, "first")]
    (both,) = [judge(formula, noise).holds for _, formula in counted_formulas(suite, "all")]
    apart = [judge(formula, noise).holds for _, formula in counted_formulas(suite, "each")]
    assert 0 < first.sum() < len(suite.items)
    assert both.sum() == 0  # the second prediction asks for equality
    assert [each.tolist() for each in apart] == [first.tolist(), [False] * len(suite.items)]
