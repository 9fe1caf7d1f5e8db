"""What has been read of a text while its corpus is being built: words and ids on disk, a few bytes per sentence in memory."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from .blocks import Block
from .vocabulary import UNK, Counts


class StoredBlock(NamedTuple):
    """A block on disk; its sentences are numbers `sentences` of all."""

    sentences: slice
    words: tuple[int, int]  # bytes
    ids: tuple[int, int]
    language: str


class BlockStore:
    """Everything a source gave, in order."""

    def __init__(self, folder: Path, blocks: Iterable[Block]) -> None:
        self.folder = folder
        self.blocks: list[StoredBlock] = []
        self.left_out: Counter[str] = Counter()
        self.documents = self.tokens = 0
        lengths, splits, withheld = array("I"), array("B"), array("B")
        with (folder / "words.raw").open("wb") as words, (folder / "ids.raw").open("wb") as ids:
            for block in blocks:
                self._add(block, words, ids, len(lengths))
                lengths.frombytes(block.lengths.astype(np.uint32).tobytes())
                splits.frombytes(block.splits.astype(np.uint8).tobytes())
                marks = block.withheld if len(block.withheld) else np.zeros(len(block.lengths), bool)
                withheld.frombytes(marks.astype(np.uint8).tobytes())
        self.lengths = np.frombuffer(lengths, dtype=np.uint32)  # (S,), words without <eos>
        self.splits = np.frombuffer(splits, dtype=np.uint8)  # (S,)
        self.withheld = np.frombuffer(withheld, dtype=np.uint8).astype(bool)  # (S,)

    def _add(self, block: Block, words: BinaryIO, ids: BinaryIO, first: int) -> None:
        start, number = words.tell(), self.tokens
        words.write("\n".join(block.words).encode())
        ids.write(block.ids.astype(np.uint32).tobytes())
        self.tokens += len(block.ids)
        self.left_out.update(block.left_out)
        self.documents += block.documents
        place = slice(first, first + len(block.lengths))
        self.blocks.append(StoredBlock(place, (start, words.tell()), (number, self.tokens), block.language))

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[tuple[StoredBlock, list[str], np.ndarray]]:
        """Every block with its words and ids, read back."""
        with (self.folder / "words.raw").open("rb") as words, (self.folder / "ids.raw").open("rb") as ids:
            for block in self.blocks:
                start, end = block.words
                text = words.read(end - start).decode()
                numbers = np.fromfile(ids, dtype=np.uint32, count=block.ids[1] - block.ids[0])
                yield block, text.split("\n"), numbers

    def languages(self) -> list[str]:
        return list(dict.fromkeys(block.language for block in self.blocks))

    def language_of_each(self) -> np.ndarray:
        """The number of each sentence's language."""
        number = {language: i for i, language in enumerate(self.languages())}
        found = np.zeros(len(self), dtype=np.uint8)
        for block in self.blocks:
            found[block.sentences] = number[block.language]
        return found

    def counts(self, chosen: np.ndarray, name: str, language: str | None = None) -> Counts:
        """How often each word occurs in the sentences for which `chosen` is true, of one language or of all."""
        counts = Counts(self.folder, name)
        for block, words, ids in self:
            if language in (None, block.language):
                wanted = np.repeat(chosen[block.sentences], self.lengths[block.sentences])
                counts.add(words, np.bincount(ids[wanted], minlength=len(words)))
        return counts

    def known_enough(self, share: float, frequent: int) -> np.ndarray:
        """Sentences with at most this share of words outside the most frequent ones of their language."""
        kept = np.zeros(len(self), dtype=bool)
        known = {language: self._frequent(language, frequent) for language in self.languages()}
        for block, words, ids in self:
            unknown = np.array([word not in known[block.language] for word in words], dtype=np.int64)
            lengths = self.lengths[block.sentences]
            kept[block.sentences] = segment_sums(unknown[ids], lengths) <= share * lengths
        return kept

    def _frequent(self, language: str, size: int) -> set[str]:
        counts = self.counts(np.ones(len(self), dtype=bool), "all", language)
        found = {word for word, _ in counts.most_frequent(size)}
        counts.remove()
        return found - {UNK}

    def remove(self) -> None:
        """Remove the files; the sentence numbers stay."""
        for name in ("words.raw", "ids.raw"):
            (self.folder / name).unlink()


def segment_sums(values: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Of the values of each of consecutive stretches, given by their lengths."""
    ends = np.cumsum(lengths, dtype=np.int64)
    totals = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])
    found: np.ndarray = totals[ends] - totals[ends - lengths]
    return found


def gather(flat: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The stretches with these starts and lengths, one after another, without a loop."""
    ends = np.cumsum(lengths)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)
    found: np.ndarray = flat[np.repeat(starts, lengths) + within]
    return found
