"""Which sentences make up a corpus, in which of its three parts, and in which order."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from ..errors import UserError

SPLITS = ("train", "valid", "test")
UNDECIDED = len(SPLITS)  # the selection decides


class Shares(Iterator[str]):
    """An endless, seeded sequence of splits: in every ten, eight are train, one valid, one test."""

    TEN = ("train",) * 8 + ("valid", "test")

    def __init__(self, seed: int) -> None:
        self.random = np.random.RandomState(seed)  # its stream never changes between versions of numpy
        self.waiting: list[str] = []

    def __next__(self) -> str:
        if not self.waiting:
            self.waiting = [self.TEN[i] for i in self.random.permutation(10)]
        return self.waiting.pop()


@dataclass(frozen=True)
class Selection:
    """Which of the sentences read make up the corpus, and in which order:

    sentences with more than a share `unknown` of words outside the `frequent` most frequent ones (of their language, in all that
    was read) are left out; the rest is shuffled with the seed; valid and test take the first words that no source has assigned,
    train the words after them, as many as `sizes` requests in each language (8:1:1 by default); train is cut to `max_tokens`
    words.
    So the training text for a smaller `max_tokens` is the beginning of that for a larger one, and valid and test are the same.
    """

    shuffle: bool = False
    unknown: float | None = None
    frequent: int = 50_000
    sizes: Mapping[str, int] | None = None
    max_tokens: int | None = None
    seed: int = 0
    withhold_control: bool = field(default=False, repr=False)  # part of the source's key, where it matters

    def __post_init__(self) -> None:
        if self.max_tokens is not None and not (isinstance(self.max_tokens, int) and self.max_tokens > 0):
            raise UserError(f"data.max_tokens={self.max_tokens}: must be a whole number above 0, or null for all")
        if self.unknown is not None and not 0 <= self.unknown <= 1:
            raise UserError(f"data.unknown={self.unknown}: must be a share from 0 to 1, or null to keep all sentences")
        for name, size in (self.sizes or {}).items():
            if name not in SPLITS or not (isinstance(size, int) and size > 0):
                raise UserError(f"data.tokens.{name}={size}: must be a whole number above 0 for each of {', '.join(SPLITS)}")

    def key(self) -> str:
        """Empty if everything is taken as it comes."""
        return "" if replace(self, seed=0) == EVERYTHING else str(self)

    def orders(
        self, lengths: np.ndarray, splits: np.ndarray, languages: np.ndarray, kept: np.ndarray, withheld: np.ndarray | None = None
    ) -> dict[str, np.ndarray]:
        """Each split's sentence numbers, in order, from what is known about all: words, split if given, language.

        `withheld` are not for train; in the control they stay, and as many others go.
        """
        order = np.flatnonzero(kept).astype(np.uint32)
        if self.shuffle:
            np.random.RandomState(self.seed).shuffle(order)
        decided = splits.copy()
        for language in np.unique(languages):
            free = order[(splits[order] == UNDECIDED) & (languages[order] == language)]
            for name, members in self._share_out(free, lengths).items():
                decided[members] = SPLITS.index(name)
        chosen = {name: order[decided[order] == number] for number, name in enumerate(SPLITS)}
        if withheld is not None and withheld.any():
            train = chosen["train"]
            chosen["train"] = (
                without_others(train, lengths, withheld, self.seed) if self.withhold_control else train[~withheld[train]]
            )
        if self.max_tokens is not None:
            chosen["train"] = self._cut(chosen["train"], lengths, self.max_tokens)
        return chosen

    def _share_out(self, free: np.ndarray, lengths: np.ndarray) -> dict[str, np.ndarray]:
        """For one language. Valid and test first: they stay the same however much is left for training."""
        ends = np.cumsum(lengths[free], dtype=np.int64)
        total = int(ends[-1]) if len(ends) else 0
        asked = dict(self.sizes) if self.sizes else {"train": total * 8 // 10, "valid": total // 10, "test": total // 10}
        if sum(asked.values()) > total:  # too little for all: each gets the same share of what was requested
            asked = {name: size * total // sum(asked.values()) for name, size in asked.items()}
        elif not self.sizes:
            asked["train"] = total
        bounds = np.cumsum([0, asked["valid"], asked["test"], asked["train"]])
        places = np.searchsorted(ends, bounds, side="right")
        valid, test, train = (free[start:end] for start, end in pairwise(places.tolist()))
        return {"train": train, "valid": valid, "test": test}

    def _cut(self, train: np.ndarray, lengths: np.ndarray, words: int) -> np.ndarray:
        if not self.shuffle:  # the beginning of a text is not a sample of it
            train = train.copy()
            np.random.RandomState(self.seed).shuffle(train)
        ends = np.cumsum(lengths[train], dtype=np.int64)
        return train[: int(np.searchsorted(ends, words, side="right"))]


def without_others(train: np.ndarray, lengths: np.ndarray, withheld: np.ndarray, seed: int) -> np.ndarray:
    """The control: for every sentence that would be withheld, another of the same or the nearest available length goes."""
    rng = np.random.RandomState(seed)
    others: dict[int, list[int]] = {}
    for number in rng.permutation(train[~withheld[train]]).tolist():
        others.setdefault(int(lengths[number]), []).append(number)
    taken = set()
    longest = max(others, default=0)
    for number in sorted(train[withheld[train]].tolist(), key=lambda each: -int(lengths[each])):
        want = int(lengths[number])
        near = (length for gap in range(max(longest, want) + 1) for length in (want - gap, want + gap) if others.get(length))
        length = next(near, None)
        if length is None:
            raise UserError(
                "data.withhold_control: fewer sentences are left than are withheld; no control of equal size can be made"
            )
        taken.add(others[length].pop())
    return np.array([number for number in train.tolist() if number not in taken], dtype=train.dtype)


EVERYTHING = Selection()
