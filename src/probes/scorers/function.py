"""Any function as a scorer: sentences in, the log-probability of each of their words out."""

from collections.abc import Callable, Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from ...errors import UserError
from . import ProbeSentence, Reading, WordScores
from .scoring_mode import unchanged_randomness

# For each sentence (words separated by spaces) one number per word, in nats.
WordScoring = Callable[[list[str]], Sequence[Sequence[float]]]


class FunctionScorer:
    """`vocabulary`: the words that the model behind the function knows; None for all."""

    def __init__(self, name: str, function: WordScoring, vocabulary: Collection[str] | None = None) -> None:
        self.name = name
        self.function = function
        self.vocabulary = vocabulary

    @property
    def reading(self) -> Reading:
        """How the function reads a sentence is its own business."""
        return Reading(sees="unstated", unknown="", source=f"the function {self.name}")

    def score(self, sentences: Sequence[ProbeSentence]) -> WordScores:
        texts = self.prepare(sentences)
        return self.scores(texts, self.logprobs(texts))

    def prepare(self, sentences: Sequence[ProbeSentence]) -> list[str]:
        return [sentence.words for sentence in sentences]

    def logprobs(self, prepared: list[str], rank: int = 0, world: int = 1) -> NDArray[np.float32]:
        """With several processes, each takes consecutive sentences, which often share beginnings."""
        shares = np.array_split(np.arange(len(prepared)), world)
        own = shares[rank].tolist()
        before, after = (
            sum(len(prepared[i].split()) for share in some for i in share) for some in (shares[:rank], shares[rank + 1 :])
        )
        with unchanged_randomness():
            asked = self._ask([prepared[number] for number in own])
        return np.concatenate([np.zeros(before, np.float32), asked, np.zeros(after, np.float32)])

    def _ask(self, texts: list[str]) -> NDArray[np.float32]:
        found = [np.asarray(each, np.float32).reshape(-1) for each in self.function(texts)] if texts else []
        if len(found) != len(texts):
            raise UserError(f"{self.name}: {len(texts):,} sentences were requested, {len(found):,} were scored")
        for text, got in zip(texts, found, strict=True):
            if (expected := len(text.split())) != len(got):
                raise UserError(f"{self.name}: {expected} words, but {len(got)} log-probabilities: {text[:60]!r}")
        logprobs = np.concatenate([np.zeros(0, np.float32), *found])
        if (logprobs > 0).any():
            raise UserError(f"{self.name}: {logprobs.max():g} is not a log-probability; it must not be above 0")
        return logprobs

    def scores(self, prepared: list[str], logprobs: NDArray[np.float32]) -> WordScores:
        words = [text.split() for text in prepared]
        known = self.vocabulary
        unknown = np.array([known is not None and word not in known for sentence in words for word in sentence], bool)
        return WordScores(np.cumsum([0, *map(len, words)]), logprobs, unknown)
