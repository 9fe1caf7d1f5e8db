"""causal: each piece given what precedes it, as the model was trained.

What precedes the first word is an explicit choice (`start`): the tokenizer's bos or eos, a token by name, or nothing. With
nothing, the first piece is given and not scored. The end is never scored.

Sentences of a challenge set share beginnings, so their pieces form a tree. It is read as one long input in which a piece sees
only its ancestors and its position is its depth; each distinct beginning is computed once. Models that cannot be read this way
(they ignore such a mask, or count positions themselves) are detected by a comparison at the start and read sentence by sentence.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase

from .. import ProbeSentence, Reading, WordScores
from ..questions import Advance, Questions, no_progress
from .forward import ALIKE, Forward
from .loading import Pretrained
from .options import Options
from .pretrained_error import PretrainedError
from .scores import WordMarks, first_words, mark_words, word_scores
from .scoring_progress import shown
from .word_pieces import WordPieces, read_by, unknown_token

log = logging.getLogger(__name__)
Sequences = Sequence[tuple[int, ...]]
TRIED = 6  # sentences on which the two methods are compared


class Tree:
    """Sentence beginnings that are continued (nodes), and their continuations (edges). Sequences come in sorted order."""

    def __init__(self) -> None:
        self.pieces: list[int] = []  # each node's last piece
        self.parents: list[int] = []
        self.depths: list[int] = []
        self.edges: list[tuple[int, int]] = []  # a node and the piece that follows it
        self.paths: list[list[int]] = []  # for each sequence, the edges of its pieces from the second on
        self._last: tuple[int, ...] = ()
        self._nodes: list[int] = []  # the last sequence, by depth

    def grow(self, sequence: tuple[int, ...]) -> None:
        shared = _shared(sequence, self._last)
        path = self.paths[-1][: max(shared - 1, 0)] if self.paths else []
        del self._nodes[shared:]
        for depth in range(len(self._nodes), len(sequence) - 1):
            self._nodes.append(self._node(sequence[depth], self._nodes[-1] if depth else -1, depth))
        for depth in range(len(path) + 1, len(sequence)):
            path.append(len(self.edges))
            self.edges.append((self._nodes[depth - 1], sequence[depth]))
        self.paths.append(path)
        self._last = sequence

    def _node(self, piece: int, parent: int, depth: int) -> int:
        self.pieces.append(piece)
        self.parents.append(parent)
        self.depths.append(depth)
        return len(self.pieces) - 1

    def inputs(self) -> dict[str, torch.Tensor]:
        """The nodes as one input (1, N), with a mask (1, 1, N, N) that shows each one its ancestors and itself."""
        seen = np.eye(len(self.pieces), dtype=bool)
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                seen[node] |= seen[parent]
        mask = torch.where(torch.from_numpy(seen), 0.0, torch.finfo(torch.float32).min)
        return {
            "input_ids": torch.tensor([self.pieces]),
            "attention_mask": mask[None, None],
            "position_ids": torch.tensor([self.depths]),
        }


def _shared(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """The length of the common beginning."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


@dataclass(frozen=True)
class ReadSentences:
    """Sentences as sequences of pieces; equal ones are read once, sorted, so that shared beginnings are adjacent."""

    made: Sequence[WordPieces]
    sequences: Sequences
    distinct: Sequences
    firsts: dict[tuple[int, ...], int]  # where a sequence's log-probabilities begin; it has one fewer than pieces
    count: int  # of all log-probabilities
    marks: WordMarks


