"""The `.suite` page that linguists write: a head, one template per condition, predictions by names, one row per item.

It compiles to a suite: slots are filled from the row, `verb@match < verb@mismatch` becomes `(5;%match%) < (5;%mismatch%)`.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ...settings.languages import Clitics
from ..challenge_set import SetError
from .circuits import CIRCUITS
from .formula_parser import FormulaError, parse, translate
from .json_files import read_text
from .region_names import nearest, notation_of
from .suite import Condition, Item, Json, Prediction, Region, Suite, prediction
from .templates import Column, Template, columns_of

SUFFIX = ".suite"
NEEDED = ("name", "language", "circuit", "joiner", "regions")
OPTIONAL = ("phenomenon", "base", "tier", "item_rule", "metric", "comment", "reference", "author")
SECTIONS = ("conditions", "predictions", "items")
ALLOWED = {
    "circuit": CIRCUITS,
    "joiner": ("running", "blank"),
    "tier": ("core", "full"),
    "item_rule": ("all", "first", "each"),
    "metric": ("sum", "mean", "median", "min", "max", "range"),
}
COMMENT = re.compile(r"(^|\s)#.*")
NAME = re.compile(r"[^\W\d][\w.-]*")
KEY = re.compile(r"([^\s:]+)\s*:\s*(.*)")


class Line(NamedTuple):
    number: int
    text: str


@dataclass
class Page:
    """The lines of a page by what they belong to."""

    file: str
    head: dict[str, Line] = field(default_factory=dict)
    sections: dict[str, list[Line]] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)  # where each key or section begins

    def error(self, line: int | None, message: str) -> SetError:
        return SetError(self.file, line, message)


def read_page(file: Path) -> Suite:
    """The suite that a page describes."""
    text = read_text(file)
    page = _cut(text, str(file))
    _check_head(page)
    regions = _region_names(page)
    templates = _templates(page, regions)
    items = tuple(_items(page, regions, templates))
    meta: dict[str, Json] = {"name": page.head["name"].text, "metric": "sum"}
    meta |= {key: line.text for key, line in page.head.items() if key not in ("regions", "name")}
    meta |= {"page": file.name, "page_digest": hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}
    predictions = tuple(_predictions(page, regions, [name for name, _ in templates]))
    return Suite(str(file), meta, dict(enumerate(regions, start=1)), predictions, items)


def _cut(text: str, file: str) -> Page:
    """Lines into head and sections. A line that is not indented starts something new."""
    page, section = Page(file), ""
    for number, raw in enumerate(text.split("\n"), start=1):
        line = COMMENT.sub("", raw).rstrip()
        if not line:
            continue
        if line[0].isspace():
            if not section:
                raise page.error(number, f"an indented line outside {', '.join(SECTIONS)}: {line.strip()[:40]!r}")
            page.sections[section].append(Line(number, line.strip()))
        else:
            section = _begin(page, number, line)
    return page


def _begin(page: Page, number: int, line: str) -> str:
    """A line of the head, or the start of a section, whose name is returned."""
    match = KEY.fullmatch(line)
    if not match:
        raise page.error(number, f"{line[:40]!r} is neither `key: value` nor an indented line of a section")
    key, value = match[1], match[2].strip()
    if key in page.lines:
        raise page.error(number, f"{key}: appears twice, first in line {page.lines[key]}")
    page.lines[key] = number
    if key in SECTIONS:
        if value:
            raise page.error(number, f"{key}: takes indented lines below it, but is followed by {value[:40]!r}")
        page.sections[key] = []
        return key
    if key not in (*NEEDED, *OPTIONAL):
        raise page.error(number, f"unknown key {key[:40]!r}; {nearest(key, (*NEEDED, *OPTIONAL, *SECTIONS))}")
    if not value:
        raise page.error(number, f"{key}: has no value; write one or remove the line")
    page.head[key] = Line(number, value)
    return ""


def _check_head(page: Page) -> None:
    for key in (*NEEDED, *SECTIONS):
        if not page.head.get(key) and not page.sections.get(key):
            raise page.error(page.lines.get(key), f"{key}: is missing or empty; a page needs {', '.join((*NEEDED, *SECTIONS))}")
    for key, allowed in ALLOWED.items():
        if (line := page.head.get(key)) and line.text not in allowed:
            raise page.error(line.number, f"{key}: {line.text[:40]!r}; it must be one of {', '.join(allowed)}")
    for key in ("name", "base", "language"):
        if (line := page.head.get(key)) and not re.fullmatch(r"[\w-]+", line.text):
            raise page.error(line.number, f"{key}: {line.text[:40]!r}; a name may have letters, digits, _ and - only")


def _region_names(page: Page) -> list[str]:
    line = page.head["regions"]
    names = [name.strip() for name in line.text.split("|")]
    for name in names:
        _check_name(page, line.number, "region", name)
    if len(set(names)) < len(names):
        raise page.error(line.number, f"regions: a name appears twice: {' | '.join(names)}")
    return names


def _check_name(page: Page, line: int, kind: str, name: str) -> None:
    if not NAME.fullmatch(name):
        raise page.error(line, f"{kind} {name[:40]!r}: a name must start with a letter and have only letters, digits, _ . or -")


def _named(page: Page, section: str) -> list[tuple[str, Line]]:
    """The `name: value` lines of a section."""
    found: dict[str, Line] = {}
    for line in page.sections[section]:
        name, colon, value = line.text.partition(":")
        if not colon:
            raise page.error(line.number, f"{line.text[:40]!r} in {section}: write name: and its value")
        _check_name(page, line.number, section.removesuffix("s"), name.strip())
        if name.strip() in found:
            raise page.error(line.number, f"{section}: {name.strip()} appears twice, first in line {found[name.strip()].number}")
        found[name.strip()] = Line(line.number, value.strip())
    return list(found.items())


def _templates(page: Page, regions: list[str]) -> list[tuple[str, list[Template]]]:
    made = []
    for name, line in _named(page, "conditions"):
        cells = [cell.strip() for cell in line.text.split("|")]
        if len(cells) != len(regions):
            raise page.error(
                line.number, f"{name} has {len(cells)} cells, but there are {len(regions)} regions ({' | '.join(regions)})"
            )
        try:
            made.append((name, [Template(cell) for cell in cells]))
        except ValueError as error:
            raise page.error(line.number, f"{name}: {error}") from None
    return made


def _items(page: Page, regions: list[str], templates: list[tuple[str, list[Template]]]) -> Iterable[Item]:
    head, *rows = page.sections["items"]
    columns = _columns(page, head)
    if not rows:
        raise page.error(head.number, "items: a header, but no rows; write one line per item")
    lines = {name: line.number for name, line in _named(page, "conditions")}
    for name, cells in templates:
        for slot in (slot for cell in cells for slot in cell.slots):
            if slot not in columns:
                raise page.error(lines[name], f"{name}: no column {slot!r} in items; {nearest(slot, columns)}")
    for number, row in enumerate(rows, start=1):
        values = _row(page, row, columns)
        yield Item(number, tuple(_condition(page, row.number, name, cells, columns, values) for name, cells in templates))


def _columns(page: Page, head: Line) -> dict[str, Column]:
    clitics: Clitics = "joined" if page.head["joiner"].text == "running" else "split"
    try:
        return columns_of(head.text, page.head["language"].text, clitics)
    except ValueError as error:
        raise page.error(head.number, f"items: {error}") from None


def _row(page: Page, row: Line, columns: dict[str, Column]) -> dict[str, str]:
    cells = [" ".join(cell.split()) for cell in row.text.split("|")]
    if len(cells) != len(columns):
        raise page.error(
            row.number, f"this item has {len(cells)} cells, but the header has {len(columns)} ({' | '.join(columns)})"
        )
    return dict(zip(columns, cells, strict=True))


def _condition(
    page: Page, line: int, name: str, cells: list[Template], columns: dict[str, Column], values: dict[str, str]
) -> Condition:
    """The regions of a condition. A capital that falls on an empty slot moves to the next word."""
    regions, capital = [], False
    for number, cell in enumerate(cells, start=1):
        try:
            content, capital = cell.fill(columns, values, capital)
        except ValueError as error:
            raise page.error(line, f"{name}: {error}") from None
        regions.append(Region(number, content))
    if not any(region.content for region in regions):
        raise page.error(line, f"{name}: all regions of this item are empty")
    return Condition(name, tuple(regions))


def _predictions(page: Page, regions: list[str], conditions: list[str]) -> Iterable[Prediction]:
    notation = notation_of(regions, conditions)
    for name, line in _named(page, "predictions"):
        if not line.text:
            raise page.error(line.number, f"prediction {name} has no formula; write for instance {notation.example}")
        try:
            parse(line.text, notation)
        except FormulaError as error:
            raise page.error(line.number, f"prediction {name}: {error}") from None
        yield prediction(page.file, line.number, translate(line.text, notation), name, {"type": "formula"})
