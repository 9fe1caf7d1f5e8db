"""What a model predicts: words, or pieces of words. Text and challenge sets are encoded by the same object, word by word."""

from collections.abc import Iterable
from typing import Protocol

from ..files import JsonObject
from .counts import Counts
from .vocabulary import Vocabulary


class Tokenizer(Protocol):
    """A sentence is the numbers of its words one after the other, each word on its own, closed by `eos`."""

    words: list[str]  # what each number stands for: a word, or a piece of one
    eos: int
    unk: int

    def __len__(self) -> int: ...

    def __contains__(self, word: str) -> bool:
        """Whether the word can be told from all others."""

    def encode_word(self, word: str) -> list[int]:
        """One number or more."""

    def encode(self, words: Iterable[str]) -> list[int]:
        """The numbers of all words, one after the other."""

    def begins(self) -> list[bool] | None:
        """Which numbers begin a word; None where every number is a word."""

    def digest(self) -> str:
        """A name for exactly this tokenizer."""

    def plain(self) -> dict[str, object]:
        """All that is needed to make it again, for a checkpoint."""


class TokenizerRule(Protocol):
    """How to make a tokenizer from the words of a corpus."""

    @property
    def counted_in(self) -> tuple[str, ...]:
        """The splits whose words it may see."""

    @property
    def per_language(self) -> bool:
        """Whether the words of each language are counted apart."""

    def key(self) -> str: ...

    def learn(self, *counts: Counts) -> Tokenizer:
        """From the words of all languages together, or from those of each."""


def restore_tokenizer(plain: JsonObject) -> Tokenizer:
    """From what a checkpoint says (`Tokenizer.plain`)."""
    if "tokenizer" in plain:
        from .pieces import Pieces  # noqa: PLC0415 - word models do without sentencepiece

        return Pieces.from_plain(plain["tokenizer"])
    return Vocabulary(plain["vocabulary"])
