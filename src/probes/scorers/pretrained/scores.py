"""From a model's answers to word scores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import ProbeSentence, WordScores
from ..questions import Advance, Questions, no_progress
from .forward import Forward
from .loading import Pretrained
from .options import Options
from .scoring_progress import shown
from .word_pieces import WordPieces, pieces_alone

Marks = NDArray[np.bool_]  # (number of words,)


@dataclass(frozen=True)
class AskedPieces:
    """Sentences in pieces, and the questions a masked model is asked about them, each about one piece of a word."""

    made: Sequence[WordPieces]
    questions: Questions
    words: Sequence[int]  # the word of each scored piece, counted across all sentences
    asked: Sequence[int]  # and the number of its question
    marks: "WordMarks"


class PieceScorer:
    """A masked model queried about pieces; `prepare` says which, and `scores` what becomes of the answers."""

    name: str

    def __init__(self, pretrained: Pretrained, options: Options) -> None:
        self.pretrained, self.options = pretrained, options
        self.forward = Forward(pretrained)

    def score(self, sentences: Sequence[ProbeSentence]) -> WordScores:
        prepared = self.prepare(sentences)
        with shown(self.name, len(sentences)) as advance:
            return self.scores(prepared, self.logprobs(prepared, advance=advance))

    def prepare(self, sentences: Sequence[ProbeSentence]) -> AskedPieces:
        raise NotImplementedError

    def logprobs(
        self, prepared: AskedPieces, rank: int = 0, world: int = 1, advance: Advance = no_progress
    ) -> NDArray[np.float32]:
        return prepared.questions.answers(self.forward, self.options.tokens, advance, rank, world)

    def scores(self, prepared: AskedPieces, logprobs: NDArray[np.float32]) -> WordScores:
        raise NotImplementedError


def word_scores(
    made: Sequence[WordPieces], words: Sequence[int], logprobs: NDArray[np.float32], marks: "WordMarks"
) -> WordScores:
    """Sum pieces into words: `words` and `logprobs` correspond; `words` are counted across all sentences."""
    firsts = np.concatenate([[0], np.cumsum([len(pieces.unknown) for pieces in made])]).astype(np.int64)
    summed = np.zeros(firsts[-1])
    np.add.at(summed, np.asarray(words, np.int64), logprobs)
    sizes = [np.bincount(pieces.words[pieces.words >= 0], minlength=len(pieces.unknown)) for pieces in made]
    counted = np.concatenate([np.zeros(0, np.int64), *sizes]).astype(np.int32)
    unknown, left_out = (np.concatenate([np.zeros(0, bool), *each]) for each in (marks.unknown, marks.left_out))
    return WordScores(firsts, summed.astype(np.float32), unknown, counted, left_out=left_out)


def first_words(made: Sequence[WordPieces]) -> list[int]:
    """The number of each sentence's first word, counted across all sentences."""
    return [0, *np.cumsum([len(pieces.unknown) for pieces in made]).tolist()][:-1]


# Maps pieces and sentences to the words that a rule leaves out of each.
Drop = Callable[[Sequence[WordPieces], Sequence[ProbeSentence]], list[Marks]]


@dataclass(frozen=True)
class WordMarks:
    """For every sentence: the words that are unknown or left out, and those of them without any score."""

    unknown: list[Marks]
    left_out: list[Marks]


def mark_words(made: Sequence[WordPieces], sentences: Sequence[ProbeSentence], rules: Sequence[Drop]) -> WordMarks:
    """Words for which the model has no pieces, and words that a rule leaves out."""
    empty = [np.bincount(pieces.words[pieces.words >= 0], minlength=len(pieces.unknown)) == 0 for pieces in made]
    columns = [empty, *(rule(made, sentences) for rule in rules)]
    left_out = [np.logical_or.reduce(marks) for marks in zip(*columns, strict=True)]
    return WordMarks([pieces.unknown | marks for pieces, marks in zip(made, left_out, strict=True)], left_out)


def without_target(made: Sequence[WordPieces], sentences: Sequence[ProbeSentence]) -> list[Marks]:
    """If there is nothing to mask, no word can be compared."""
    both = zip(made, sentences, strict=True)
    return [np.full(len(pieces.unknown), sentence.target[0] == sentence.target[1]) for pieces, sentence in both]


def multi_piece(made: Sequence[WordPieces], sentences: Sequence[ProbeSentence]) -> list[Marks]:
    """Goldberg's rule: a target that is not a single piece is not scored."""
    both = zip(made, sentences, strict=True)
    return [_target(pieces, sentence, len(pieces.of(*sentence.target)) != 1) for pieces, sentence in both]


def unequal(tokenizer: Any) -> Drop:
    """Zaczynska et al.'s rule: if an item's targets, read alone, differ in number of pieces, none is scored."""

    def drop(made: Sequence[WordPieces], sentences: Sequence[ProbeSentence]) -> list[Marks]:
        counts: dict[int, set[int]] = {}
        for number, sentence in zip(pieces_alone(tokenizer, sentences), sentences, strict=True):
            if sentence.item < 0:
                raise ValueError("equal_pieces compares the variants of an item: `Sentence.item` must say which belong together")
            counts.setdefault(sentence.item, set()).add(number)
        both = zip(made, sentences, strict=True)
        return [_target(pieces, sentence, len(counts[sentence.item]) > 1) for pieces, sentence in both]

    return drop


def _target(pieces: WordPieces, sentence: ProbeSentence, marked: bool) -> Marks:
    marks = np.zeros(len(pieces.unknown), bool)
    marks[slice(*sentence.target)] = marked
    return marks
