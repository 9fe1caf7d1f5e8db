"""The pieces of sentences, and which word each belongs to, by the characters that a piece stands for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .. import Sentence
from .errors import PretrainedError
from .loading import Pretrained

Spacing = Literal["written", "joined"]
NO_SPACE_BEFORE = (".", ",", ";", ":", "!", "?", ")", "…")
NO_SPACE_AFTER = ("'", "’", "(")
MARK = -1  # the word of a piece that belongs to none: [CLS], [SEP], <s>
AT_ONCE = 4096  # sentences in one call of the tokenizer


@dataclass(frozen=True)
class Pieces:
    """One sentence as a model reads it, its marks included."""

    ids: NDArray[np.int64]  # (T,)
    words: NDArray[np.int64]  # (T,) the number of the word, or MARK
    units: NDArray[
        np.int64
    ]  # (T,) rises where a word, or what the tokenizer takes for one, begins: `sleeps` and `.` in `sleeps.`
    unknown: NDArray[np.bool_]  # (number of words,) a piece is the unknown one, or there is no piece at all

    def of(self, start: int, end: int) -> NDArray[np.int64]:
        """The places of the pieces of these words."""
        return np.flatnonzero((self.words >= start) & (self.words < end))


def text_of(sentence: Sentence, spacing: Spacing) -> tuple[str, list[int]]:
    """What the tokenizer reads, and where in it each word ends. `joined` writes tokens as running text does: `sleeps.`"""
    text, ends = "", []
    for word in sentence.words.split(" "):
        apart = sentence.raw or spacing == "written"
        glued = not apart and (word.startswith(NO_SPACE_BEFORE) or text.endswith(NO_SPACE_AFTER))
        text += word if not text or glued else f" {word}"
        ends.append(len(text))
    return text, ends


def tokenised(tokenizer: Any, sentences: Sequence[Sentence], spacing: Spacing, marks: bool) -> list[Pieces]:
    """The pieces of every sentence; with the marks that the model was trained with, or bare."""
    made: list[Pieces] = []
    for first in range(0, len(sentences), AT_ONCE):
        texts = [text_of(sentence, spacing) for sentence in sentences[first : first + AT_ONCE]]
        bare = [text for text, _ in texts]
        encodings = tokenizer(bare, add_special_tokens=marks, return_attention_mask=False, verbose=False).encodings
        made += [_pieces(encoding, ends, tokenizer.unk_token_id) for encoding, (_, ends) in zip(encodings, texts, strict=True)]
    return made


def target_pieces(tokenizer: Any, sentences: Sequence[Sentence]) -> list[tuple[int, bool]]:
    """Of each sentence the number of pieces of its target, where it stands, and whether all of them are known."""
    made = tokenised(tokenizer, sentences, "written", marks=False)
    both = zip(made, sentences, strict=True)
    return [(len(pieces.of(*s.target)), not pieces.unknown[slice(*s.target)].any()) for pieces, s in both]


def read_by(pretrained: Pretrained, sentences: Sequence[Sentence], spacing: Spacing, marks: bool) -> list[Pieces]:
    """The same for a model, which may be unable to read as many."""
    made = tokenised(pretrained.tokenizer, sentences, spacing, marks)
    for pieces, sentence in zip(made, sentences, strict=True):
        if len(pieces.ids) > pretrained.longest:
            message = f"it reads at most {pretrained.longest} pieces; this sentence has {len(pieces.ids)}: {sentence.words[:60]}…"
            raise PretrainedError(pretrained.name, message)
    return made


def _pieces(encoding: Any, ends: list[int], unk: int | None) -> Pieces:
    ids = np.array(encoding.ids, np.int64)
    starts = np.array([start for start, _ in encoding.offsets], np.int64).reshape(-1)
    marks = np.array(encoding.special_tokens_mask, bool)
    # A piece may begin with the space before its word, or be that space alone: it is past the end of the word before.
    words = np.minimum(np.searchsorted(ends, starts, side="right"), len(ends) - 1)
    words[marks] = MARK
    parts = np.array([MARK if part is None else part for part in encoding.word_ids], np.int64)
    units = np.cumsum((np.diff(words, prepend=MARK) != 0) | (np.diff(parts, prepend=MARK) != 0))
    known = np.zeros(len(ends), bool)
    known[words[words >= 0]] = True
    if unk is not None:
        known[words[(ids == unk) & (words >= 0)]] = False
    return Pieces(ids, words, units, ~known)
