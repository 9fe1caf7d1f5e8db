"""A corpus as numbers on disk: built once under a name covering everything it depends on, then memory-mapped by every run."""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ..files import JsonObject, checksum, lock
from . import corpus_build
from .block_store import gather
from .corpus_build import FORMAT, CorpusError
from .selection import EVERYTHING, SPLITS, Selection
from .sources import Source
from .vocabulary import UNK_ID, Tokenizer, TokenizerRule, Vocabulary, VocabularyRule

__all__ = [
    "Corpus",
    "CorpusError",
    "Split",
    "VocabularyRule",
    "begins_with_capital",
    "corpus_name",
    "encode_split",
    "prepare",
    "read_corpus",
    "restore_tokenizer",
]


INITIALS = 10_000  # sentences whose first letters are checked


@dataclass(frozen=True)
class Split:
    """Sentences one after another, each closed by `<eos>`; sentence i is `ids[offsets[i]:offsets[i + 1]]`."""

    ids: np.ndarray
    offsets: np.ndarray
    unknown: int
    spelled: int | None = None  # words of the text, if tokens are pieces of words
    languages: np.ndarray | None = None  # each sentence's language number, if there are several

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def tokens(self) -> int:
        """All predicted tokens, `<eos>` included."""
        return len(self.ids)

    @property
    def words(self) -> int:
        """All tokens without `<eos>`."""
        return len(self.ids) - len(self)

    def lengths(self) -> np.ndarray:
        return np.diff(self.offsets)

    def first(self, sentences: int, begins: np.ndarray | None = None) -> "Split":
        """The beginning of it. `begins`: which tokens begin a word, if not all do."""
        offsets = self.offsets[: sentences + 1]
        ids = self.ids[: offsets[-1]]
        spelled = None if begins is None else int(begins[ids].sum())
        languages = None if self.languages is None else self.languages[:sentences]
        return Split(ids, offsets, int((ids == UNK_ID).sum()), spelled, languages)

    def of_language(self, number: int) -> "Split":
        """The sentences of one language."""
        assert self.languages is not None
        chosen = np.flatnonzero(self.languages == number)
        lengths = self.lengths()[chosen]
        ids = gather(np.asarray(self.ids), self.offsets[chosen], lengths)
        return Split(ids, np.concatenate([[0], np.cumsum(lengths)]), int((ids == UNK_ID).sum()))


@dataclass(frozen=True)
class Corpus:
    folder: Path
    vocabulary: Tokenizer
    train: Split
    valid: Split
    test: Split
    report: dict[str, int]  # what was left out, by reason
    read: dict[str, int] = field(default_factory=dict)  # what there was before anything was left out
    languages: tuple[str, ...] = ()  # where there are several

    def first(self, sentences: int) -> "Corpus":
        """The same corpus with at most this many sentences in each split."""
        begins = self.vocabulary.begins()
        table = None if begins is None else np.array(begins)
        train, valid, test = (split.first(sentences, table) for split in self.splits().values())
        return replace(self, train=train, valid=valid, test=test)

    def summary(self) -> dict[str, object]:
        """Sizes and what was left out, in plain values."""
        sizes = {name: {"sentences": len(s), "words": s.words, "unknown": s.unknown} for name, s in self.splits().items()}
        known = {"name": self.folder.name, "vocabulary": len(self.vocabulary), "tokenizer": self.vocabulary.digest()}
        return known | {"read": self.read, "left out": self.report} | sizes

    def content(self) -> str:
        """A name for exactly these sentences and this vocabulary, wherever the text lies and whenever it was written."""
        files = sorted(_read_about(self.folder)["files"].items())
        return hashlib.blake2b(json.dumps(files).encode(), digest_size=8).hexdigest()

    def by_language(self, split: Split) -> dict[str, Split]:
        """The sentences of each language; empty if there is only one."""
        return {language: split.of_language(number) for number, language in enumerate(self.languages)}

    def capitals(self) -> dict[str, bool]:
        """Whether most sentences start with a capital, by language; a single language has an empty name. Quotes and the like are
        skipped, and a script without capitals has none.
        """
        return {name: self._has_capitals(split) for name, split in (self.by_language(self.train) or {"": self.train}).items()}

    def _has_capitals(self, split: Split) -> bool:
        firsts = (self.vocabulary.words[i] for i in np.asarray(split.ids)[split.offsets[:-1][:INITIALS]])
        initials = [letter for word in firsts if (letter := word.lstrip("▁")[:1]).lower() != letter.upper()]
        return 2 * sum(letter.isupper() for letter in initials) > len(initials)

    def warm(self, sentences: int = 10) -> list[int]:
        """The beginning of the validation split, for a model that has to read something before it is probed."""
        return [int(token) for token in self.valid.first(sentences).ids]

    def splits(self) -> dict[str, Split]:
        return {"train": self.train, "valid": self.valid, "test": self.test}


