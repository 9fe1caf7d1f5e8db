"""Cells with slots: `{n.sg}` is the item's cell of that column, `{^n[p,dat]}` a form of its lemma with a capital."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from ...settings.languages import Clitics
from .paradigms import Paradigm, paradigm

SLOT = re.compile(r"\{(\^?)([\w.]+)(?:\[([^\[\]{}]*)\])?\}")
COLUMN = re.compile(r"([\w.]+)(?:\s*:\s*(\w+(?:\[[^\[\]]*\])?))?")
LETTER = re.compile(r"\w")


class Column(NamedTuple):
    """A column of the items; if it names a paradigm, its cells are lemmas."""

    name: str
    paradigm: Paradigm | None


class TemplateSlot(NamedTuple):
    column: str
    capital: bool
    attributes: tuple[str, ...] | None  # None: the cell itself


class Template:
    """A cell of a condition: alternating words and slots. A ValueError says what is not a slot."""

    def __init__(self, text: str) -> None:
        self.parts: list[str | TemplateSlot] = []
        done = 0
        for match in SLOT.finditer(text):
            self._add_words(text[done : match.start()])
            attributes = None if match[3] is None else tuple(a.strip() for a in match[3].split(",") if a.strip())
            self.parts.append(TemplateSlot(match[2], bool(match[1]), attributes))
            done = match.end()
        self._add_words(text[done:])

    @property
    def slots(self) -> list[str]:
        return [part.column for part in self.parts if isinstance(part, TemplateSlot)]

    def fill(self, columns: Mapping[str, Column], values: Mapping[str, str], capital: bool) -> tuple[str, bool]:
        """The words of an item, and whether a capital is still due: one that fell on an empty slot waits for the next letter."""
        filled = ""
        for part in self.parts:
            text = part if isinstance(part, str) else _form(part, columns[part.column], values[part.column])
            capital |= isinstance(part, TemplateSlot) and part.capital
            if capital and LETTER.search(text):
                text, capital = capitalized(text), False
            filled += text
        return " ".join(filled.split()), capital

    def _add_words(self, text: str) -> None:
        if "{" in text or "}" in text:
            raise ValueError(f"bad braces in {text.strip()[:40]!r}; a slot is {{column}}, {{^column}} or {{column[attributes]}}")
        if text:
            self.parts.append(text)


def columns_of(head: str, language: str, clitics: Clitics) -> dict[str, Column]:
    """The columns of the items by name, in order. A ValueError says what is wrong with one."""
    columns: dict[str, Column] = {}
    for cell in head.split("|"):
        match = COLUMN.fullmatch(cell.strip())
        if not match:
            raise ValueError(
                f"{cell.strip()[:40]!r} is not a column; write a name (letters, digits, _ .) or name: PARADIGM[attributes]"
            )
        if match[1] in columns:
            raise ValueError(f"the column {match[1]} appears twice")
        columns[match[1]] = Column(match[1], paradigm(language, match[2], clitics) if match[2] else None)
    return columns


def capitalized(text: str) -> str:
    """The first letter in upper case, whatever marks precede it."""
    return LETTER.sub(lambda match: match[0].upper(), text, count=1)


def _form(slot: TemplateSlot, column: Column, cell: str) -> str:
    if column.paradigm is None:
        if slot.attributes is not None:
            raise ValueError(
                f"{{{slot.column}[…]}} requests a form, but the column names no paradigm; write {slot.column}: N_1[m]"
            )
        return cell
    if not cell:
        return ""
    return column.paradigm.lemma(cell) if slot.attributes is None else column.paradigm.form(cell, slot.attributes)
