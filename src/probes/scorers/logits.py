"""Any torch module from ids to logits as a scorer: (B, T) → (B, T, V), where position t predicts the next one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ...errors import UserError
from . import ProbeSentence, Reading, WordScores
from .questions import Questions
from .scoring_mode import scoring_mode

TOKENS = 1024  # read at a time
LOGITS = 2**24  # numbers at a time: 64 MiB
ALIKE = 1e-3  # nats; more than that is not batch noise


class ReadSentence(Protocol):
    """One sentence as a model reads it."""

    @property
    def ids(self) -> NDArray[np.int64]: ...  # (T,)
    @property
    def words(self) -> NDArray[np.int64]: ...  # (T,) the number of the word that each piece belongs to
    @property
    def unknown(self) -> NDArray[np.bool_]: ...  # (number of words,)


PieceReader = Callable[[Sequence[ProbeSentence]], Sequence[ReadSentence]]


@dataclass(frozen=True)
class WordIds:
    ids: NDArray[np.int64]
    words: NDArray[np.int64]
    unknown: NDArray[np.bool_]


class WordEncoder(Protocol):
    """What a tokenizer must provide here: the ids of a word, and the id of the unknown word."""

    unk: int

    def encode_word(self, word: str) -> list[int]: ...


def read_words(tokenizer: WordEncoder) -> PieceReader:
    """By a word vocabulary, or by any tokenizer that encodes word by word."""

    def read(sentences: Sequence[ProbeSentence]) -> list[WordIds]:
        made = []
        for sentence in sentences:
            pieces = [tokenizer.encode_word(word) for word in sentence.words.split()]
            owners = [number for number, each in enumerate(pieces) for _ in each]
            unknown = [tokenizer.unk in each for each in pieces]
            ids = [max(piece, 0) for each in pieces for piece in each]  # without an <unk> any id will do: the word is uncovered
            made.append(WordIds(np.array(ids, np.int64), np.array(owners, np.int64), np.array(unknown, bool)))
        return made

    return read


@dataclass(frozen=True)
class AskedSentences:
    """What the module has to compute for some sentences."""

    questions: Questions
    asked: NDArray[np.int64]  # the question number of each scored piece
    words: NDArray[np.int64]  # and its word, counted across all sentences
    firsts: NDArray[np.int64]  # (S + 1,)
    unknown: NDArray[np.bool_]


def left_to_right(start: str, unknown: str, pieces: bool) -> Reading:
    """What such a module does with a sentence; `start` names what precedes it, or is empty."""
    opening = (start,) if start else ()
    return Reading(opening, scores="words" if start else "all but the first piece", pieces=pieces, unknown=unknown)


class LogitsScorer:
    """`start` is the id before the first word; None: nothing precedes it, and the first piece is given, not scored."""

    pad = 0  # pads on the right, which a left-to-right model does not see

    def __init__(self, name: str, module: nn.Module, read: PieceReader, start: int | None, reading: Reading) -> None:
        self.name, self.module, self.read, self.start, self.reading = name, module, read, start, reading
        self.tried = False

    def score(self, sentences: Sequence[ProbeSentence]) -> WordScores:
        prepared = self.prepare(sentences)
        return self.scores(prepared, self.logprobs(prepared))

    def prepare(self, sentences: Sequence[ProbeSentence]) -> AskedSentences:
        made = self.read(sentences)
        firsts = np.cumsum([0, *(len(pieces.unknown) for pieces in made)])
        questions = Questions()
        asked, words = list[int](), list[int]()
        before = [] if self.start is None else [self.start]
        for pieces, first in zip(made, firsts.tolist(), strict=False):
            sequence = np.array([*before, *pieces.ids.tolist()], np.int64)
            for place in range(len(sequence) - 1):
                asked.append(questions.ask(sequence[:-1], place, int(sequence[place + 1])))
                words.append(first + int(pieces.words[place + 1 - len(before)]))
        unknown = np.concatenate([np.zeros(0, bool), *(pieces.unknown for pieces in made)])
        return AskedSentences(questions, np.array(asked, np.int64), np.array(words, np.int64), firsts, unknown)

    def logprobs(self, prepared: AskedSentences, rank: int = 0, world: int = 1) -> NDArray[np.float32]:
        with scoring_mode(self.module):
            if not self.tried and prepared.questions.inputs:
                self._must_read_forward(max(prepared.questions.inputs, key=len))
                self.tried = True
            return prepared.questions.answers(self, TOKENS, rank=rank, world=world)

    def scores(self, prepared: AskedSentences, logprobs: NDArray[np.float32]) -> WordScores:
        summed = np.zeros(prepared.firsts[-1])
        np.add.at(summed, prepared.words, logprobs[prepared.asked])
        return WordScores(prepared.firsts, summed.astype(np.float32), prepared.unknown)

    def __call__(self, inputs: Mapping[str, Tensor], places: Tensor, asked: Tensor, pieces: Tensor) -> NDArray[np.float32]:
        logits = self._logits(inputs["input_ids"]).flatten(0, 1)  # (B·T, V)
        places, asked, pieces = (tensor.to(logits.device) for tensor in (places, asked, pieces))
        found = torch.empty(len(asked), dtype=torch.float32, device=logits.device)
        size = max(1, LOGITS // logits.shape[-1])
        for first in range(0, len(places), size):
            here = (asked >= first) & (asked < first + size)
            some = logits[places[first : first + size]].float().log_softmax(-1)
            found[here] = some[asked[here] - first, pieces[here]]
        return found.cpu().numpy()

    def _logits(self, ids: Tensor) -> Tensor:
        device = next((each.device for each in self.module.parameters()), torch.device("cpu"))
        found: object = self.module(ids.to(device))
        if isinstance(found, tuple | list):
            found = found[0]
        elif not isinstance(found, Tensor):
            found = found["logits"] if isinstance(found, Mapping) else getattr(found, "logits", found)
        if not isinstance(found, Tensor) or found.dim() != 3 or found.shape[:2] != ids.shape:
            given = f"a tensor of shape {tuple(found.shape)}" if isinstance(found, Tensor) else f"a {type(found).__name__}"
            raise UserError(
                f"{self.name}: for ids of shape {tuple(ids.shape)} the module returns {given}; it must return logits (B, T, V)"
            )
        return found

    def _must_read_forward(self, ids: NDArray[np.int64]) -> None:
        """A module that looks ahead would be asked to predict what it has seen."""
        whole = torch.from_numpy(ids)[None]
        if whole.shape[1] < 3:
            return
        ahead, alone = (self._logits(some)[0, 0].float().log_softmax(-1) for some in (whole, whole[:, :1]))
        if not torch.allclose(ahead, alone, rtol=0, atol=ALIKE):
            raise UserError(
                f"{self.name}: what the module predicts at the first position depends on what follows it; it must read "
                "from left to right (for a masked transformers model, pass the model itself and its tokenizer)"
            )
