"""Kneser–Ney against a slow second implementation from the formulas, and what must hold of any language model."""

import tracemalloc
from collections import Counter, defaultdict
from math import exp, log

import numpy as np
import pytest
from concord.lm.kneser_ney import USUAL_DISCOUNTS, KneserNey
from hypothesis import given, settings
from hypothesis import strategies as st

EOS = 0
sentences = st.lists(st.lists(st.integers(1, 6), max_size=6), min_size=1, max_size=30)


def flat(texts: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    closed = [[*text, EOS] for text in texts]
    return np.array([t for text in closed for t in text], np.uint16), np.cumsum([0, *map(len, closed)])


class Slow:
    """By dictionaries, one probability at a time."""

    def __init__(self, texts: list[list[int]], vocabulary: int, order: int) -> None:
        self.order, self.vocabulary = order, vocabulary
        padded = [[EOS] * (order - 1) + text + [EOS] for text in texts]
        ends = [(text, end) for text in padded for end in range(order - 1, len(text))]
        self.counts = {n: Counter(tuple(text[end - n + 1 : end + 1]) for text, end in ends) for n in range(1, order + 1)}
        self.tables = {}
        for n in range(1, order + 1):
            self.tables[n, "seen"] = self.counts[n]
            if n < order:
                before = defaultdict(set)
                for gram in self.counts[n + 1]:
                    before[gram[1:]].add(gram[0])
                self.tables[n, "continued"] = Counter({gram: len(found) for gram, found in before.items()})

    def discount(self, table: Counter, count: int) -> float:
        n1, n2, n3, n4 = (sum(c == times for c in table.values()) for times in (1, 2, 3, 4))
        usual = USUAL_DISCOUNTS[min(count, 3)]
        if 0 in (n1, n2, n3):
            return usual
        y = n1 / (n1 + 2 * n2)
        found = [0, 1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3]
        sound = all(0 < found[times] <= times for times in (1, 2, 3))
        return found[min(count, 3)] if sound else usual

    def probability(self, context: tuple[int, ...], word: int, kind: str = "seen") -> float:
        n = len(context) + 1
        shorter = 1 / self.vocabulary if n == 1 else self.probability(context[1:], word, "continued")
        table = self.tables[n, kind]
        after = {gram: count for gram, count in table.items() if gram[:-1] == context}
        total = sum(after.values())
        if not total:
            return shorter
        left = sum(self.discount(table, count) for count in after.values()) / total
        count = table[(*context, word)]
        return (count - self.discount(table, count)) / total + left * shorter


@given(sentences, sentences, st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_every_order_equals_the_formulas(train, asked, order):
    slow = Slow(train, 7, order)
    logprobs = np.stack([*KneserNey(*flat(train), 7, order).logprobs(*flat(asked))])
    place = 0
    for text in asked:
        padded = [EOS] * (order - 1) + text + [EOS]
        for end in range(order - 1, len(padded)):
            for n in range(1, order + 1):
                expected = slow.probability(tuple(padded[end - n + 1 : end]), padded[end])
                assert logprobs[n - 1, place] == pytest.approx(log(expected), abs=1e-9)
            place += 1


def random_text(seed: int, count: int = 300) -> list[list[int]]:
    draw = np.random.default_rng(seed)
    return [draw.zipf(1.6, draw.integers(1, 9)).clip(1, 19).tolist() for _ in range(count)]


def test_the_probabilities_of_all_words_after_any_context_add_up_to_one():
    model = KneserNey(*flat(random_text(1)), 20, 4)
    for context in ([], [1], [3, 1], [1, 1, 2], [19, 18, 17, 16]):  # the last was never seen
        ends = [flat([[*context, word]]) if word else flat([context]) for word in range(20)]
        found = [[values[len(context)] for values in model.logprobs(*text)] for text in ends]
        assert np.exp(found).sum(axis=0) == pytest.approx(np.ones(4))


def test_perplexity_is_that_of_all_predicted_tokens():
    model = KneserNey(*flat(random_text(1)), 20, 3)
    logprobs = model.logprobs(*flat(random_text(2, 50)))
    assert model.perplexity(*flat(random_text(2, 50))) == pytest.approx([exp(-row.sum() / len(row)) for row in logprobs])


def test_no_sentence_knows_of_the_one_before():
    model = KneserNey(*flat(random_text(1)), 20, 5)
    alone = [*model.logprobs(*flat([[4, 2]]))]
    after = [values[4:] for values in model.logprobs(*flat([[7, 7, 7], [4, 2]]))]
    assert np.array_equal(after, alone)


def test_no_order_is_kept_while_the_next_is_counted():
    """Bytes per token of the text, at the peak: five orders that are all kept take about 150."""
    draw = np.random.default_rng(1)
    text = draw.zipf(1.3, 210_000).clip(1, 9_999).astype(np.uint16)
    offsets = np.arange(0, len(text) + 1, 21)
    text[offsets[1:] - 1] = EOS
    tracemalloc.start()
    for _ in KneserNey(text, offsets, 10_000).logprobs(text[:210], offsets[:11]):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak / len(text) < 80
