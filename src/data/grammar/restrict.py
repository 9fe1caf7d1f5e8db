"""A grammar restricted to some of its words: a paradigm row stays or goes as a whole, and so do phrases that lose all words."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from .clitics import MARK
from .frames import Frame, frames
from .notation import Alternative, Varied
from .notices import SourceLine
from .rules import START, Grammar, Symbol
from .unroll import unroll
from .variation import counterparts, vary_items


class LexiconRow(NamedTuple):
    """What stays or goes together: a paradigm row by its line, a word of a list by its line and itself."""

    place: SourceLine
    word: str


class FormOccurrence(NamedTuple):
    """A form in a position where the grammar's sentences have it: its row, and its spelling, including clitics before it."""

    row: LexiconRow
    symbol: Symbol
    marked: str  # with + after clitics
    begins: bool  # whether it starts its sentences


def row_of(alternative: Alternative) -> LexiconRow:
    """The row that a form belongs to."""
    return LexiconRow(alternative.place, str(alternative) if alternative.lexeme is None else alternative.lexeme)


def is_wordy(alternative: Alternative) -> bool:
    """Whether it stands only for words."""
    return all(isinstance(part, str) for part in alternative.parts)


def occurrences(grammar: Grammar) -> Iterator[FormOccurrence]:
    """Every form in every position that a sentence can have it in, including what it varies with."""
    seen: set[FormOccurrence] = set()
    for frame in frames(unroll(grammar)):
        for index, slot in enumerate(frame.slots):
            if slot.symbol is not None:
                for found in _in_slot(grammar, frame, index, slot.symbol):
                    if found not in seen:
                        seen.add(found)
                        yield found


def _in_slot(grammar: Grammar, frame: Frame, index: int, symbol: Symbol) -> Iterator[FormOccurrence]:
    glued, begins = _clitics_before(frame, index)
    varied = counterparts(grammar, symbol) if vary_items(grammar, symbol.name) else []
    for each in (symbol, *varied):
        for alternative in filter(is_wordy, grammar.rules[each]):
            yield FormOccurrence(row_of(alternative), each, f"{glued}{alternative}", begins)


def _clitics_before(frame: Frame, index: int) -> tuple[str, bool]:
    """What is joined to the word in this slot, and whether a sentence starts with it."""
    first = index
    while first and all(MARK.search(form) and " " not in form for form in frame.slots[first - 1].forms):
        first -= 1
    return "".join(f"{slot.forms[0]} " for slot in frame.slots[first:index]), first == 0


def fixed_words(grammar: Grammar) -> dict[str, None]:
    """The words written in the rules themselves, without clitics, which are part of the next word."""
    slots = (slot for frame in frames(unroll(grammar)) for slot in frame.slots if slot.symbol is None)
    return dict.fromkeys(word for slot in slots for form in slot.forms for word in form.split() if not MARK.search(word))


def restrict(grammar: Grammar, keeps: Callable[[LexiconRow], bool]) -> Grammar | None:
    """The grammar with the kept rows; None if it has no sentence left."""
    rules = {
        symbol: [each for each in body if not is_wordy(each) or symbol == START or keeps(row_of(each))]
        for symbol, body in grammar.rules.items()
    }
    while lost := {symbol for symbol, body in rules.items() if not body}:
        rules = {
            symbol: [each for each in body if not _mentions(each, lost)] for symbol, body in rules.items() if symbol not in lost
        }
    if START not in rules:
        return None
    lines = (replace(line, items=tuple(i for i in line.items if all(_is_left(v, rules) for v in i))) for line in grammar.vary)
    return replace(grammar, rules=rules, vary=tuple(line for line in lines if line.items), notices=())


def _is_left(varied: Varied, rules: Mapping[Symbol, list[Alternative]]) -> bool:
    kept = frozenset(varied.attributes)
    return any(symbol.name == varied.name and kept <= symbol.attributes for symbol in rules)


def _mentions(alternative: Alternative, lost: set[Symbol]) -> bool:
    references = (part for part in alternative.parts if not isinstance(part, str))
    return any(Symbol(each.name, frozenset(each.attributes)) in lost for each in references)
