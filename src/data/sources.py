"""Where a corpus's sentences come from. A source says cheaply what they depend on, and provides them on request."""

import hashlib
import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from ..settings.languages import Clitics
from .blocks import EXCLUDED, SENTENCES, Block, BlockPacker, Chunk, Reader, chunks, in_order, pack
from .grammar import Draw, Expansion, constructions, load
from .grammar.expand import check_size
from .grammar.folder import collections
from .grammar.sample import without_closing
from .grammar.unroll import unroll
from .selection import SPLITS, Shares
from .text import TextError, check_files, lines

__all__ = ["NOTHING", "SPLITS", "Exclusion", "GrammarSource", "JoinedSource", "Shares", "Source", "TextSource"]


class Source(Protocol):
    def key(self) -> str:
        """Everything the sentences depend on, as text."""

    def blocks(self, workers: int | None = None) -> Iterator[Block]:
        """All sentences, with their split, on this many processes; the same blocks for any number of them."""


@dataclass(frozen=True)
class Exclusion:
    """Sentences that must not occur in a corpus: a name for exactly these, and a way to get them when needed."""

    key: str
    sentences: Callable[[], Collection[str]]


NOTHING = Exclusion("", frozenset)


def challenge_sentences(folder: Path, clitics: Clitics) -> Exclusion:
    """The sentences of all challenge sets in a grammar folder and its collections, grammatical or not."""
    folders = [folder, *collections(folder)]
    files = [each / f"{name}.avg" for each in folders for name in ("common", *constructions(each))]
    digests = [hashlib.blake2b(file.read_bytes()).hexdigest() for file in files if file.exists()]
    key = hashlib.blake2b(f"{clitics}{digests}".encode()).hexdigest()

    def expand() -> Collection[str]:
        sets = (check_size(Expansion(load(each, name), clitics)) for each in folders for name in constructions(each))
        return {without_closing(sentence.text) for groups in sets for group in groups for sentence in group.sentences}

    return Exclusion(key, expand)


@dataclass
class GrammarSource:
    """Sentences sampled from a language's corpus grammar."""

    folder: Path
    sizes: dict[str, int]
    seed: int
    withhold: tuple[str, ...] = ()
    clitics: Clitics = "split"
    exclude: Exclusion = NOTHING

    def key(self) -> str:
        files = [self.folder / "common.avg", self.folder / "corpus.avg"]
        digests = [hashlib.blake2b(file.read_bytes()).hexdigest() for file in files if file.exists()]
        return f"grammar:{digests}:{self.sizes}:{self.seed}:{self.withhold}:{self.clitics}:{self.exclude.key}"

    def check(self) -> None:
        """Check that the corpus grammar is there and has the tags to be withheld."""
        unroll(load(self.folder, "corpus"), self.withhold)

    def blocks(self, workers: int | None = None) -> Iterator[Block]:
        draw = Draw(load(self.folder, "corpus"), self.seed, self.withhold, self.exclude.sentences(), self.clitics)
        for split, size in self.sizes.items():
            for start in range(0, size, SENTENCES):
                before = draw.excluded
                block = pack(map(str.split, itertools.islice(draw, min(SENTENCES, size - start))))
                left_out = {EXCLUDED: draw.excluded - before}
                yield replace(block, splits=_same_split(split, block), left_out=left_out)


@dataclass
class TextSource:
    """A user's files: some for each split, or some that are split 8:1:1 with the seed."""

    files: Mapping[str, Path | Sequence[Path]]
    reader: Reader
    seed: int
    exclude: Exclusion = NOTHING

    def __post_init__(self) -> None:
        self.files = {split: (files,) if isinstance(files, Path) else tuple(files) for split, files in self.files.items()}

    def key(self) -> str:
        stamps = {split: [file_stamp(file) for file in files] for split, files in self._checked_files().items()}
        shown = {split: each[0] if len(each) == 1 else each for split, each in stamps.items()}
        return f"text:{shown}:{self.reader.key()}:{self.seed}" + (f":{self.exclude.key}" if self.exclude.key else "")

    def check(self) -> None:
        """Check that the files are there, and that what they begin with is text."""
        files = [file for paths in self._checked_files().values() for file in paths]
        if not any(line.strip() for file in files for line in lines(file)):
            raise self._empty()

    def _empty(self) -> TextError:
        named = ", ".join(str(file) for files in self._checked_files().values() for file in files)
        return TextError(f"{named}: no sentence found; the corpus is empty")

    def blocks(self, workers: int | None = None) -> Iterator[Block]:
        seen = withheld = 0
        shares = Shares(self.seed)
        packing = BlockPacker(self.reader, self.exclude.sentences())
        for split, files in self._checked_files().items():
            for block in in_order(packing, self._chunks(files), workers):
                seen += len(block.lengths)
                withheld += int(block.withheld.sum())
                yield replace(block, splits=_same_split(split, block) if split in SPLITS else _draw_splits(shares, block))
        if not seen:
            raise self._empty()
        if (withholding := getattr(self.reader, "withholding", None)) and not withheld:
            names = ",".join(withholding.names)
            raise TextError(f"data.withhold=[{names}]: no sentence of the treebank has any of these; check the spelling")

    def _chunks(self, files: Iterable[Path]) -> Iterator[Chunk]:
        return itertools.chain.from_iterable(chunks(str(file), lines(file), self.reader) for file in files)

    def _checked_files(self) -> dict[str, tuple[Path, ...]]:
        files = {split: tuple(paths) for split, paths in self.files.items() if not isinstance(paths, Path)}
        for paths in files.values():
            check_files(paths)
        return files


def file_stamp(file: Path) -> tuple[str, int, int]:
    return str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns


def _same_split(split: str, block: Block) -> np.ndarray:
    return np.full(len(block.lengths), SPLITS.index(split), dtype=np.uint8)


def _draw_splits(shares: Shares, block: Block) -> np.ndarray:
    return np.array([SPLITS.index(next(shares)) for _ in block.lengths], dtype=np.uint8)


@dataclass
class JoinedSource:
    """The corpora of several languages, one after another; the selection shuffles them together."""

    languages: Mapping[str, Source]

    def key(self) -> str:
        return f"joined:{ {language: source.key() for language, source in self.languages.items()} }"

    def blocks(self, workers: int | None = None) -> Iterator[Block]:
        for language, source in self.languages.items():
            for block in source.blocks(workers):
                yield replace(block, language=language)
