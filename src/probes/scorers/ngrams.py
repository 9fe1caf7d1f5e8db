"""Unigrams and trigrams of the training corpus: what counting alone can do.

Only the n-grams that the sentences need are counted, in one pass over the corpus. Back-off is that of Brants et al. (2007): the
relative frequency if the n-gram was seen, otherwise 0.4 times that of the shorter one. These are scores, not probabilities; for
comparing two sentences that is enough.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...data.ngrams import Ids, count_ngrams
from ...data.tokenizer import Tokenizer
from ...data.vocabulary import EOS_ID
from . import ProbeSentence, Reading, WordScores

BACK_OFF = math.log(0.4)


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
        counts = count_ngrams(ids, self.order, self.corpus, self.vocabulary)
        score = np.log(np.maximum(counts[0], 0.5) / len(self.corpus))
        usable = np.ones(len(ids), bool)
        for order in range(2, self.order + 1):
            usable &= np.roll(ids, order - 2) != EOS_ID  # an n-gram begins with <eos> at the earliest
            longer = np.where(usable, counts[order - 1], 0)
            share = np.maximum(longer, 1) / np.maximum(np.roll(counts[order - 2], 1), 1)
            score = np.where(longer > 0, np.log(share), score + np.where(usable, BACK_OFF, 0.0))
        return score
