"""Text files: plain or compressed, raw prose or already tokenised, as sentences of tokens."""

import gzip
import lzma
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import IO

import sentencex

from .errors import UserError
from .tokens import TokenRule
from .vocabulary import EOS


class TextError(UserError):
    """A corpus file that cannot be used: which, where, why and what to do."""


class RawText:
    """Prose, a paragraph a line: cut into sentences by sentencex and into tokens by the language's rule."""

    def __init__(self, language: str, rule: TokenRule) -> None:
        self.language = language
        self.rule = rule

    def __call__(self, line: str) -> Iterator[list[str]]:
        for sentence in sentencex.segment(self.language, line):
            tokens = self.rule(sentence)
            if tokens:
                yield tokens

    def key(self) -> str:
        return (
            f"raw:{metadata.version('sentencex')}:{self.language}:{self.rule.pattern.pattern}:{sorted(self.rule.replace.items())}"
        )


class TokenizedText:
    """A sentence a line, tokens separated by spaces, used as it is. An `<eos>` in it ends a sentence, as the line's end does."""

    def __call__(self, line: str) -> Iterator[list[str]]:
        for sentence in f" {line} ".split(f" {EOS} "):
            tokens = sentence.split()
            if tokens:
                yield tokens

    def key(self) -> str:
        return "tokenized"


Reader = RawText | TokenizedText


def sentences(file: Path, reader: Reader) -> Iterator[list[str]]:
    """The sentences of a file, in order."""
    for line in lines(file):
        yield from reader(line)


def lines(file: Path) -> Iterator[str]:
    """The lines of a file, decompressed by its ending; not UTF-8 is an error that gives the byte offset."""
    offset = 0
    with _open(file) as stream:
        try:
            for number, raw in enumerate(stream, start=1):
                yield _decoded(raw, file, number, offset)
                offset += len(raw)
        except (EOFError, lzma.LZMAError, gzip.BadGzipFile) as error:
            raise TextError(f"{file}: cannot be decompressed ({error}); it is cut off or not a {file.suffix} file") from None


def _decoded(raw: bytes, file: Path, number: int, offset: int) -> str:
    try:
        return raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        at = offset + error.start
        raise TextError(
            f"{file}:{number}: not UTF-8: byte 0x{raw[error.start]:02x} at offset {at:,}; convert the file (iconv does it)"
        ) from None


def _open(file: Path) -> IO[bytes] | gzip.GzipFile:
    if not file.exists():
        raise TextError(f"{file}: there is no such file; give data.path= a text file (.txt, .gz or .xz)")
    if file.is_dir():
        raise TextError(f"{file}: this is a folder; give data.path= a file, or data.train= data.valid= data.test=")
    if file.suffix == ".gz":
        return gzip.open(file, "rb")
    if file.suffix == ".xz":
        return lzma.open(file, "rb")
    return file.open("rb")
