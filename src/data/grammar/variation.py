"""What a `vary:` line does to a frame: which slots change, to which forms, and which of these test nothing.

The semantics are those of Mueller et al. (2020), section 3. `V[]` replaces a form of V by every other form; `V[1]`
by those that share the attribute 1; items separated by `;` add up. `V[1] to [3]`, our extension, replaces a V that has
the attribute 1 by the one that has 3 instead. The grammatical form is never among the others.
Forms are paired by their position in the list.
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from .frames import Frame, Lexeme
from .notation import Varied
from .notices import GrammarError, Notice
from .rules import Grammar, Symbol
from .unroll import Node, parents_first


class Version(NamedTuple):
    """One way to fill the varied slots: a form for each, their lengths, what was changed ('' for the grammatical one)."""

    forms: tuple[str, ...]
    lengths: tuple[int, ...]
    change: str


@dataclass(frozen=True, slots=True)
class Unit:
    """Slots that change together. `forms[change][slot][position]`; change 0 is the grammatical one."""

    slots: tuple[int, ...]
    changes: tuple[str, ...]
    forms: tuple[tuple[tuple[str, ...], ...], ...]

    def positions(self) -> Iterator[tuple[int, ...]]:
        return itertools.product(*(range(len(forms)) for forms in self.forms[0]))

    def versions(self, position: tuple[int, ...]) -> list[Version]:
        """The grammatical version and those that differ from it, without syncretic ones."""
        rows = [tuple(f[p] for f, p in zip(forms, position, strict=True)) for forms in self.forms]
        kept = [(row, change) for row, change in zip(rows, self.changes, strict=True) if not change or row != rows[0]]
        return [Version(row, tuple(map(word_count, row)), change) for row, change in kept]


class Variation:
    """The varied slots of one frame, and every setting of them."""

    def __init__(self, grammar: Grammar, frame: Frame, lexemes: Mapping[int, tuple[Lexeme, ...]]) -> None:
        self.grammar = grammar
        self.lexemes = lexemes
        self.units = tuple(self._units(frame))
        self.slots = tuple(sorted(slot for unit in self.units for slot in unit.slots))
        self.size = math.prod(len(forms) for unit in self.units for forms in unit.forms[0])

    def settings(self) -> Iterator[tuple[list[Version], int, list[Lexeme]]]:
        """For each choice of words in the varied slots: its versions, how many were left out as syncretic, and the words that
        must not be repeated.

        The first version is the grammatical one. With several units a version is grammatical only if all of them are.
        """
        order = [slot for unit in self.units for slot in unit.slots]
        back = [order.index(slot) for slot in self.slots]
        full = math.prod(len(unit.changes) for unit in self.units)
        for positions in itertools.product(*(unit.positions() for unit in self.units)):
            parts = [unit.versions(position) for unit, position in zip(self.units, positions, strict=True)]
            versions = []
            for combination in itertools.product(*parts):
                forms = [form for version in combination for form in version.forms]
                change = "+".join(version.change for version in combination if version.change)
                ordered = tuple(forms[i] for i in back)
                versions.append(Version(ordered, tuple(map(word_count, ordered)), change))
            chosen = zip(order, itertools.chain.from_iterable(positions), strict=True)
            words = [self.lexemes[slot][position] for slot, position in chosen if slot in self.lexemes]
            yield versions, full - len(versions), words

    def _units(self, frame: Frame) -> Iterator[Unit]:
        taken: set[int] = set()
        for index, slot in enumerate(frame.slots):
            if index in taken or slot.symbol is None:
                continue
            mine = vary_items(self.grammar, slot.symbol.name)
            if not mine:
                continue
            together = {reference.name for item in mine if len(item) > 1 for reference in item}
            members = [index] + [i for i, s in enumerate(frame.slots) if i > index and s.symbol and s.symbol.name in together]
            taken.update(members)
            yield self._unit(frame, tuple(members))

    def _unit(self, frame: Frame, members: tuple[int, ...]) -> Unit:
        symbols = [symbol for i in members if (symbol := frame.slots[i].symbol) is not None]
        self._check_chosen(symbols[0])
        versions = [symbols]
        changes = [""]
        for lead in counterparts(self.grammar, symbols[0]):
            gained = lead.attributes - symbols[0].attributes
            lost = symbols[0].attributes - lead.attributes
            changed = [lead] + [Symbol(s.name, (s.attributes - lost) | gained) for s in symbols[1:]]
            versions.append(changed)
            changes.append(self._label(lead, gained))
        forms = tuple(tuple(self._forms(symbol, symbols[k]) for k, symbol in enumerate(row)) for row in versions)
        return Unit(members, tuple(changes), forms)

    def _check_chosen(self, own: Symbol) -> None:
        """A form that a line selects must exist."""
        for vary in self.grammar.vary:
            for varied in (v for item in vary.items for v in item if v.name == own.name and v.to):
                target = exchanged(varied, own)
                if frozenset(varied.attributes) <= own.attributes and target not in self.grammar.rules:
                    raise self.grammar.undefined(target, vary.place)

    def _label(self, symbol: Symbol, gained: frozenset[str]) -> str:
        """What changed, in the terms of the attribute declarations: `plural`, `intrusive`."""
        written = self.grammar.written[symbol].attributes
        return "-".join(self.grammar.label(a) for a in written if a in gained) or self.grammar.spell(symbol)

    def _forms(self, symbol: Symbol, own: Symbol) -> tuple[str, ...]:
        """The words of a varied nonterminal, checked against those it is paired with."""
        spell, place = self.grammar.spell, self.grammar.vary[-1].place
        if symbol not in self.grammar.rules:
            raise self.grammar.undefined(symbol, place)
        alternatives = self.grammar.rules[symbol]
        if not all(isinstance(part, str) for alternative in alternatives for part in alternative.parts):
            raise GrammarError(
                alternatives[0].place, f"{spell(symbol)} is varied but refers to other rules; vary the slot that holds the words"
            )
        here, there = len(alternatives), len(self.grammar.rules[own])
        if here != there:
            raise GrammarError(
                alternatives[-1].place,
                f"{spell(symbol)} has {here} forms but {spell(own)} has {there}; forms are paired by position",
            )
        return tuple(str(alternative) for alternative in alternatives)


def vary_items(grammar: Grammar, name: str) -> list[tuple[Varied, ...]]:
    """The items of the `vary:` lines that mention this name."""
    items = (item for vary in grammar.vary for item in vary.items)
    return [item for item in items if any(reference.name == name for reference in item)]


def counterparts(grammar: Grammar, own: Symbol) -> list[Symbol]:
    """What a nonterminal is replaced by, in order of definition; never itself."""
    references = [r for item in vary_items(grammar, own.name) for r in item if r.name == own.name]
    applicable = [r for r in references if frozenset(r.attributes) <= own.attributes]
    return [other for other in grammar.namesakes(own) if other != own and any(_reaches(r, own, other) for r in applicable)]


def _reaches(varied: Varied, own: Symbol, other: Symbol) -> bool:
    """Whether the item, which applies to `own`, replaces it by `other`."""
    return other == exchanged(varied, own) if varied.to else other.attributes >= frozenset(varied.attributes)


def exchanged(varied: Varied, own: Symbol) -> Symbol:
    """`own` with the attributes the item selects in place of those it names."""
    return Symbol(own.name, (own.attributes - frozenset(varied.attributes)) | frozenset(varied.to or ()))


def syncretism(grammar: Grammar, root: Node) -> Iterator[Notice]:
    """Pairs of identical forms, so that swapping them tests nothing. Joined slots are judged together, not here."""
    used = {node.symbol for node in parents_first(root)}
    for own in (symbol for symbol in grammar.rules if symbol in used):
        items = vary_items(grammar, own.name)
        if not items or any(len(item) > 1 for item in items):
            continue
        for other in counterparts(grammar, own):
            for mine, theirs in zip(grammar.rules[own], grammar.rules[other], strict=False):
                if mine.parts == theirs.parts:
                    message = f"{grammar.spell(own)} and {grammar.spell(other)} are both {str(mine)!r}; left out as syncretic"
                    yield Notice(theirs.place, message)


def word_count(text: str) -> int:
    """The number of words in a form; an empty form has none."""
    return text.count(" ") + 1 if text else 0
