"""Scorers for masked models. Each is a rule: which pieces are hidden while one is scored.

masked_target     Goldberg 2019: all pieces of the target, revealed from left to right. Other words score 0.
pll               Salazar et al. 2020: the piece itself.
pll_word_l2r      Kauf and Ivanova 2023: the piece and what is right of it in its word, by the tokenizer's words.
pll_whole_word    the same: all pieces of its word.
left_to_right     Wang and Cho 2019: the piece and everything right of it, the closing mark ([SEP]) too.
left_to_right_end_kept   the same, but the closing mark stays and so reveals where the sentence ends.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import ProbeSentence, Reading, WordScores
from ..questions import Questions
from .loading import Pretrained
from .options import Options
from .scores import AskedPieces, PieceScorer, first_words, mark_words, multi_piece, unequal, without_target, word_scores
from .word_pieces import MARK, WordPieces, marks_around, read_by, unknown_token

# Maps a sentence's pieces, its target and the scored position to the hidden positions.
Rule = Callable[[WordPieces, tuple[int, int], int], NDArray[np.bool_]]


def _target(pieces: WordPieces, target: tuple[int, int], place: int) -> NDArray[np.bool_]:
    return (pieces.words >= target[0]) & (pieces.words < target[1]) & _from(pieces, place)


def _piece(pieces: WordPieces, target: tuple[int, int], place: int) -> NDArray[np.bool_]:
    return np.arange(len(pieces.ids)) == place


def _rest_of_word(pieces: WordPieces, target: tuple[int, int], place: int) -> NDArray[np.bool_]:
    return (pieces.units == pieces.units[place]) & _from(pieces, place)


def _word(pieces: WordPieces, target: tuple[int, int], place: int) -> NDArray[np.bool_]:
    return pieces.units == pieces.units[place]


def _rest(pieces: WordPieces, target: tuple[int, int], place: int) -> NDArray[np.bool_]:
    return _from(pieces, place)


def _rest_but_end(pieces: WordPieces, target: tuple[int, int], place: int) -> NDArray[np.bool_]:
    return _from(pieces, place) & (pieces.words != MARK)


def _from(pieces: WordPieces, place: int) -> NDArray[np.bool_]:
    return np.arange(len(pieces.ids)) >= place


class Masking(NamedTuple):
    """A rule, and its name in the contract statement."""

    hides: Literal["target", "piece", "rest of word", "word", "rest", "rest but closing"]
    hidden: Rule


RULES = {
    "masked_target": Masking("target", _target),
    "pll": Masking("piece", _piece),
    "pll_word_l2r": Masking("rest of word", _rest_of_word),
    "pll_whole_word": Masking("word", _word),
    "left_to_right": Masking("rest", _rest),
    "left_to_right_end_kept": Masking("rest but closing", _rest_but_end),
}


class Masked(PieceScorer):
    """A masked model with one of the rules."""

    def __init__(self, scoring: str, pretrained: Pretrained, options: Options) -> None:
        self.rule, self.only_target = RULES[scoring], scoring == "masked_target"
        super().__init__(pretrained, options)
        self.skips = options.skip_multi_piece and self.only_target
        self.equal = options.equal_pieces and self.only_target
        rules = {without_target: self.only_target, multi_piece: self.skips, unequal(pretrained.tokenizer): self.equal}
        self.drops = [rule for rule, given in rules.items() if given]
        marks = {"+skip_multi_piece": self.skips, "+equal_pieces": self.equal, "+joined": options.spacing == "joined"}
        self.name = scoring + "".join(mark for mark, given in marks.items() if given)

    @property
    def reading(self) -> Reading:
        tokenizer = self.pretrained.tokenizer
        scores: Literal["words", "target"] = "target" if self.only_target else "words"
        left_out: list[Literal["multi_piece", "unequal"]] = ["multi_piece"] if self.skips else []
        left_out += ["unequal"] if self.equal else []
        about = Reading(*marks_around(tokenizer), sees="unhidden", hides=self.rule.hides, scores=scores, pieces=True)
        return replace(about, unknown=unknown_token(tokenizer), left_out=tuple(left_out))

    def prepare(self, sentences: Sequence[ProbeSentence]) -> AskedPieces:
        made = read_by(self.pretrained, sentences, self.options.spacing, marks=True)
        questions = Questions()
        words: list[int] = []
        asked: list[int] = []
        for pieces, sentence, first in zip(made, sentences, first_words(made), strict=True):
            for place in self._places(pieces, sentence):
                ids = np.where(
                    self.rule.hidden(pieces, sentence.target, place), self.pretrained.tokenizer.mask_token_id, pieces.ids
                )
                asked.append(questions.ask(ids, place, int(pieces.ids[place])))
                words.append(first + int(pieces.words[place]))
        return AskedPieces(made, questions, words, asked, mark_words(made, sentences, self.drops))

    def scores(self, prepared: AskedPieces, logprobs: NDArray[np.float32]) -> WordScores:
        return word_scores(prepared.made, prepared.words, logprobs[prepared.asked], prepared.marks)

    def _places(self, pieces: WordPieces, sentence: ProbeSentence) -> list[int]:
        """What is scored; not a target that a rule leaves out."""
        if not self.only_target:
            return np.flatnonzero(pieces.words != MARK).tolist()
        places = pieces.of(*sentence.target).tolist()
        return [] if self.skips and len(places) != 1 else places
