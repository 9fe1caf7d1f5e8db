"""Pieces of words, by sentencepiece: a unigram or BPE model of the training split's words."""

import base64
import hashlib
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from itertools import pairwise

import sentencepiece

from ..errors import UserError
from ..files import JsonObject
from .vocabulary import EOS, EOS_ID, UNK, UNK_ID, Counts

START = "▁"  # begins the first piece of every word
KINDS = ("unigram", "bpe")
# Besides the learnt pieces: <eos>, <unk>, and the 256 bytes that any other character is written in.
FIXED = 2 + 256
MEMORY = 1 << 17  # words whose pieces are cached
# The number of most frequent words that the pieces are learnt from.
LEARNT_FROM = 1_000_000


class Pieces:
    """Every word is split on its own, so that it has the same pieces in a corpus and in a challenge set."""

    def __init__(self, model: bytes) -> None:
        self.model = model
        self.processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        self.words: list[str] = self.processor.id_to_piece(list(range(len(self.processor))))
        if self.words[:2] != [EOS, UNK]:
            raise ValueError(f"pieces begin with {EOS} and {UNK}; these begin with {self.words[:2]}")
        self.eos, self.unk = EOS_ID, UNK_ID
        self.known: dict[str, list[int]] = {}

    @classmethod
    def from_plain(cls, plain: JsonObject) -> "Pieces":
        return cls(base64.b64decode(plain["model"]))

    def plain(self) -> dict[str, object]:
        kept = {"kind": "sentencepiece", "model": base64.b64encode(self.model).decode("ascii")}
        return {"vocabulary": self.words, "tokenizer": kept}

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return self.unk not in self.encode_word(word)

    def encode_word(self, word: str) -> list[int]:
        if word not in self.known:
            if len(self.known) >= MEMORY:
                self.known.clear()
            self.known[word] = self._cut(word)
        return self.known[word]

    def _cut(self, word: str) -> list[int]:
        if word in (EOS, UNK):
            return [self.eos if word == EOS else self.unk]
        # The word-start mark must not occur inside: words could no longer be told apart.
        return self.processor.encode(word.replace(START, "_")) or [self.unk]

    def encode(self, words: Iterable[str]) -> list[int]:
        return [piece for word in words for piece in self.encode_word(word)]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The words again."""
        begins, numbers = self.begins(), list(ids)
        starts = [at for at, number in enumerate(numbers) if begins[number] or number == self.eos]
        return [self._join(numbers[start:end]) for start, end in pairwise([*starts, len(numbers)])]

    def _join(self, pieces: list[int]) -> str:
        if pieces[0] in (self.eos, self.unk):
            return self.words[pieces[0]]
        text: str = self.processor.decode(pieces)
        return text

    def begins(self) -> list[bool]:
        return [piece.startswith(START) or piece == UNK for piece in self.words]

    def digest(self) -> str:
        return hashlib.blake2b(self.model, digest_size=8).hexdigest()


@dataclass(frozen=True)
class PieceRule:
    """How many pieces, and how they are learnt. The model sees only the training split."""

    size: int
    kind: str = "unigram"
    counted_in: tuple[str, ...] = ("train",)
    per_language: bool = False  # pieces are shared by all languages

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UserError(f"tokenizer.kind={self.kind}: no such kind; available: {', '.join(KINDS)}")
        if not (isinstance(self.size, int) and self.size > FIXED):
            raise UserError(f"tokenizer.vocabulary_size={self.size}: must be a whole number above {FIXED} (256 are bytes)")

    def key(self) -> str:
        return f"pieces:{self.kind}:{self.size}:{metadata.version('sentencepiece')}"

    def learn(self, *counts: Counts) -> Pieces:
        """Sentencepiece splits at spaces before it learns, so words with their counts are all it needs of a text."""
        (together,) = counts
        entries = (entry for entry in together.most_frequent(LEARNT_FROM) if entry[0] not in (EOS, UNK))
        return Pieces(self._train(f"{word.replace(START, '_')}\t{count}" for word, count in entries))

    def _train(self, words: Iterator[str]) -> bytes:
        model = io.BytesIO()
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=words,
                input_format="tsv",
                model_writer=model,
                model_type=self.kind,
                vocab_size=self.size,
                hard_vocab_limit=False,  # a small text has fewer pieces to learn than requested
                byte_fallback=True,
                character_coverage=0.9999,
                eos_id=EOS_ID,
                eos_piece=EOS,
                unk_id=UNK_ID,
                unk_piece=UNK,
                bos_id=-1,
                pad_id=-1,
                normalization_rule_name="identity",  # the language's rule has already done that
                remove_extra_whitespaces=False,
                num_threads=1,  # sums in one order: the same text gives the same pieces everywhere
                minloglevel=2,
            )
        except RuntimeError as error:
            raise UserError(f"tokenizer.vocabulary_size={self.size}: sentencepiece reports: {error}; try another size") from None
        return model.getvalue()
