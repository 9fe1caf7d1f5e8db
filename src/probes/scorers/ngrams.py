"""Unigrams and trigrams of the training corpus: what counting alone can do.

Only the n-grams that the sentences need are counted, in one pass over the corpus. Back-off is that of Brants et al. (2007): the
relative frequency if the n-gram was seen, otherwise 0.4 times that of the shorter one. These are scores, not probabilities; for
comparing two sentences that is enough.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...data.tokenizer import Tokenizer
from ...data.vocabulary import EOS_ID
from . import ProbeSentence, Reading, WordScores

BACK_OFF = math.log(0.4)
CHUNK = 1 << 20
Ids = NDArray[np.int64]


class NgramScorer:
    """Scores words by the counts of up to `order` tokens in a corpus whose sentences are each closed by `<eos>`."""

    def __init__(self, order: int, corpus: NDArray[np.unsignedinteger], tokenizer: Tokenizer) -> None:
        self.name = {1: "unigram", 2: "bigram", 3: "trigram"}[order]
        self.order = order
        self.corpus = corpus
        self.tokenizer = tokenizer
        self.vocabulary = len(tokenizer)

    @property
    def reading(self) -> Reading:
        words, several = self.tokenizer.words, self.tokenizer.begins() is not None
        return Reading((words[EOS_ID],), pieces=several, unknown=words[self.tokenizer.unk])

    def score(self, sentences: Sequence[ProbeSentence]) -> WordScores:
        known: dict[str, Sequence[int]] = {}
        ids, begins, firsts = [], [], [0]
        for sentence in sentences:
            ids.append(EOS_ID)
            for word in sentence.words.split():
                pieces = known[word] if word in known else known.setdefault(word, self.tokenizer.encode_word(word))
                begins.append(len(ids))
                ids.extend(pieces)
            firsts.append(len(begins))
        flat, starts = np.array(ids, np.int64), np.array(begins, np.int64)
        values = self._scored(flat)
        # Each sentence's <eos> stands before its first word; it is part of the word before it in the sum, and is worth nothing.
        values[flat == EOS_ID] = 0.0
        unknown = np.add.reduceat(flat == self.tokenizer.unk, starts, dtype=np.float32) > 0
        return WordScores(np.array(firsts), np.add.reduceat(values, starts, dtype=np.float32), unknown)

    def _scored(self, ids: Ids) -> NDArray[np.float64]:
        """The score of every token after what stands before it, never across the beginning of a sentence."""
        counts = self._counts(ids)
        score = np.log(np.maximum(counts[0], 0.5) / len(self.corpus))
        usable = np.ones(len(ids), bool)
        for order in range(2, self.order + 1):
            usable &= np.roll(ids, order - 2) != EOS_ID  # an n-gram begins with <eos> at the earliest
            longer = np.where(usable, counts[order - 1], 0)
            share = np.maximum(longer, 1) / np.maximum(np.roll(counts[order - 2], 1), 1)
            score = np.where(longer > 0, np.log(share), score + np.where(usable, BACK_OFF, 0.0))
        return score

    def _counts(self, ids: Ids) -> list[Ids]:
        """For each order, how often the last so many tokens at every place stand together in the corpus; one pass over it."""
        wanted = [np.unique(_keys(ids, n, self.vocabulary), return_inverse=True) for n in range(1, self.order + 1)]
        found = [np.zeros(len(keys), np.int64) for keys, _ in wanted]
        overlap = self.order - 1
        for start in range(0, len(self.corpus), CHUNK):
            reach = self.corpus[max(start - overlap, 0) : start + CHUNK].astype(np.int64)
            # The corpus begins after an <eos>, as every sentence does.
            reach = np.concatenate([np.zeros(overlap, np.int64), reach]) if start == 0 else reach
            for n, (keys, _) in enumerate(wanted):
                there = _keys(reach, n + 1, self.vocabulary)[overlap:]
                places = np.minimum(np.searchsorted(keys, there), len(keys) - 1)
                found[n] += np.bincount(places[keys[places] == there], minlength=len(keys))
        return [counts[which] for counts, (_, which) in zip(found, wanted, strict=True)]


def _keys(ids: Ids, order: int, vocabulary: int) -> Ids:
    """One number for the last `order` tokens at every place."""
    keys = np.zeros(len(ids), np.int64)
    for back in range(order - 1, -1, -1):
        keys = keys * vocabulary + np.roll(ids, back)
    return keys
