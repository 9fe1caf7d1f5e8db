"""The words a model knows, and their numbers."""

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np

EOS, UNK = "<eos>", "<unk>"


class Vocabulary:
    """Words in order of frequency after the two special ones. Every word it does not know is `<unk>`."""

    def __init__(self, words: Sequence[str]) -> None:
        if list(words[:2]) != [EOS, UNK]:
            raise ValueError(f"a vocabulary begins with {EOS} and {UNK}; this one begins with {list(words[:2])}")
        self.words = list(words)
        self.ids = {word: i for i, word in enumerate(self.words)}
        if len(self.ids) < len(self.words):
            repeated = next(word for i, word in enumerate(self.words) if self.ids[word] != i)
            raise ValueError(f"a vocabulary has every word once; {repeated!r} is in this one twice")
        self.eos, self.unk = 0, 1

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

    def encode(self, words: Iterable[str]) -> list[int]:
        return [self.ids.get(word, self.unk) for word in words]

    def decode(self, ids: Iterable[int]) -> list[str]:
        return [self.words[i] for i in ids]

    def digest(self) -> str:
        """A name for exactly these words in this order."""
        return hashlib.blake2b("\n".join(self.words).encode(), digest_size=8).hexdigest()
