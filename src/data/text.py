"""Text files: plain or compressed, raw prose or already tokenised, as sentences of tokens."""

import glob
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

import sentencex

from ..errors import UserError
from ..files import read_lines
from .blocks import Chunk, Reader, chunks
from .tokens import Tokenization
from .vocabulary import EOS

ENDINGS = ".txt, or compressed .gz .xz .bz2; UTF-8"
OTHERWISE_COMPRESSED = (".zst", ".zip", ".7z", ".lz4", ".rar", ".tar", ".tgz")
# Where sentencex 1.0.32 panics: a capital, white space of several bytes and a full stop, `vitamin C\u00a0.`
UNCUTTABLE = re.compile(r"(?<=[A-Z])\s*[^\S\x00-\x7f]\s*(?=\.)")


class TextError(UserError):
    """A corpus file that cannot be used: which, where, why and what to do."""


class _LineReader:
    """Text read line by line, so that it can be cut after each."""

    def __call__(self, line: str) -> Iterator[list[str]]:
        raise NotImplementedError

    def read(self, chunk: Chunk, left_out: Counter[str]) -> Iterator[list[str]]:
        for line in chunk.lines:
            yield from self(line)

    def ends(self, line: str) -> bool:
        return True


class RawText(_LineReader):
    """Prose, one paragraph per line: split into sentences by sentencex and into tokens by the language's rule."""

    def __init__(self, language: str, rule: Tokenization) -> None:
        self.language = language
        self.rule = rule

    def __call__(self, line: str) -> Iterator[list[str]]:
        for sentence in _segment(self.language, line):
            tokens = self.rule(sentence)
            if tokens:
                yield tokens

    def key(self) -> str:
        return f"raw:{metadata.version('sentencex')}:{self.language}:{self.rule.key()}"


def _segment(language: str, line: str) -> list[str]:
    try:
        return list(sentencex.segment(language, UNCUTTABLE.sub(" ", line)))
    except BaseException as error:  # a panic in Rust is no Exception
        if type(error).__name__ != "PanicException":
            raise
        raise TextError(f"sentencex cannot split the line {line[:60]!r} into sentences; change or remove it") from None


class TokenizedText(_LineReader):
    """One sentence per line, tokens separated by spaces, used as it is. An `<eos>` in it ends a sentence, like a line end."""

    def __call__(self, line: str) -> Iterator[list[str]]:
        for sentence in f" {line} ".split(f" {EOS} "):
            tokens = sentence.split()
            if tokens:
                yield tokens

    def key(self) -> str:
        return "tokenized"


def sentences(file: Path, reader: Reader) -> Iterator[list[str]]:
    """The sentences of a file, in order."""
    for chunk in chunks(str(file), lines(file), reader):
        yield from reader.read(chunk, Counter())


def files_of(patterns: str | Sequence[str]) -> tuple[Path, ...]:
    """Files and globs, in the given order; the files of a glob by name. Each file once."""
    found: dict[Path, None] = {}
    for pattern in map(os.path.expanduser, [patterns] if isinstance(patterns, str) else patterns):
        is_glob = glob.has_magic(pattern) and not Path(pattern).is_file()  # a file may be called `novels [1].txt`
        matches = sorted(glob.glob(pattern, recursive=True)) if is_glob else [pattern]  # noqa: PTH207
        if not matches:
            raise TextError(f"{pattern}: no file matches; give data.path= text files ({ENDINGS})")
        found |= dict.fromkeys(map(Path, matches))
    return tuple(found)


def check_files(files: Sequence[Path]) -> None:
    """Check that all are readable files."""
    for file in files:
        if file.is_dir():
            raise TextError(f"{file}: is a folder; name the files in it, for instance data.path='{file}/*.txt'")
        if not file.is_file():
            raise TextError(f"{file}: no such file; give data.path= text files ({ENDINGS})")
        if file.suffix in OTHERWISE_COMPRESSED:
            raise TextError(f"{file}: {file.suffix} files cannot be read; unpack it, or give {ENDINGS}")


def lines(file: Path) -> Iterator[str]:
    """The lines of a file of text."""
    check_files([file])
    yield from read_lines(
        file, lambda file, line, message: TextError(f"{file}:{line}: {message}" if line else f"{file}: {message}")
    )
