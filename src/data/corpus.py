"""A corpus as numbers on disk: built once under a name that says all it depends on, then memory-mapped by every run."""

import fcntl
import hashlib
import json
import os
import shutil
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .errors import UserError
from .sources import SPLITS, Source
from .vocabulary import EOS, UNK, Vocabulary

# Part of every corpus's name: raise it when what is written changes.
FORMAT = 2
CHUNK = 1 << 20


class CorpusError(UserError):
    """A corpus that cannot be used: where it is, what is wrong, what to do."""


@dataclass(frozen=True)
class Split:
    """Sentences one after the other, each closed by `<eos>`; sentence i is `ids[offsets[i]:offsets[i + 1]]`."""

    ids: np.ndarray
    offsets: np.ndarray
    unknown: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def tokens(self) -> int:
        """All tokens that are predicted, `<eos>` included."""
        return len(self.ids)

    @property
    def words(self) -> int:
        """All tokens without `<eos>`."""
        return len(self.ids) - len(self)

    def lengths(self) -> np.ndarray:
        return np.diff(self.offsets)

    def first(self, sentences: int) -> "Split":
        """The beginning of it."""
        offsets = self.offsets[: sentences + 1]
        ids = self.ids[: offsets[-1]]
        return Split(ids, offsets, int((ids == 1).sum()))


@dataclass(frozen=True)
class Corpus:
    folder: Path
    vocabulary: Vocabulary
    train: Split
    valid: Split
    test: Split
    report: dict[str, int]

    def first(self, sentences: int) -> "Corpus":
        """The same corpus with no more than so many sentences in each split."""
        train, valid, test = (split.first(sentences) for split in self.splits().values())
        return replace(self, train=train, valid=valid, test=test)

    def summary(self) -> dict[str, Any]:
        """Sizes and what was left out, in plain values."""
        sizes = {name: {"sentences": len(s), "words": s.words, "unknown": s.unknown} for name, s in self.splits().items()}
        return {"name": self.folder.name, "vocabulary": len(self.vocabulary), "left out": self.report} | sizes

    def warm(self, sentences: int = 10) -> list[int]:
        """The beginning of the validation split, for a model that is to have read something before it is asked."""
        return [int(token) for token in self.valid.first(sentences).ids]

    def splits(self) -> dict[str, Split]:
        return {"train": self.train, "valid": self.valid, "test": self.test}


@dataclass(frozen=True)
class VocabularyRule:
    """How many words a model knows, and which splits they are counted in."""

    size: int | None
    counted_in: tuple[str, ...] = ("train",)

    def __post_init__(self) -> None:
        if self.size is not None and not (isinstance(self.size, int) and self.size > 1):
            raise UserError(f"tokenizer.vocabulary_size={self.size}: a whole number above 1 is needed, or null for all words")
        if not self.counted_in or not set(self.counted_in) <= set(SPLITS):
            raise UserError(f"tokenizer.counted_in={list(self.counted_in)}: name one or more of {', '.join(SPLITS)}")

    def key(self) -> str:
        return f"words:{self.size}:{self.counted_in}"


def encoded(source: Source, vocabulary: Vocabulary, split: str) -> Split:
    """One split of a source in the words of a vocabulary that was made elsewhere."""
    ids = array("I")
    offsets = [0]
    for where, tokens in source.sentences():
        if where == split:
            ids.extend([*vocabulary.encode(tokens), vocabulary.eos])
            offsets.append(len(ids))
    if len(offsets) == 1:
        raise CorpusError(f"the {split} part of the corpus has no sentence")
    numbers = np.array(ids, dtype=np.int64)
    return Split(numbers, np.array(offsets), int((numbers == vocabulary.unk).sum()))


def name_of(source: Source, rule: VocabularyRule) -> str:
    """A name for exactly this corpus: all that it depends on, without building it."""
    key = f"{FORMAT}\n{source.key()}\n{rule.key()}"
    return hashlib.blake2b(key.encode(), digest_size=10).hexdigest()


