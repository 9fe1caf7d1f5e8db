"""The three parts of a corpus."""

from collections.abc import Iterator

import numpy as np

SPLITS = ("train", "valid", "test")
UNDECIDED = len(SPLITS)  # the selection decides


class Shares(Iterator[str]):
    """An endless, seeded sequence of splits: of every ten in a row eight are train, one valid, one test."""

    TEN = ("train",) * 8 + ("valid", "test")

    def __init__(self, seed: int) -> None:
        self.random = np.random.RandomState(seed)  # its stream never changes between versions of numpy
        self.waiting: list[str] = []

    def __next__(self) -> str:
        if not self.waiting:
            self.waiting = [self.TEN[i] for i in self.random.permutation(10)]
        return self.waiting.pop()
