"""Scorers: sentences in, log-probability of each word out. Nothing downstream knows what kind of model it was.

A scorer is a class with
    name                          for tables and result files
    reading                       → `Reading`: how it reads a sentence, for the statement of the contract
    score(sentences)              → `WordScores`, float32, in nats
It hides tokenisation: if a word has several pieces, its log-probability is the sum of theirs.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ...errors import UserError

# Version of what scorers compute, part of every cached score's name: raise it when one of them changes.
# 2: left_to_right hides the closing mark; pll_word_l2r and pll_whole_word use the tokenizer's words.
# 3: a causal model that looks back a number of places is not read in trees larger than that.
VERSION = 3


class DamagedModel(UserError):
    """These particular weights are to blame; others of the same model may work."""


class ProbeSentence(NamedTuple):
    """What is scored. `text` is the source's spelling (`sleeps.`), if it differs from words and spaces (`sleeps .`)."""

    words: str  # separated by single spaces
    target: tuple[int, int] = (0, 0)  # the tested words, for scorers that mask them; from … up to …
    text: str = ""
    item: int = -1  # sentences with the same number are variants of one minimal set, for rules that compare them

    def written(self) -> tuple[str, list[int]]:
        """Its text, and where each word ends in it: the words are all the non-whitespace, in order, whatever separates them."""
        text = unicodedata.normalize("NFC", self.text)
        place, ends = 0, []
        for word in self.words.split(" "):
            while place < len(text) and text[place].isspace():
                place += 1
            place += len(word)
            ends.append(place)
        return text, ends

    def up_to(self, end: int) -> "ProbeSentence":
        """Without the words from `end` on."""
        text, ends = self.written()
        return self._replace(words=" ".join(self.words.split(" ")[:end]), text=text[: ends[end - 1]] if end else "")


@dataclass(frozen=True)
class WordScores:
    """Word w of sentence s is at `firsts[s] + w`. A scorer that scores only the target gives every other word 0."""

    firsts: NDArray[np.int64]  # (S + 1,)
    logprobs: NDArray[np.float32]  # (W,)
    unknown: NDArray[np.bool_]  # (W,) the model does not have this word
    pieces: NDArray[np.int32] | None = None  # (W,) how many pieces the model reads a word as; None if unknown
    # (W,) no span may begin here or end before it: scored together with the previous word; for a first word: not at all.
    inseparable: NDArray[np.bool_] | None = None
    left_out: NDArray[np.bool_] | None = None  # (W,) of the unknown words, those without any score

    def require_finite(self, nan_too: bool = True) -> None:
        """Call this before using scores. Without `nan_too`, NaN and minus infinity are let through."""
        wrong = ~np.isfinite(self.logprobs) if nan_too else self.logprobs == np.inf
        if bad := int(wrong.sum()):
            raise DamagedModel(
                f"{bad:,} of {len(self.logprobs):,} scores are not finite; the model's weights are damaged, "
                "or its training diverged"
            )

    def __getitem__(self, sentence: int) -> NDArray[np.float32]:
        """The words of one sentence."""
        return self.logprobs[self.firsts[sentence] : self.firsts[sentence + 1]]

    def part(self, first: int, last: int) -> "WordScores":
        """Those of some sentences, from … up to …"""
        firsts = self.firsts[first : last + 1]
        words = slice(firsts[0], firsts[-1])
        return WordScores(
            firsts - firsts[0],
            self.logprobs[words],
            self.unknown[words],
            None if self.pieces is None else self.pieces[words],
            None if self.inseparable is None else self.inseparable[words],
            None if self.left_out is None else self.left_out[words],
        )


@dataclass(frozen=True)
class Reading:
    """What a scorer does with a sentence, for the contract statement. Tokens are given by name."""

    opening: tuple[str, ...] = ()  # what it puts before the first word
    closing: tuple[str, ...] = ()  # and after the last
    # Where one of our models starts: from zeros if recurrent, from nothing if it keeps all it has read, or after some sentences.
    state: Literal["", "zero", "none yet", "warm"] = ""
    # What a piece is conditioned on: what is left of it; all but what is hidden with it; the whole sentence, itself included.
    sees: Literal["left", "unhidden", "everything", "unstated"] = "left"
    hides: Literal["", "target", "piece", "rest of word", "word", "rest", "rest but closing"] = ""
    scores: Literal["words", "all but the first piece", "target", "words and marks"] = "words"
    mean: bool = False  # over all scored pieces, instead of their sum
    pieces: bool = False  # a word may be several
    unknown: str = "<unk>"  # what an unknown word is read as; empty: nothing is read in its place
    left_out: tuple[Literal["multi_piece", "unequal", "missing"], ...] = ()  # targets, or sentences, that get no score
    source: str = ""  # where the scores come from, if no model read the sentences here


class Scorer(Protocol):
    name: str

    @property
    def reading(self) -> Reading: ...

    def score(self, sentences: Sequence[ProbeSentence]) -> WordScores: ...


@runtime_checkable
class SharedScorer(Scorer, Protocol):
    """A scorer for repeated, distributed scoring of the same sentences: `score` in three steps."""

    def prepare(self, sentences: Sequence[ProbeSentence]) -> Any:
        """Everything that does not depend on weights: done once."""

    def logprobs(self, prepared: Any, rank: int = 0, world: int = 1) -> NDArray[np.float32]:
        """The model's work: the share of one of several processes, with 0 for what the others compute.

        The shares add up to the single-process result, bit for bit: what is computed together does not depend on their number.
        """

    def scores(self, prepared: Any, logprobs: NDArray[np.float32]) -> WordScores:
        """Word scores."""
