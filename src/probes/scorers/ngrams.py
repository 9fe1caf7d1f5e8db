"""N-grams of the training corpus as scorers: what counting alone achieves, over the model's own tokens, summed to words."""

from array import array
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ...data.vocabulary import EOS_ID, Tokenizer
from ...lm.kneser_ney import KneserNey
from . import ProbeSentence, Reading, WordScores

NGRAMS = {1: "unigram", 2: "bigram", 3: "trigram", 4: "4-gram", 5: "5-gram"}


class NgramScorer:
    """Scores words by the n-gram model of one order."""

    def __init__(self, order: int, counted: KneserNey, tokenizer: Tokenizer) -> None:
        self.name = NGRAMS[order]
        self.counted = counted
        self.tokenizer = tokenizer

    @property
    def reading(self) -> Reading:
        words, several = self.tokenizer.words, self.tokenizer.begins() is not None
        return Reading((words[EOS_ID],), pieces=several, unknown=words[self.tokenizer.unk])

    def score(self, sentences: Sequence[ProbeSentence]) -> WordScores:
        return score_by_ngrams(self.counted, self.tokenizer, sentences)[self.name]


def score_by_ngrams(counted: KneserNey, tokenizer: Tokenizer, sentences: Iterable[ProbeSentence]) -> Mapping[str, WordScores]:
    """By the n-gram models of every order at once."""
    known: dict[str, Sequence[int]] = {}
    # Packed: as Python's numbers, those of a million words take a hundred megabytes.
    ids, begins, offsets, firsts = array("q"), array("q"), array("q", [0]), array("q", [0])
    for sentence in sentences:
        for word in sentence.words.split():
            pieces = known[word] if word in known else known.setdefault(word, tokenizer.encode_word(word))
            begins.append(len(ids))
            ids.extend(pieces)
        offsets.append(len(ids))
        firsts.append(len(begins))
    flat, starts, ends, words = (np.frombuffer(each, np.int64) for each in (ids, begins, offsets, firsts))
    unknown = np.add.reduceat(flat == tokenizer.unk, starts, dtype=np.int64) > 0
    return {
        NGRAMS[order]: WordScores(words, np.add.reduceat(values, starts).astype(np.float32), unknown)
        for order, values in enumerate(counted.logprobs(flat, ends), start=1)
    }
