"""The words models know, with their training-text counts: from a corpus, a checkpoint, a file, or several of these."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from ...data.corpus import Corpus, restore_tokenizer
from ...data.vocabulary import Tokenizer
from ...errors import UserError
from ...files import JsonObject
from ...lm.checkpoints import read_checkpoint
from ..leakage import count_forms

COUNTS, WORD_COUNTS = "counts", "word_counts"  # in a checkpoint: of its vocabulary in order; of single words, if it uses pieces
BEST = "best.ckpt"


class KnownWords(Protocol):
    """Words with their frequency: a count, or, if nobody counted, an estimate suitable only for comparison."""

    name: str
    counted: bool

    def look_up(self, words: Iterable[str]) -> dict[str, float]:
        """Those of these words that are known, with their frequencies."""


class ListedWords:
    """Words with counts; without counts, in order of frequency."""

    def __init__(self, name: str, counts: Mapping[str, float], counted: bool) -> None:
        self.name, self.counts, self.counted = name, counts, counted

    @classmethod
    def ranked(cls, name: str, words: Sequence[str]) -> "ListedWords":
        """Frequency falls with rank (Zipf): the second word is half as frequent as the first."""
        return cls(name, {word: len(words) / rank for rank, word in enumerate(words, start=1)}, counted=False)

    def look_up(self, words: Iterable[str]) -> dict[str, float]:
        return {word: self.counts[word] for word in words if word in self.counts}


class SpelledWords:
    """The words of a model that reads pieces: it can spell them all, and nobody counted them."""

    counted = False

    def __init__(self, name: str, tokenizer: Tokenizer) -> None:
        self.name, self.tokenizer = name, tokenizer

    def look_up(self, words: Iterable[str]) -> dict[str, float]:
        return {word: 1.0 for word in words if word in self.tokenizer}


class CorpusWords:
    """The words of a corpus's tokenizer, counted in its training part."""

    counted = True

    def __init__(self, corpus: Corpus, name: str = "the training text") -> None:
        self.name, self.corpus = name, corpus
        counts = vocabulary_counts(corpus)
        self.listed = counts and ListedWords(name, dict(zip(corpus.vocabulary.words, counts, strict=True)), counted=True)

    def look_up(self, words: Iterable[str]) -> dict[str, float]:
        return self.listed.look_up(words) if self.listed else dict(count_forms(words, self.corpus))


class SharedWords:
    """What several models all know; a word's frequency is that of the model that saw it least."""

    def __init__(self, sources: Sequence[KnownWords]) -> None:
        self.sources = sources
        self.name = " and ".join(each.name for each in sources)
        self.counted = any(each.counted for each in sources)

    def look_up(self, words: Iterable[str]) -> dict[str, float]:
        words = list(words)
        found = [(each.counted, each.look_up(words)) for each in self.sources]
        # Estimates are meaningless beside counts.
        telling = [known for counted, known in found if counted or not self.counted]
        everywhere = (word for word in words if all(word in known for _, known in found))
        return {word: min(known[word] for known in telling) for word in everywhere}


def vocabulary_counts(corpus: Corpus) -> list[int] | None:
    """How often the training part has each word of the vocabulary; None if tokens are pieces of words."""
    if corpus.vocabulary.begins() is not None:
        return None
    counted: list[int] = np.bincount(np.asarray(corpus.train.ids), minlength=len(corpus.vocabulary)).tolist()
    return counted


def checkpoint_words(file: Path) -> KnownWords:
    """The words of a checkpoint; older ones, without counts, have their words in order of frequency."""
    return words_of_facts(str(file), read_checkpoint(file)["concord"])


def words_of_facts(name: str, facts: JsonObject) -> KnownWords:
    """From a checkpoint's own facts."""
    tokenizer = restore_tokenizer(dict(facts))
    if tokenizer.begins() is None:
        counts = facts.get(COUNTS)
        if counts is None:
            return ListedWords.ranked(name, tokenizer.words)
        return ListedWords(name, dict(zip(tokenizer.words, counts, strict=True)), counted=True)
    if facts.get(WORD_COUNTS):
        return ListedWords(name, facts[WORD_COUNTS], counted=True)
    return SpelledWords(name, tokenizer)


def read_words(path: Path) -> KnownWords:
    """A run folder, a checkpoint, or a file with one word per line, optionally followed by a tab and its count."""
    if path.is_dir():
        files = sorted([*path.glob("checkpoints/*.ckpt"), *path.glob("*.ckpt")], key=lambda file: (file.name != BEST, file.name))
        if not files:
            raise UserError(f"probes.lexicon: {path}: no checkpoint in this folder; give a run, a checkpoint or a word file")
        return checkpoint_words(files[0])
    if not path.exists():
        raise UserError(f"probes.lexicon: {path}: no such run, checkpoint or word file")
    return checkpoint_words(path) if path.suffix == ".ckpt" else _read_list(path)


def _read_list(path: Path) -> ListedWords:
    try:
        text = path.read_text(encoding="utf-8-sig")  # without the mark that some editors begin a file with
    except UnicodeDecodeError:
        raise UserError(
            f"probes.lexicon: {path}: not UTF-8; a word file has one word per line, optionally with a tab and its count"
        ) from None
    lines = {number: line.split("\t") for number, line in enumerate(text.split("\n"), start=1) if line.strip()}
    if not lines:
        raise UserError(f"probes.lexicon: {path}: contains no words; write one per line, optionally with a tab and its count")
    if all(len(line) == 1 for line in lines.values()):
        return _ranked(path, {number: line[0].strip() for number, line in lines.items()})
    counts: dict[str, float] = {}
    for number, line in lines.items():
        if len(line) != 2 or not line[0].strip() or not (line[1].isascii() and line[1].isdecimal()):
            raise UserError(f"probes.lexicon: {path}:{number}: {line!r}: must be a word, a tab and its count, as on other lines")
        if line[0] in counts:
            raise UserError(f"probes.lexicon: {path}:{number}: {line[0]} is on an earlier line, too; keep one of its counts")
        counts[line[0]] = float(line[1])
    return ListedWords(str(path), counts, counted=True)


def _ranked(path: Path, lines: Mapping[int, str]) -> ListedWords:
    """Words in order of frequency, by line; a repeated word has its first rank."""
    for number, line in lines.items():
        if " " in line:
            raise UserError(
                f"probes.lexicon: {path}:{number}: {line!r}: must be a single word; for the words of a text, run concord corpus"
            )
    return ListedWords.ranked(str(path), list(dict.fromkeys(lines.values())))


def write_words(file: Path, corpus: Corpus) -> Path | None:
    """Write a corpus's vocabulary with counts, as `read_words` reads it; nothing if tokens are pieces of words."""
    counts = vocabulary_counts(corpus)
    if counts is None:
        return None
    rows = zip(corpus.vocabulary.words, counts, strict=True)
    file.write_text("".join(f"{word}\t{count}\n" for word, count in rows), encoding="utf-8")
    return file


def log_frequency(counts: Iterable[float]) -> float:
    """The mean base-2 logarithm; a count of 0 is treated as ½."""
    logs = [math.log2(max(count, 0.5)) for count in counts]
    return sum(logs) / len(logs) if logs else 0.0