def begins_with_capital(capitals: Mapping[str, bool], language: str) -> bool:
    """Whether a language's sentences start with a capital, by `Corpus.capitals`; False for unknown corpora."""
    return capitals.get(language, capitals.get("", False))


def corpus_name(source: Source, rule: TokenizerRule, selection: Selection = EVERYTHING) -> str:
    """A name for exactly this corpus: everything it depends on, without building it."""
    parts = (str(FORMAT), source.key(), rule.key(), selection.key())
    return hashlib.blake2b("\n".join(part for part in parts if part).encode(), digest_size=10).hexdigest()


def prepare(
    source: Source, rule: TokenizerRule, cache: Path, selection: Selection = EVERYTHING, workers: int | None = None
) -> Corpus:
    """The corpus from the cache, built first if missing. Safe if several processes ask at the same time."""
    folder = cache / corpus_name(source, rule, selection)
    if not folder.exists():
        with lock(folder.with_suffix(".lock")):
            if not folder.exists():  # another process may have built it while we waited
                _build(source, rule, selection, folder, workers)
    return read_corpus(folder)


def encode_split(source: Source, tokenizer: Tokenizer, split: str, selection: Selection = EVERYTHING) -> Split:
    """One split of a source, by an existing tokenizer."""
    ids, offsets = corpus_build.encode_source(source, tokenizer, split, selection)
    return Split(ids, offsets, int((ids == tokenizer.unk).sum()))


def _build(source: Source, rule: TokenizerRule, selection: Selection, folder: Path, workers: int | None) -> None:
    """Everything is written beside the final place and moved there once complete."""
    for leftover in folder.parent.glob(f"{folder.name}.building-*"):
        shutil.rmtree(leftover)
    work = folder.with_suffix(f".building-{os.getpid()}")
    work.mkdir(parents=True)
    try:
        corpus_build.build_corpus(source, rule, selection, work, workers)
        work.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def read_corpus(folder: Path) -> Corpus:
    """An existing corpus. Every file is compared with the checksum taken when it was written."""
    remedy = f"delete it, and it will be rebuilt: rm -r {folder}"
    try:
        about = _read_about(folder)
        damaged = [name for name, digest in about["files"].items() if checksum(folder / name) != digest]
    except (OSError, KeyError, ValueError) as error:
        raise CorpusError(f"{folder}: this prepared corpus is damaged ({error!r}); {remedy}") from None
    if damaged:
        raise CorpusError(f"{folder}: this prepared corpus is damaged (checksum of {', '.join(damaged)}); {remedy}")
    splits = {split: _split(folder, split, about) for split in SPLITS}
    languages = tuple(about.get("languages", ()))
    return Corpus(folder, _tokenizer(folder), **splits, report=about["report"], read=about.get("read", {}), languages=languages)


def _read_about(folder: Path) -> JsonObject:
    known = folder / "about.sum"  # corpora of the first versions have none
    if known.exists() and known.read_text(encoding="utf-8") != checksum(folder / "about.json"):
        raise ValueError("checksum of about.json")
    about: JsonObject = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    return about


def _tokenizer(folder: Path) -> Tokenizer:
    words = (folder / "vocabulary.txt").read_text(encoding="utf-8").split("\n")[:-1]
    model = folder / "tokenizer.json"
    pieces = {"tokenizer": json.loads(model.read_text(encoding="utf-8"))} if model.exists() else {}
    return restore_tokenizer({"vocabulary": words} | pieces)


def _split(folder: Path, split: str, about: JsonObject) -> Split:
    ids = np.load(folder / f"{split}.ids.npy", mmap_mode="r")
    spelled = about["words"][split] if "tokenizer.json" in about["files"] else None
    languages = folder / f"{split}.languages.npy"
    known = np.load(languages) if languages.exists() else None
    return Split(ids, np.load(folder / f"{split}.offsets.npy"), about["unknown"][split], spelled, known)


def restore_tokenizer(plain: JsonObject) -> Tokenizer:
    """From what a corpus or a checkpoint keeps of it (`Tokenizer.plain`)."""
    if "tokenizer" in plain:
        from .pieces import Pieces  # noqa: PLC0415 - word models do without sentencepiece

        return Pieces.from_plain(plain["tokenizer"])
    return Vocabulary(plain["vocabulary"])