class Causal:
    """A causal model."""

    def __init__(self, pretrained: Pretrained, options: Options) -> None:
        self.pretrained, self.options = pretrained, options
        self.start = start_of(pretrained, options.start)
        self.name = f"causal({options.start})" + ("+joined" if options.spacing == "joined" else "")
        self.forward = Forward(pretrained)
        self.shares: bool | None = None  # not known yet
        self.compared = 0  # nodes of the tree that was compared

    @property
    def reading(self) -> Reading:
        tokenizer = self.pretrained.tokenizer
        scores: Literal["words", "all but the first piece"] = "words" if self.start else "all but the first piece"
        opening = tuple(tokenizer.convert_ids_to_tokens(list(self.start)))
        return Reading(opening, scores=scores, pieces=True, unknown=unknown_token(tokenizer))

    def score(self, sentences: Sequence[ProbeSentence]) -> WordScores:
        prepared = self.prepare(sentences)
        with shown(self.name, len(sentences)) as advance:
            return self.scores(prepared, self.logprobs(prepared, advance=advance))

    def prepare(self, sentences: Sequence[ProbeSentence]) -> ReadSentences:
        made = read_by(self.pretrained, sentences, self.options.spacing, marks=False)
        sequences = [(*self.start, *pieces.ids.tolist()) for pieces in made]
        distinct = sorted(set(sequences))
        ends = np.cumsum([0, *(max(len(sequence) - 1, 0) for sequence in distinct)]).tolist()
        firsts = dict(zip(distinct, ends, strict=False))
        return ReadSentences(made, sequences, distinct, firsts, ends[-1], mark_words(made, sentences, []))

    def logprobs(
        self, prepared: ReadSentences, rank: int = 0, world: int = 1, advance: Advance = no_progress
    ) -> NDArray[np.float32]:
        """For each distinct sequence in turn, the log-probabilities of its pieces from the second on."""
        sequences = prepared.distinct
        read = self._by_tree if sequences and self._can_share(sequences) else self._one_by_one
        return np.concatenate([np.zeros(0, np.float32), *read(sequences, advance, rank, world)])

    def scores(self, prepared: ReadSentences, logprobs: NDArray[np.float32]) -> WordScores:
        words: list[int] = []
        found = [np.zeros(0, np.float32)]
        given = 1 - len(self.start)  # without a start the first piece is not scored
        for sequence, pieces, word in zip(prepared.sequences, prepared.made, first_words(prepared.made), strict=True):
            words += (word + pieces.words[given:]).tolist()
            first = prepared.firsts[sequence]
            found.append(logprobs[first : first + max(len(sequence) - 1, 0)])
        return word_scores(prepared.made, words, np.concatenate(found), prepared.marks)

    def _can_share(self, sequences: Sequences) -> bool:
        """Whether trees can be read, found out on one that is as large as they get: some models look back a number of places,
        or have no more than a number of them.
        """
        tree, count = Tree(), 0
        while count < len(sequences) and len(tree.pieces) < self.options.tokens:
            tree.grow(sequences[count])
            count += 1
        if self.shares is None or (self.shares and len(tree.pieces) > self.compared):
            self.shares, self.compared = self._try(sequences[:count]), len(tree.pieces)
        return self.shares

    def _try(self, sequences: Sequences) -> bool:
        """Whether one tree of these gives the same results as some of them read alone."""
        some = sorted({i * (len(sequences) - 1) // (TRIED - 1) for i in range(TRIED)})
        alone = self._one_by_one([sequences[i] for i in some])
        try:
            read = self._by_tree(sequences)
            together = [read[i] for i in some]
        except (TypeError, ValueError, RuntimeError, IndexError, AttributeError):
            together = []
        alike = len(together) == len(alone) and all(
            np.allclose(a, b, rtol=0, atol=ALIKE) for a, b in zip(alone, together, strict=True)
        )
        if not alike:
            log.info("%s cannot read a tree of sentences; each is read separately", self.pretrained.name)
        return alike

    def _by_tree(
        self, sequences: Sequences, advance: Advance = no_progress, rank: int = 0, world: int = 1
    ) -> list[NDArray[np.float32]]:
        """With several processes, each reads every `world`-th tree."""
        found: list[NDArray[np.float32]] = []
        tree, count = Tree(), 0
        for number, sequence in enumerate(sequences):
            tree.grow(sequence)
            if len(tree.pieces) >= self.options.tokens or number == len(sequences) - 1:
                found += self._read(tree) if count % world == rank else [np.zeros(len(path), np.float32) for path in tree.paths]
                advance(len(tree.paths) / len(sequences))
                tree, count = Tree(), count + 1
        return found

    def _read(self, tree: Tree) -> list[NDArray[np.float32]]:
        if not tree.edges:
            return [np.zeros(0, np.float32) for _ in tree.paths]
        nodes, pieces = (torch.tensor(column) for column in zip(*tree.edges, strict=True))
        answers = self.forward(tree.inputs(), torch.arange(len(tree.pieces)), nodes, pieces)
        return [answers[path] for path in tree.paths]

    def _one_by_one(
        self, sequences: Sequences, advance: Advance = no_progress, rank: int = 0, world: int = 1
    ) -> list[NDArray[np.float32]]:
        """Each read separately, though several at a time."""
        questions = Questions()
        asked = []
        for sequence in sequences:
            ids = np.array(sequence[:-1], np.int64)
            asked.append([questions.ask(ids, place, piece) for place, piece in enumerate(sequence[1:])])
        answers = questions.answers(self.forward, self.options.tokens, advance, rank, world)
        return [answers[numbers] for numbers in asked]


def start_of(pretrained: Pretrained, start: str) -> tuple[int, ...]:
    """The piece before the first word, if any."""
    return start_pieces(pretrained.name, pretrained.tokenizer, start)


def start_pieces(name: str, tokenizer: PreTrainedTokenizerBase, start: str) -> tuple[int, ...]:
    if start == "none":
        return ()
    if start in ("bos", "eos"):
        number = tokenizer.bos_token_id if start == "bos" else tokenizer.eos_token_id
        if number is None:
            raise PretrainedError(name, f"its tokenizer has no {start} token; set model.start= to bos, eos, none or a token")
        return (int(number),)
    vocabulary = tokenizer.get_vocab()
    if start not in vocabulary:
        raise PretrainedError(name, f"model.start={start}: not a token in its vocabulary; use bos, eos, none or a token")
    return (int(vocabulary[start]),)
