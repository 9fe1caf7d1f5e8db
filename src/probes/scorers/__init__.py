"""Scorers: sentences in, log-probability of each word out. Nothing behind this page knows what kind of model it was.

A scorer is a class with
    name                          for tables and result files
    reading                       → `Reading`: how it reads a sentence, for the statement of the contract
    score(sentences)              → `WordScores`, float32, in nats
It hides tokenisation: where a word is several pieces, the word's log-probability is the sum of theirs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ...errors import UserError

# Of what the scorers compute, part of the name of every score that is kept: raise it when one of them changes.
# 2: left_to_right hides the closing mark; pll_word_l2r and pll_whole_word go by the tokenizer's words.
VERSION = 2


class DamagedModel(UserError):
    """These very weights are to blame; others of the same model may do."""


class ProbeSentence(NamedTuple):
    """What is scored. `text` is how the source writes it (`sleeps.`), where that is not words and spaces (`sleeps .`)."""

    words: str  # separated by single spaces
    target: tuple[int, int] = (0, 0)  # the words that are tested, for scorers that mask them; from … up to …
    text: str = ""
    item: int = -1  # sentences with the same number are variants of one minimal set, for rules that compare them


@dataclass(frozen=True)
class WordScores:
    """Word w of sentence s is at `firsts[s] + w`. A scorer that scores the target alone gives every other word 0."""

    firsts: NDArray[np.int64]  # (S + 1,)
    logprobs: NDArray[np.float32]  # (W,)
    unknown: NDArray[np.bool_]  # (W,) the model has no such word
    pieces: NDArray[np.int32] | None = None  # (W,) how many pieces the model reads a word as; None where nobody knows
    # (W,) no span may begin here or end before it: it is scored together with the word before; a first word: not at all.
    inseparable: NDArray[np.bool_] | None = None
    left_out: NDArray[np.bool_] | None = None  # (W,) of those that are unknown, the ones that have no score at all

    def require_finite(self, nan_too: bool = True) -> None:
        """Whoever uses scores asks for it first. Without `nan_too`, what is not a number is let pass, and minus infinity."""
        wrong = ~np.isfinite(self.logprobs) if nan_too else self.logprobs == np.inf
        if bad := int(wrong.sum()):
            raise DamagedModel(
                f"{bad:,} of {len(self.logprobs):,} scores are not finite numbers; the weights of the model are damaged, "
                "or its training has diverged"
            )

    def __getitem__(self, sentence: int) -> NDArray[np.float32]:
        """The words of one sentence."""
        return self.logprobs[self.firsts[sentence] : self.firsts[sentence + 1]]


@dataclass(frozen=True)
class Reading:
    """What a scorer does with a sentence, so that the statement of the contract can say it. Tokens are given by their names."""

    opening: tuple[str, ...] = ()  # what it puts before the first word
    closing: tuple[str, ...] = ()  # and after the last
    state: Literal["", "zero", "warm"] = ""  # that a recurrent network begins with
    # What a piece is scored by: what is left of it; all but what is hidden with it; the whole sentence, itself included.
    sees: Literal["left", "unhidden", "everything", "unstated"] = "left"
    hides: Literal["", "target", "piece", "rest of word", "word", "rest", "rest but closing"] = ""
    scores: Literal["words", "all but the first piece", "target", "words and marks"] = "words"
    mean: bool = False  # over all pieces that are scored, instead of their sum
    pieces: bool = False  # a word may be several
    unknown: str = "<unk>"  # what a word is read as that the model does not know; empty: nothing is read in its place
    left_out: tuple[Literal["multi_piece", "unequal", "missing"], ...] = ()  # targets, or sentences, that get no score
    source: str = ""  # where the scores come from, if not from a model that read the sentences here


class Scorer(Protocol):
    name: str

    @property
    def reading(self) -> Reading: ...

    def score(self, sentences: Sequence[ProbeSentence]) -> WordScores: ...


@runtime_checkable
class SharedScorer(Scorer, Protocol):
    """A scorer that is asked the same again and again, by several processes together: `score` in three steps."""

    def prepare(self, sentences: Sequence[ProbeSentence]) -> Any:
        """All that does not depend on weights: done once."""

    def logprobs(self, prepared: Any, rank: int = 0, world: int = 1) -> NDArray[np.float32]:
        """What the model is asked: the share of one of several processes, with 0 for what the others find out.

        The shares add up to what one process finds, bit for bit: what is computed together does not depend on their number.
        """

    def scores(self, prepared: Any, logprobs: NDArray[np.float32]) -> WordScores:
        """Those of words."""
