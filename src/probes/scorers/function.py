"""Any function as a scorer: sentences in, the log-probability of each of their words out."""

from collections.abc import Callable, Collection, Sequence

import numpy as np

from ...errors import UserError
from . import ProbeSentence, Reading, WordScores

# Of each sentence (words separated by spaces) a number for each word, in nats.
WordScoring = Callable[[list[str]], Sequence[Sequence[float]]]


class FunctionScorer:
    """`vocabulary`: the words that the model behind the function knows; None for all."""

    def __init__(self, name: str, function: WordScoring, vocabulary: Collection[str] | None = None) -> None:
        self.name = name
        self.function = function
        self.vocabulary = vocabulary

    @property
    def reading(self) -> Reading:
        """How the function reads a sentence is its own affair."""
        return Reading(sees="untold", unknown="", source=f"the function {self.name}")

    def score(self, sentences: Sequence[ProbeSentence]) -> WordScores:
        texts = [sentence.words for sentence in sentences]
        words = [text.split() for text in texts]
        found = [np.asarray(each, np.float32).reshape(-1) for each in self.function(texts)]
        if len(found) != len(texts):
            raise UserError(f"{self.name}: {len(texts):,} sentences were asked, {len(found):,} were scored")
        for text, expected, got in zip(texts, words, found, strict=True):
            if len(expected) != len(got):
                raise UserError(f"{self.name}: {len(expected)} words, but {len(got)} log-probabilities: {text[:60]!r}")
        firsts = np.cumsum([0, *map(len, words)])
        logprobs = np.concatenate(found) if found else np.zeros(0, np.float32)
        if (logprobs > 0).any():
            raise UserError(f"{self.name}: {logprobs.max():g} is not the logarithm of a probability; it must not be above 0")
        known = self.vocabulary
        unknown = np.array([known is not None and word not in known for sentence in words for word in sentence], bool)
        return WordScores(firsts, logprobs, unknown)