def prepare(source: Source, rule: VocabularyRule, cache: Path) -> Corpus:
    """The corpus from the cache, built first if it is not there. Safe when several processes ask at the same time."""
    folder = cache / name_of(source, rule)
    if not folder.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with _locked(folder.with_suffix(".lock")):
            if not folder.exists():  # another process may have built it while we waited
                _build(source, rule, folder)
    return read(folder)


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """One process at a time; the lock goes away with the process, however it ends."""
    with file.open("w", encoding="utf-8") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _build(source: Source, rule: VocabularyRule, folder: Path) -> None:
    """Everything is written next to the final place and moved there when it is complete."""
    for leftover in folder.parent.glob(f"{folder.name}.building-*"):
        shutil.rmtree(leftover)
    work = folder.with_suffix(f".building-{os.getpid()}")
    work.mkdir(parents=True)
    try:
        words, lengths = _number(source, work)
        vocabulary, unknown = _renumber(words, lengths, rule, work)
        _finish(source, vocabulary, unknown, work)
        work.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _number(source: Source, work: Path) -> tuple[list[str], dict[str, array]]:
    """One pass over the text: every word gets a number at its first occurrence, and the numbers go to disk."""
    numbers: dict[str, int] = {EOS: 0, UNK: 1}
    lengths = {split: array("I") for split in SPLITS}
    buffers = {split: array("I") for split in SPLITS}
    streams = {split: (work / f"{split}.raw").open("wb") for split in SPLITS}
    try:
        for split, tokens in source.sentences():
            buffer = buffers[split]
            buffer.extend([numbers.setdefault(token, len(numbers)) for token in tokens])
            buffer.append(0)
            lengths[split].append(len(tokens) + 1)
            if len(buffer) >= CHUNK:
                buffer.tofile(streams[split])
                del buffer[:]
        for split, buffer in buffers.items():
            buffer.tofile(streams[split])
    finally:
        for stream in streams.values():
            stream.close()
    for split, found in lengths.items():
        if not found:
            raise CorpusError(
                f"the {split} part of the corpus has no sentence; a file to be split needs at least ten, "
                "and data.train, data.valid and data.test must not be empty"
            )
    return list(numbers), lengths


def _renumber(words: list[str], lengths: dict[str, array], rule: VocabularyRule, work: Path) -> tuple[Vocabulary, dict[str, int]]:
    """The vocabulary from the counts, then the numbers of first occurrence exchanged for its own."""
    raw = {split: np.memmap(work / f"{split}.raw", dtype=np.uint32, mode="r") for split in SPLITS}
    counts = np.zeros(len(words), dtype=np.int64)
    for split in rule.counted_in:
        for start in range(0, len(raw[split]), CHUNK):
            counts += np.bincount(raw[split][start : start + CHUNK], minlength=len(words))
    vocabulary = Vocabulary.from_counts(words, counts, rule.size)
    dtype = np.uint16 if len(vocabulary) <= 1 << 16 else np.uint32
    final = np.array(vocabulary.encode(words), dtype=dtype)
    unknown = {}
    for split, ids in raw.items():
        written = np.lib.format.open_memmap(work / f"{split}.ids.npy", mode="w+", dtype=dtype, shape=ids.shape)
        unknown[split] = 0
        for start in range(0, len(ids), CHUNK):
            chunk = final[ids[start : start + CHUNK]]
            written[start : start + CHUNK] = chunk
            unknown[split] += int((chunk == vocabulary.unk).sum())
        written.flush()
        np.save(work / f"{split}.offsets.npy", np.concatenate([[0], np.cumsum(lengths[split], dtype=np.int64)]))
        (work / f"{split}.raw").unlink()
    return vocabulary, unknown


def _finish(source: Source, vocabulary: Vocabulary, unknown: dict[str, int], work: Path) -> None:
    (work / "vocabulary.txt").write_text("\n".join(vocabulary.words) + "\n", encoding="utf-8")
    digests = {file.name: _digest(file) for file in sorted(work.iterdir())}
    about = {"format": FORMAT, "source": source.key(), "report": source.report(), "unknown": unknown, "files": digests}
    (work / "about.json").write_text(json.dumps(about, ensure_ascii=False, indent=1), encoding="utf-8")


def read(folder: Path) -> Corpus:
    """A corpus that has been built. Every file is compared with the checksum taken when it was written."""
    remedy = f"delete it and it is built anew: rm -r {folder}"
    try:
        about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
        damaged = [name for name, digest in about["files"].items() if _digest(folder / name) != digest]
    except (OSError, KeyError, ValueError) as error:
        raise CorpusError(f"{folder}: this prepared corpus is damaged ({error!r}); {remedy}") from None
    if damaged:
        raise CorpusError(f"{folder}: this prepared corpus is damaged (checksum of {', '.join(damaged)}); {remedy}")
    words = (folder / "vocabulary.txt").read_text(encoding="utf-8").split("\n")[:-1]
    splits = {split: _split(folder, split, about["unknown"][split]) for split in SPLITS}
    return Corpus(folder, Vocabulary(words), **splits, report=about["report"])


def _split(folder: Path, split: str, unknown: int) -> Split:
    ids = np.load(folder / f"{split}.ids.npy", mmap_mode="r")
    return Split(ids, np.load(folder / f"{split}.offsets.npy"), unknown)


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
