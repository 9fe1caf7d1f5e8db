"""Surprisal word by word: for a sentence, an object to look at; for a file, a table with one row per word."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import csv, parquet

from ..data.text import lines
from ..errors import UserError
from ..files import replace_atomically
from .scorers import ProbeSentence, Scorer

Words = Sequence[str]
# What a model reads each word of a sentence as; an empty tuple if unknown.
CutIntoPieces = Callable[[Words], list[tuple[str, ...]]]
SUFFIXES = (".tsv", ".parquet")


@dataclass(frozen=True)
class WordSurprisal:
    """One word: its surprisal in bits, the pieces the model reads it as, and whether it is unknown to the model."""

    word: str
    bits: float
    pieces: tuple[str, ...] = ()
    unknown: bool = False


@dataclass(frozen=True)
class SentenceSurprisal(Sequence[WordSurprisal]):
    """The words of a sentence, each given everything to its left. It prints as a small table."""

    words: tuple[WordSurprisal, ...]

    def __getitem__(self, place: int) -> WordSurprisal:  # type: ignore[override]
        return self.words[place]

    def __len__(self) -> int:
        return len(self.words)

    @property
    def bits(self) -> list[float]:
        return [word.bits for word in self.words]

    @property
    def total(self) -> float:
        """Bits of the whole sentence."""
        return math.fsum(self.bits)

    @property
    def mean(self) -> float:
        """Bits per word."""
        return self.total / len(self)

    def __repr__(self) -> str:
        width = max([len(word.word) for word in self.words], default=0)
        rows = [f"{word.word:<{width}} {word.bits:7.2f}{' <unk>' if word.unknown else ''}" for word in self.words]
        return "\n".join([*rows, f"{'sum':<{width}} {self.total:7.2f} bits"])


def bits(logprob: float) -> float:
    """Surprisal in bits of a log-probability in nats."""
    return -logprob / math.log(2) + 0.0


def measure_surprisal(scorer: Scorer, sentences: Sequence[Words], cut: CutIntoPieces) -> list[SentenceSurprisal]:
    """The surprisal of every word of every sentence; all sentences are scored together."""
    scores = scorer.score([ProbeSentence(" ".join(words)) for words in sentences])
    scores.require_finite()
    found = []
    for number, words in enumerate(sentences):
        start = int(scores.firsts[number])
        rows = (
            WordSurprisal(word, bits(float(scores.logprobs[start + i])), pieces, bool(scores.unknown[start + i]))
            for i, (word, pieces) in enumerate(zip(words, cut(words), strict=True))
        )
        found.append(SentenceSurprisal(tuple(rows)))
    return found


# ------------------------------------------------------------------------ files


def read_sentences(file: Path) -> dict[int, str]:
    """The sentences of a text file (possibly compressed), one per line, by line number; empty lines are skipped."""
    if not file.is_file():
        raise UserError(f"{file}: no such file; it must have one sentence per line")
    found = {number: line.strip() for number, line in enumerate(lines(file), start=1) if line.strip()}
    if not found:
        raise UserError(f"{file}: contains no sentences; write one per line")
    return found


def surprisal_table(model: str, measured: dict[int, SentenceSurprisal]) -> pa.Table:
    """One row per word: the model, the sentence's line, the word's position in it (from 1), bits, pieces, unknown."""
    rows = [(line, place, word) for line, sentence in measured.items() for place, word in enumerate(sentence, start=1)]
    return pa.table(
        {
            "model": pa.array([model] * len(rows), pa.string()),
            "sentence": pa.array([line for line, _, _ in rows], pa.int64()),
            "place": pa.array([place for _, place, _ in rows], pa.int64()),
            "word": pa.array([word.word for _, _, word in rows], pa.string()),
            "bits": pa.array([word.bits for _, _, word in rows], pa.float64()),
            "pieces": pa.array([" ".join(word.pieces) for _, _, word in rows], pa.string()),
            "unknown": pa.array([word.unknown for _, _, word in rows], pa.bool_()),
        }
    )


def check_surprisal_file(file: Path) -> None:
    """Check before any work that the suffix gives a known format."""
    if file.suffix not in SUFFIXES:
        raise UserError(f"out={file}: word rows are written as {' or '.join(SUFFIXES)}; use one of these suffixes")


def write_surprisals(file: Path, tables: Sequence[pa.Table]) -> Path:
    """The rows of all models in one file, in the format of its suffix."""
    check_surprisal_file(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    whole = pa.concat_tables(tables)
    with replace_atomically(file) as new:
        if file.suffix == ".parquet":
            parquet.write_table(whole, new, compression="zstd")
        else:
            csv.write_csv(whole, new, csv.WriteOptions(delimiter="\t", quoting_style="needed"))
    return file


def no_pieces(words: Words) -> list[tuple[str, ...]]:
    """For models that do not say how they read a word."""
    return [() for _ in words]
