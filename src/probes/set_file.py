"""Lines, JSON objects and table rows of untrusted files, with errors that say where."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..files import read_lines
from .challenge_set import SetError


def lines(file: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines, without blank ones."""
    empty = True
    for number, text in enumerate(read_lines(file, SetError), start=1):
        if text.strip():
            empty = False
            yield number, text
    if empty:
        raise SetError(file, None, "the file is empty")


def objects(file: Path) -> Iterator[tuple[int, dict[str, object]]]:
    """One JSON object per line."""
    for number, line in lines(file):
        value = parse_json(line, file, number)
        if not isinstance(value, dict):
            raise SetError(file, number, f"must be a JSON object; this is {type(value).__name__}")
        yield number, value


def parse_json(text: str, file: Path, number: int | None = None) -> Any:
    """JSON; errors give the line."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise SetError(file, number or error.lineno, f"not JSON ({error.msg}, at character {error.colno})") from None
    except RecursionError:
        raise SetError(file, number, "nested too deeply to be a challenge set") from None
    except ValueError as error:  # an integer with thousands of digits
        raise SetError(file, number, f"not JSON that can be read ({error})") from None
    if "\\ud" in text.lower() and not encodable(json.dumps(value, ensure_ascii=False)):
        raise SetError(file, number, "half a character (a lone \\ud800 to \\udfff); write the character itself")
    return value


def encodable(text: str) -> bool:
    """Whether a text can be written: half a surrogate pair cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def whole_number(text: str) -> int | None:
    """A count as in tables; None for anything else."""
    return int(text) if re.fullmatch(r"\d{1,9}", text.strip()) else None


def rows(file: Path, *needed: str) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a table with a header, cells separated by tabs; some columns are required."""
    numbered = lines(file)
    first, head = next(numbered)
    names = head.split("\t")
    if len(set(names)) < len(names):
        raise SetError(file, first, f"the header has a column twice: {names}")
    if missing := [name for name in needed if name not in names]:
        raise SetError(file, first, f"the columns {', '.join(missing)} are missing; found: {names}")
    number = first
    for number, line in numbered:
        cells = line.split("\t")
        if len(cells) != len(names):
            raise uneven_row(file, number, len(cells), len(names))
        yield number, dict(zip(names, map(_unquoted, cells), strict=True))
    if number == first:
        raise SetError(file, first, "a header, but no rows")


def _unquoted(cell: str) -> str:
    """Table writers quote cells that contain quotation marks, and double those inside."""
    inner = cell[1:-1]
    quoted = cell[:1] == cell[-1:] == '"' and '""' in inner and '"' not in inner.replace('""', "")
    return inner.replace('""', '"') if quoted else cell


def text_field(item: dict[str, object], key: str, file: Path, number: int) -> str:
    """A required, non-empty text field."""
    value = item.get(key)
    if not isinstance(value, str) or not value.split():
        raise SetError(file, number, f"the field {key!r} must be text; it is {str(value)[:40]!r}")
    return value


def texts(file: Path) -> Iterator[tuple[int, str]]:
    """Every text of a file verbatim: the cells of a table, the values of JSON lines."""
    for number, line in lines(file):
        values = _leaves(parse_json(line, file, number)) if file.suffix == ".jsonl" else line.split("\t")
        yield from ((number, value) for value in values)


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _leaves(part)
    elif isinstance(value, str):
        yield value


def uneven_row(file: Path, number: int, cells: int, names: int) -> SetError:
    """A row that has more or fewer cells than the header."""
    return SetError(file, number, f"{cells} cell{'' if cells == 1 else 's'}, but the header has {names}")
