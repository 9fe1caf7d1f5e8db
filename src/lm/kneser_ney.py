"""N-gram language models with interpolated modified Kneser–Ney smoothing (Chen & Goodman 1999), all orders at once, exact.

Every sentence is read alone, after as many `<eos>` as the longest context has tokens; its words and its closing `<eos>` are
predicted, as in the perplexity of our networks. At a model's highest order an n-gram counts how often it was seen, below that
in how many contexts; what the discounts take away goes to the next shorter context, and finally to all words of the vocabulary
equally.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..data.vocabulary import EOS_ID
from ..machine import give_memory_back

Ids = NDArray[np.int64]
Numbers = NDArray[np.signedinteger]  # of n-grams, in 32 bits where these are enough
Floats = NDArray[np.float64]
# If a corpus is too small to estimate them: KenLM's fallback.
USUAL_DISCOUNTS = (0.0, 0.5, 1.0, 1.5)


class KneserNey:
    """N-gram models of orders 1 to `order` over a corpus whose sentences are each closed by `<eos>`.

    The corpus is counted whenever something is asked, one order after the other, and no counts are kept: of three million tokens
    they would take half a gigabyte. So ask everything at once.
    """

    def __init__(self, ids: NDArray[np.integer], offsets: NDArray[np.integer], vocabulary: int, order: int = 5) -> None:
        self.ids, self.offsets, self.vocabulary, self.order = ids, offsets, vocabulary, order

    def logprobs(self, ids: NDArray[np.integer], offsets: NDArray[np.integer]) -> Iterator[Floats]:
        """Every token of these sentences, in nats, by the models of orders 1, 2, …; each (T,).

        An n-gram is a token and an n-gram one shorter, and so is its context; both are numbered in the order of their keys.
        """
        gram = context = np.zeros(len(self.ids), np.int32)  # at every place of the corpus
        asked_gram = asked_context = np.zeros(len(ids), np.int64)  # at every place asked about; −1 if never seen
        grams = contexts = 1  # how many there are
        context_of = np.zeros(1, np.int32)  # by n-gram
        shorter = np.full(len(ids), 1 / self.vocabulary)  # by the lower orders of a longer model
        for n in range(self.order):
            give_memory_back()  # or what the last order took would be added to what this one takes
            first, asked_first = _tokens_before(self.ids, self.offsets, n), _tokens_before(ids, offsets, n)
            keys, gram = _number(first * np.int64(grams) + gram)
            if n > 0:
                in_contexts = np.bincount(keys % grams, minlength=grams)  # of the n-grams that are one shorter
                shorter = _interpolate(in_contexts, context_of, asked_gram, asked_context, shorter)
            asked_gram = _look_up(keys, asked_first, asked_gram, grams)
            grams = len(keys)
            if n > 0:  # the context of a single word is empty
                keys, context = _number(first * np.int64(contexts) + context)
                asked_context = _look_up(keys, asked_first, asked_context, contexts)
                contexts = len(keys)
            context_of = np.empty(grams, context.dtype)
            context_of[gram] = context
            yield np.log(_interpolate(np.bincount(gram), context_of, asked_gram, asked_context, shorter))

    def perplexity(self, ids: NDArray[np.integer], offsets: NDArray[np.integer]) -> list[float]:
        """exp(total negative log-likelihood / predicted tokens) by the models of orders 1, 2, …"""
        return [float(np.exp(-values.mean())) for values in self.logprobs(ids, offsets)]


def _tokens_before(ids: NDArray[np.integer], offsets: NDArray[np.integer], back: int) -> NDArray[np.integer]:
    """For every predicted token the one so many places before it, itself if 0; `<eos>` before a sentence."""
    found = np.roll(ids, back)
    starts, lengths = offsets[:-1], np.diff(offsets)
    for place in range(back):
        found[starts[lengths > place] + place] = EOS_ID
    return found


def _number(keys: Ids) -> tuple[Ids, Numbers]:
    """The distinct keys in order, and the number of the key at every place: `np.unique` in half of its memory."""
    by_key = np.argsort(keys)
    keys = keys[by_key]
    new = np.empty(len(keys), np.bool_)
    new[:1], new[1:] = True, keys[1:] != keys[:-1]
    keys = keys[new]
    number: Numbers = np.empty(len(new), np.int32 if len(new) < 2**31 else np.int64)
    number[by_key] = np.cumsum(new, dtype=number.dtype) - 1
    return keys, number


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


def _interpolate(counts: Ids, context_of: Numbers, gram: Ids, context: Ids, shorter: Floats) -> Floats:
    """The probability of each n-gram asked about, given that of the n-gram one shorter.

    `counts` and `context_of`: of all n-grams of this length; `gram` and `context`: of those asked about.
    """
    discounts = np.array(_discounts(counts))
    total = np.bincount(context_of, weights=counts)[context]
    taken = np.bincount(context_of, weights=discounts[np.minimum(counts, 3)])[context]
    own = np.where(gram >= 0, counts[gram], 0)
    return np.where(context >= 0, (own - discounts[np.minimum(own, 3)]) / total + taken / total * shorter, shorter)
