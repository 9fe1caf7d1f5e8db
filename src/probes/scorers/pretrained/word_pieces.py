"""The pieces of sentences, and the word each belongs to, by the characters a piece covers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding
from transformers import PreTrainedTokenizerBase

from .. import ProbeSentence
from .loading import Pretrained
from .pretrained_error import PretrainedError

Spacing = Literal["written", "joined"]
NO_SPACE_BEFORE = (".", ",", ";", ":", "!", "?", ")", "…")
NO_SPACE_AFTER = ("'", "’", "(")
MARK = -1  # the word of a piece that belongs to none: [CLS], [SEP], <s>
AT_ONCE = 4096  # sentences per tokenizer call


@dataclass(frozen=True)
class WordPieces:
    """One sentence as a model reads it, marks included."""

    ids: NDArray[np.int64]  # (T,)
    words: NDArray[np.int64]  # (T,) the number of the word, or MARK
    # (T,) increases where a tokenizer's word begins: `don`, `'`, `t` in `don't`, though our words are `do`, `n't`
    units: NDArray[np.int64]
    unknown: NDArray[np.bool_]  # (number of words,) a piece is the unknown one, or there is none

    def of(self, start: int, end: int) -> NDArray[np.int64]:
        """The positions of these words' pieces."""
        return np.flatnonzero((self.words >= start) & (self.words < end))


class TargetPieces(NamedTuple):
    """The pieces of what is tested in a sentence."""

    number: int  # in its sentence
    known: bool  # all of them are known
    alone: int  # their number when the target stands alone


def text_of(sentence: ProbeSentence, spacing: Spacing) -> tuple[str, list[int]]:
    """What the tokenizer reads, and where each word ends in it. `joined` writes tokens like running text: `sleeps.`"""
    if sentence.text:
        return sentence.written()
    text, ends = "", []
    for word in sentence.words.split(" "):
        glued = spacing == "joined" and (word.startswith(NO_SPACE_BEFORE) or text.endswith(NO_SPACE_AFTER))
        text += word if not text or glued else f" {word}"
        ends.append(len(text))
    return text, ends


def tokenise(
    tokenizer: PreTrainedTokenizerBase, sentences: Sequence[ProbeSentence], spacing: Spacing, marks: bool
) -> list[WordPieces]:
    """The pieces of every sentence; with the marks that the model was trained with, or bare."""
    made: list[WordPieces] = []
    for first in range(0, len(sentences), AT_ONCE):
        texts = [text_of(sentence, spacing) for sentence in sentences[first : first + AT_ONCE]]
        bare = [text for text, _ in texts]
        encodings = tokenizer(bare, add_special_tokens=marks, return_attention_mask=False, verbose=False).encodings
        made += [_pieces(encoding, ends, tokenizer.unk_token_id) for encoding, (_, ends) in zip(encodings, texts, strict=True)]
    return made


def marks_around(tokenizer: PreTrainedTokenizerBase) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the marks it puts before and after a sentence."""
    read = tokenise(tokenizer, [ProbeSentence("a")], "written", marks=True)[0]
    names = tokenizer.convert_ids_to_tokens(read.ids.tolist())
    inside = np.flatnonzero(read.words != MARK)
    first, last = (int(inside[0]), int(inside[-1])) if len(inside) else (len(names), len(names))
    return tuple(names[:first]), tuple(names[last + 1 :])


def unknown_token(tokenizer: PreTrainedTokenizerBase) -> str:
    """What it reads an unknown word as; empty if it can spell every word."""
    return "" if tokenizer.unk_token_id is None else str(tokenizer.unk_token)


def target_pieces(tokenizer: PreTrainedTokenizerBase, sentences: Sequence[ProbeSentence]) -> list[TargetPieces]:
    """The pieces of each sentence's target."""
    made = tokenise(tokenizer, sentences, "written", marks=False)
    columns = zip(made, sentences, pieces_alone(tokenizer, sentences), strict=True)
    return [
        TargetPieces(len(pieces.of(*s.target)), not pieces.unknown[slice(*s.target)].any(), alone) for pieces, s, alone in columns
    ]


def pieces_alone(tokenizer: Any, sentences: Sequence[ProbeSentence]) -> list[int]:
    """How many pieces each sentence's target has on its own: with byte pairs, not those after a space."""
    targets = [" ".join(sentence.words.split(" ")[slice(*sentence.target)]) for sentence in sentences]
    distinct = list(dict.fromkeys(targets))
    read = tokenizer(distinct, add_special_tokens=False, verbose=False)["input_ids"] if distinct else []
    numbers = dict(zip(distinct, map(len, read), strict=True))
    return [numbers[target] for target in targets]


def read_by(pretrained: Pretrained, sentences: Sequence[ProbeSentence], spacing: Spacing, marks: bool) -> list[WordPieces]:
    """The same for a model, which may not be able to read that many."""
    made = tokenise(pretrained.tokenizer, sentences, spacing, marks)
    for pieces, sentence in zip(made, sentences, strict=True):
        if len(pieces.ids) > pretrained.longest:
            message = f"it reads at most {pretrained.longest} pieces; this sentence has {len(pieces.ids)}: {sentence.words[:60]}…"
            raise PretrainedError(pretrained.name, message)
    return made


def _pieces(encoding: Encoding, ends: list[int], unk: int | None) -> WordPieces:
    """Plain loops: for a dozen pieces they are faster than arrays."""
    words, units, seen, bad = [], [], set(), set()
    word = unit = 0
    before: tuple[int, int | None] | None = None
    columns = encoding.ids, encoding.offsets, encoding.special_tokens_mask, encoding.word_ids
    for piece, (start, _), mark, part in zip(*columns, strict=True):
        # A piece may start with the space before its word, or be just that space: it lies past the end of the previous word.
        while not mark and word < len(ends) - 1 and ends[word] <= start:
            word += 1
        owner = MARK if mark else word
        unit += before != (mark, part)
        before = (mark, part)
        words.append(owner)
        units.append(unit)
        seen.add(owner)
        if piece == unk:
            bad.add(owner)
    unknown = [number not in seen or number in bad for number in range(len(ends))]
    return WordPieces(
        np.array(columns[0], np.int64), np.array(words, np.int64), np.array(units, np.int64), np.array(unknown, bool)
    )
