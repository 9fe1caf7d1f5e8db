"""Lines, JSON objects and table rows of strangers' files, with errors that say where."""

import gzip
import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from .challenge_set import SetError


def lines(file: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines, without their ends; blank ones are left out. Compressed files by their ending."""
    try:
        with _opened(file) as stream:
            for number, raw in enumerate(stream, start=1):
                text = _decoded(raw, file, number).rstrip("\r\n")
                if text.strip():
                    yield number, text
    except (EOFError, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise SetError(file, None, f"cannot be decompressed ({error}); it is cut off or not a {file.suffix} file") from None


def _opened(file: Path) -> IO[bytes] | gzip.GzipFile:
    if file.suffix == ".gz":
        return gzip.open(file, "rb")
    return lzma.open(file, "rb") if file.suffix == ".xz" else file.open("rb")


def _decoded(raw: bytes, file: Path, number: int) -> str:
    try:
        return raw.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise SetError(file, number, f"not UTF-8: byte 0x{raw[error.start]:02x}; save the file as UTF-8") from None


def objects(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """A JSON object a line."""
    for number, line in lines(file):
        try:
            value = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise SetError(file, number, f"not JSON ({error}); each line must be one object") from None
        if not isinstance(value, dict):
            raise SetError(file, number, f"a JSON object is needed here, this is {type(value).__name__}")
        yield number, value


def rows(file: Path, *needed: str) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a table with a head, cells separated by tabs; some columns must be there."""
    numbered = lines(file)
    _, head = next(numbered, (1, ""))
    names = head.split("\t")
    if len(set(names)) < len(names):
        raise SetError(file, 1, f"a column is there twice in the head: {names}")
    if missing := [name for name in needed if name not in names]:
        raise SetError(file, 1, f"the columns {', '.join(missing)} are missing; there are {names}")
    for number, line in numbered:
        cells = line.split("	")
        if len(cells) != len(names):
            raise SetError(file, number, f"{len(cells)} cells, but the head has {len(names)}")
        yield number, dict(zip(names, cells, strict=True))


def text_field(item: dict[str, Any], key: str, file: Path, number: int) -> str:
    """A field that must be there and be text that is not empty."""
    value = item.get(key)
    if not isinstance(value, str) or not value.split():
        raise SetError(file, number, f"the field {key!r} must be text; it is {str(value)[:40]!r}")
    return value
