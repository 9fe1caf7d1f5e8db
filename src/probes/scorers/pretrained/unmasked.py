"""sentence_ce (Zaczynska et al. 2020): the mean cross-entropy of a sentence that the masked model sees in full.

The mean is over all pieces, including the marks at both ends. Here every piece adds its log-probability, divided by the number
of pieces, to its word, and the marks to the first and last word; so the sum over the words is minus the published value.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .. import ProbeSentence, Reading, WordScores
from ..questions import Questions
from .loading import Pretrained
from .options import Options
from .scores import AskedPieces, PieceScorer, first_words, mark_words, unequal, word_scores
from .word_pieces import MARK, marks_around, read_by, unknown_token


class Unmasked(PieceScorer):
    """A masked model that sees what it scores."""

    def __init__(self, pretrained: Pretrained, options: Options) -> None:
        super().__init__(pretrained, options)
        marks = {"+equal_pieces": options.equal_pieces, "+joined": options.spacing == "joined"}
        self.name = "sentence_ce" + "".join(mark for mark, given in marks.items() if given)

    @property
    def reading(self) -> Reading:
        tokenizer = self.pretrained.tokenizer
        about = Reading(*marks_around(tokenizer), sees="everything", scores="words and marks", mean=True, pieces=True)
        return replace(about, unknown=unknown_token(tokenizer), left_out=("unequal",) if self.options.equal_pieces else ())

    def prepare(self, sentences: Sequence[ProbeSentence]) -> AskedPieces:
        made = read_by(self.pretrained, sentences, self.options.spacing, marks=True)
        questions = Questions()
        words: list[int] = []
        asked: list[int] = []
        for pieces, first in zip(made, first_words(made), strict=True):
            owners = _owners(pieces.words)
            for place, piece in enumerate(pieces.ids.tolist()):
                asked.append(questions.ask(pieces.ids, place, piece))
                words.append(first + owners[place])
        drops = [unequal(self.pretrained.tokenizer)] if self.options.equal_pieces else []
        return AskedPieces(made, questions, words, asked, mark_words(made, sentences, drops))

    def scores(self, prepared: AskedPieces, logprobs: NDArray[np.float32]) -> WordScores:
        """The mean over all pieces of a sentence: each contributes its share."""
        shares = np.concatenate([np.zeros(0, np.float32), *(np.full(n, 1 / n, np.float32) for n in _lengths(prepared))])
        return word_scores(prepared.made, prepared.words, logprobs[prepared.asked] * shares, prepared.marks)


def _lengths(prepared: AskedPieces) -> list[int]:
    return [len(pieces.ids) for pieces in prepared.made]


def _owners(words: np.ndarray) -> list[int]:
    """The word of each piece; marks belong to the preceding word, opening ones to the first."""
    owners, last = [], 0
    for word in words.tolist():
        last = last if word == MARK else word
        owners.append(last)
    return owners
