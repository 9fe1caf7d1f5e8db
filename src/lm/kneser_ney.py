"""N-gram language models with interpolated modified Kneser–Ney smoothing (Chen & Goodman 1999), all orders at once, exact.

Every sentence is read alone, after as many `<eos>` as the longest context has tokens; its words and its closing `<eos>` are
predicted, as in the perplexity of our networks. At a model's highest order an n-gram counts how often it was seen, below that
in how many contexts; what the discounts take away goes to the next shorter context, and finally to all words of the vocabulary
equally.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..data.vocabulary import EOS_ID

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]
# If a corpus is too small to estimate them: KenLM's fallback.
USUAL_DISCOUNTS = (0.0, 0.5, 1.0, 1.5)


@dataclass(frozen=True)
class _Weights:
    """For the n-grams of one order: counts and discounts, and for each context their total and what is left for shorter ones."""

    counts: NDArray[np.int32]  # by n-gram
    discounts: Floats  # for n-grams seen never, once, twice, and more often
    total: Floats  # by context
    left: Floats  # by context: the share that goes to the next shorter context


@dataclass(frozen=True)
class _Order:
    """All n-grams of one length. A key is the first token and the index of the rest among the n-grams one shorter."""

    grams: Ids  # sorted keys
    contexts: Ids  # sorted keys of what precedes the last token
    seen: _Weights  # at the highest order of a model
    continued: _Weights | None = None  # below it; the longest n-grams have nothing above them


class KneserNey:
    """N-gram models of orders 1 to `order` over a corpus whose sentences are each closed by `<eos>`."""

    def __init__(self, ids: NDArray[np.integer], offsets: NDArray[np.integer], vocabulary: int, order: int = 5) -> None:
        self.vocabulary = vocabulary
        self._orders = _count([*_tokens_before(ids, offsets, order)])

    def logprobs(self, ids: NDArray[np.integer], offsets: NDArray[np.integer]) -> Floats:
        """(order, T): every token of these sentences, in nats, by the models of orders 1, 2, …"""
        shorter = np.full(len(ids), 1 / self.vocabulary)  # by the lower orders of a longer model
        found = np.empty((len(self._orders), len(ids)))
        gram, context = np.zeros(len(ids), np.int64), np.zeros(len(ids), np.int64)  # indices among the shorter ones
        grams, contexts = 1, 1
        for n, (counted, first) in enumerate(zip(self._orders, _tokens_before(ids, offsets, len(self._orders)), strict=True)):
            gram = _look_up(counted.grams, first, gram, grams)
            if n > 0:  # the context of a single word is empty
                context = _look_up(counted.contexts, first, context, contexts)
            found[n] = np.log(_interpolate(counted.seen, gram, context, shorter))
            if counted.continued is not None:
                shorter = _interpolate(counted.continued, gram, context, shorter)
            grams, contexts = len(counted.grams), len(counted.contexts)
        return found

    def perplexity(self, ids: NDArray[np.integer], offsets: NDArray[np.integer]) -> list[float]:
        """exp(total negative log-likelihood / predicted tokens) by the models of orders 1, 2, …"""
        return np.exp(-self.logprobs(ids, offsets).mean(axis=1)).tolist()


def _tokens_before(ids: NDArray[np.integer], offsets: NDArray[np.integer], order: int) -> Iterator[NDArray[np.integer]]:
    """For every predicted token the token itself, then the one before it, and so on; `<eos>` before a sentence."""
    inside = np.arange(len(ids)) - np.repeat(offsets[:-1], np.diff(offsets))  # a token's position in its sentence
    for back in range(order):
        yield np.where(inside >= back, np.roll(ids, back), np.asarray(EOS_ID, ids.dtype))


def _count(tokens: list[NDArray[np.integer]]) -> list[_Order]:
    """From short to long: an n-gram is a token and an n-gram one shorter, and so is its context."""
    found: list[_Order] = []
    gram, context = np.zeros(len(tokens[0]), np.int64), np.zeros(len(tokens[0]), np.int64)  # by their numbers, at every place
    grams, contexts = np.zeros(1, np.int64), np.zeros(1, np.int64)
    context_of = np.zeros(1, np.int32)  # by n-gram
    for n, first in enumerate(tokens):
        shorter = len(grams)
        grams, places, gram, counts = np.unique(
            first * np.int64(shorter) + gram, return_index=True, return_inverse=True, return_counts=True
        )
        if n > 0:
            in_contexts = np.bincount(grams % shorter, minlength=shorter)  # of the n-grams that are one shorter
            found[-1] = replace(found[-1], continued=_weigh(in_contexts, context_of, len(contexts)))
            contexts, context = np.unique(first * np.int64(len(contexts)) + context, return_inverse=True)
        context_of = context[places].astype(np.int32)
        found.append(_Order(grams, contexts, _weigh(counts, context_of, len(contexts))))
    return found


def _weigh(counts: Ids, context_of: NDArray[np.int32], contexts: int) -> _Weights:
    discounts = np.array(_discounts(counts))
    total = np.bincount(context_of, weights=counts, minlength=contexts).astype(np.float64)
    taken = np.bincount(context_of, weights=discounts[np.minimum(counts, 3)], minlength=contexts)
    return _Weights(counts.astype(np.int32), discounts, total, taken / total)


def _discounts(counts: Ids) -> tuple[float, float, float, float]:
    """For n-grams seen never, once, twice, and more often."""
    n1, n2, n3, n4 = (int((counts == times).sum()) for times in (1, 2, 3, 4))
    if not (n1 and n2 and n3):
        return USUAL_DISCOUNTS
    y = n1 / (n1 + 2 * n2)
    found = (0.0, 1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3)
    return found if all(0 < value <= times for times, value in enumerate(found[1:], start=1)) else USUAL_DISCOUNTS


def _look_up(keys: Ids, first: NDArray[np.integer], rest: Ids, size: int) -> Ids:
    """The indices of n-grams among the sorted keys; −1 for those never seen."""
    wanted = first * np.int64(size) + rest
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where((rest >= 0) & (keys[places] == wanted), places, -1)


def _interpolate(weights: _Weights, gram: Ids, context: Ids, shorter: Floats) -> Floats:
    counts = np.where(gram >= 0, weights.counts[gram], 0)
    own = (counts - weights.discounts[np.minimum(counts, 3)]) / weights.total[context]
    return np.where(context >= 0, own + weights.left[context] * shorter, shorter)
