"""The words a model knows, and their numbers."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import UserError
from .counts import Counts
from .splits import SPLITS

# Every vocabulary begins with these two; a sentence stands between two <eos>, and each word that is not known is <unk>.
EOS, UNK = "<eos>", "<unk>"
EOS_ID, UNK_ID = 0, 1


class Vocabulary:
    """Words in order of frequency after the two special ones, perhaps one language after the other. All others are `<unk>`."""

    def __init__(self, words: Sequence[str]) -> None:
        if list(words[:2]) != [EOS, UNK]:
            raise ValueError(f"a vocabulary begins with {EOS} and {UNK}; this one begins with {list(words[:2])}")
        self.words = list(words)
        self.ids = {word: i for i, word in enumerate(self.words)}
        if len(self.ids) < len(self.words):
            repeated = next(word for i, word in enumerate(self.words) if self.ids[word] != i)
            raise ValueError(f"a vocabulary has every word once; {repeated!r} is in this one twice")
        self.eos, self.unk = EOS_ID, UNK_ID

    @classmethod
    def from_counts(cls, words: Sequence[str], counts: Sequence[int] | np.ndarray, size: int | None) -> "Vocabulary":
        """The `size` most frequent tokens, `<eos>` among them, plus `<unk>`; of equally frequent words the first by alphabet."""
        ranked = sorted(
            ((-int(count), word) for word, count in zip(words, counts, strict=True) if count and word not in (EOS, UNK))
        )
        kept = ranked if size is None else ranked[: max(size - 1, 0)]
        return cls([EOS, UNK, *(word for _, word in kept)])

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return word in self.ids

    def encode_word(self, word: str) -> list[int]:
        return [self.ids.get(word, self.unk)]

    def encode(self, words: Iterable[str]) -> list[int]:
        return [self.ids.get(word, self.unk) for word in words]

    def decode(self, ids: Iterable[int]) -> list[str]:
        return [self.words[i] for i in ids]

    def digest(self) -> str:
        """A name for exactly these words in this order."""
        return hashlib.blake2b("\n".join(self.words).encode(), digest_size=8).hexdigest()

    def begins(self) -> None:
        """Every number is a word."""

    def plain(self) -> dict[str, object]:
        """For a checkpoint."""
        return {"vocabulary": self.words}


@dataclass(frozen=True)
class VocabularyRule:
    """How many words a model knows, which splits they are counted in, and whether in each language apart."""

    size: int | None
    counted_in: tuple[str, ...] = ("train",)
    per_language: bool = False

    def __post_init__(self) -> None:
        if self.size is not None and not (isinstance(self.size, int) and self.size > 1):
            raise UserError(f"tokenizer.vocabulary_size={self.size}: a whole number above 1 is needed, or null for all words")
        if not self.counted_in or not set(self.counted_in) <= set(SPLITS):
            raise UserError(f"tokenizer.counted_in={list(self.counted_in)}: name one or more of {', '.join(SPLITS)}")

    def key(self) -> str:
        return f"words:{self.size}:{self.counted_in}" + (":per language" if self.per_language else "")

    def learn(self, *counts: Counts) -> Vocabulary:
        """Of several languages one list after the other; a word that two have stands where it comes first.

        Two more than needed are asked for: `<eos>` and `<unk>` may be among them, and come first anyway.
        """
        found: dict[str, None] = {}
        for each in counts:
            ranked = each.most_frequent(None if self.size is None else self.size + 2)
            own = Vocabulary.from_counts([word for word, _ in ranked], [count for _, count in ranked], self.size)
            found |= dict.fromkeys(own.words)
        return Vocabulary(list(found))
