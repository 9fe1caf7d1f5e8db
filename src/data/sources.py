"""Where the sentences of a corpus come from. A source says cheaply what they depend on, and gives them when asked."""

import hashlib
import itertools
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from .grammar import Draw, Expansion, constructions, load
from .grammar.clitics import Clitics
from .grammar.sample import without_closing
from .text import Reader, TextError, sentences

SPLITS = ("train", "valid", "test")
Labelled = tuple[str, list[str]]  # split, tokens


class Source(Protocol):
    def key(self) -> str:
        """Everything that the sentences depend on, as text."""

    def sentences(self) -> Iterator[Labelled]:
        """Every sentence with the split it belongs to."""

    def report(self) -> dict[str, int]:
        """What was left out, by reason; complete when all sentences have been given."""


@dataclass(frozen=True)
class Exclusion:
    """Sentences that must not occur in a corpus: a name for exactly these, and a way to get them when they are needed."""

    key: str
    sentences: Callable[[], Collection[str]]


NOTHING = Exclusion("", frozenset)


def challenge_sentences(folder: Path, clitics: Clitics) -> Exclusion:
    """The sentences of all challenge sets in a folder of grammars, grammatical or not."""
    files = [folder / f"{name}.avg" for name in ("common", *constructions(folder))]
    digests = [hashlib.blake2b(file.read_bytes()).hexdigest() for file in files if file.exists()]
    key = hashlib.blake2b(f"{clitics}{digests}".encode()).hexdigest()

    def expand() -> Collection[str]:
        sets = (Expansion(load(folder, name), clitics) for name in constructions(folder))
        return {without_closing(sentence.text) for groups in sets for group in groups for sentence in group.sentences}

    return Exclusion(key, expand)


@dataclass
class GrammarSource:
    """Sentences drawn from a language's corpus grammar."""

    folder: Path
    sizes: dict[str, int]
    seed: int
    withhold: tuple[str, ...] = ()
    clitics: Clitics = "split"
    exclude: Exclusion = NOTHING
    excluded: int = 0

    def key(self) -> str:
        files = [self.folder / "common.avg", self.folder / "corpus.avg"]
        digests = [hashlib.blake2b(file.read_bytes()).hexdigest() for file in files if file.exists()]
        return f"grammar:{digests}:{self.sizes}:{self.seed}:{self.withhold}:{self.clitics}:{self.exclude.key}"

    def sentences(self) -> Iterator[Labelled]:
        draw = Draw(load(self.folder, "corpus"), self.seed, self.withhold, self.exclude.sentences(), self.clitics)
        for split, size in self.sizes.items():
            for sentence in itertools.islice(draw, size):
                yield split, sentence.split()
        self.excluded = draw.excluded

    def report(self) -> dict[str, int]:
        return {"challenge sentences": self.excluded}


@dataclass
class TextSource:
    """One's own files: one for each split, or one that is split 8:1:1 by the seed."""

    files: dict[str, Path]
    reader: Reader
    seed: int

    def key(self) -> str:
        stamps = {split: (str(f.resolve()), f.stat().st_size, f.stat().st_mtime_ns) for split, f in self._checked().items()}
        return f"text:{stamps}:{self.reader.key()}:{self.seed}"

    def sentences(self) -> Iterator[Labelled]:
        seen = 0
        shares = Shares(self.seed)
        for split, file in self._checked().items():
            for tokens in sentences(file, self.reader):
                seen += 1
                yield (split if split in SPLITS else next(shares)), tokens
        if not seen:
            raise TextError(f"{', '.join(map(str, self.files.values()))}: no sentence found; the corpus is empty")

    def report(self) -> dict[str, int]:
        return {}

    def _checked(self) -> dict[str, Path]:
        for file in self.files.values():
            if file.is_dir():
                raise TextError(f"{file}: this is a folder; give data.path= a file, or data.train= data.valid= data.test=")
            if not file.is_file():
                raise TextError(f"{file}: there is no such file; give data.path= a text file (.txt, .gz or .xz)")
        return self.files


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
