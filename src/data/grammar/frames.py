"""Frames: what is left of a template once every phrase is expanded down to its word slots.

A frame gives the features that classify its sentences, and the slots that a `distinct:` line keeps different. There a word is
identified by the first form of its row, whatever form it has in the sentence; outside paradigms, by its spelling.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..prefix_heuristics import Marked, heuristic_features
from .notation import Alternative, Distinct, Feature
from .notices import GrammarError
from .rules import Grammar, Symbol
from .unroll import Branch, Node

# A word of a slot under a `distinct:` line, the line's number first: equal ones must not meet in a sentence.
Lexeme = tuple[int, str]
MOST_SLOTS = 6
Value = str | int
NUMBER, SUBJECT_NUMBER, TESTED = "number", "subject_number", "tested"


class FrameSlot(NamedTuple):
    """A slot for words: the forms it can take, and its nonterminal (None for words written in the rule itself)."""

    symbol: Symbol | None
    forms: tuple[str, ...]


class Constituent(NamedTuple):
    """A nonterminal over the slots from `start` up to, not including, `end`."""

    symbol: Symbol
    start: int
    end: int


class Frame(NamedTuple):
    template: int
    slots: tuple[FrameSlot, ...]
    constituents: tuple[Constituent, ...]
    tags: tuple[str, ...]
    given: tuple[tuple[str, str], ...]  # features in braces, the template's first


class _End(NamedTuple):
    """Marks, among the pending parts, where an open constituent closes."""

    symbol: Symbol
    start: int


class _State(NamedTuple):
    pending: tuple  # linked list: (part, rest) or ()
    slots: tuple[FrameSlot, ...]
    constituents: tuple[Constituent, ...]
    tags: tuple[str, ...]
    given: tuple[tuple[str, str], ...]


def frames(root: Node) -> Iterator[Frame]:
    """All frames, template by template, alternatives in file order. Memory does not grow with their number."""
    for template, branch in enumerate(root.branches):
        stack = [_State(_chain(branch.parts, ()), (), (), branch.tags, branch.given)]
        while stack:
            state = stack.pop()
            if not state.pending:
                ordered = tuple(sorted(state.constituents, key=lambda c: (c.start, -c.end)))
                yield Frame(template, state.slots, ordered, state.tags, state.given)
                continue
            # The last pushed is processed first.
            stack.extend(reversed(list(_step(state))))


def _step(state: _State) -> Iterator[_State]:
    """The states after the leftmost pending part is processed."""
    part, rest = state.pending
    if isinstance(part, _End):
        closed = Constituent(part.symbol, part.start, len(state.slots))
        yield state._replace(pending=rest, constituents=(*state.constituents, closed))
    elif isinstance(part, str):
        yield state._replace(pending=rest, slots=(*state.slots, FrameSlot(None, (part,))))
    else:
        yield from _expand(part, rest, state)


def _expand(node: Node, rest: tuple, state: _State) -> Iterator[_State]:
    """One state for all word-only alternatives of the node together, and one for each of the others."""
    words = tuple(branch.words for branch in node.branches if _wordy(branch))
    here = len(state.slots)
    for branch in node.branches:
        if not _wordy(branch):
            pending = _chain(branch.parts, (_End(node.symbol, here), rest))
            yield state._replace(pending=pending, tags=state.tags + branch.tags, given=state.given + branch.given)
        elif words:
            closed = Constituent(node.symbol, here, here + 1)
            yield state._replace(
                pending=rest,
                slots=(*state.slots, FrameSlot(node.symbol, words)),
                constituents=(*state.constituents, closed),
            )
            words = ()


def _wordy(branch: Branch) -> bool:
    return all(isinstance(part, str) for part in branch.parts)


def _chain(parts: tuple, rest: tuple) -> tuple:
    for part in reversed(parts):
        rest = (part, rest)
    return rest


class Measure(NamedTuple):
    """A feature that counts the words of the slots from `start` up to `end`."""

    name: str
    start: int
    end: int


def read_features(grammar: Grammar, frame: Frame) -> tuple[dict[str, Value], list[Measure]]:
    """The features that hold for all sentences of the frame, and those to be counted in each."""
    fixed: dict[str, Value] = {}
    measures: list[Measure] = []
    for feature in grammar.features:
        if feature.until:
            measures.extend(_measure(feature, frame))
        elif feature.constant:
            constant = feature.constant
            fixed[feature.name] = int(constant) if constant.isascii() and constant.isdecimal() else constant
        elif (value := _value(grammar, feature, frame)) is not None:
            fixed[feature.name] = value
    # Features in braces override declared ones, and outer and earlier braces override the others.
    fixed |= dict(reversed(frame.given))
    return fixed, [measure for measure in measures if measure.name not in dict(frame.given)]


def heuristics(grammar: Grammar, frame: Frame, target: int, known: dict[str, Value]) -> dict[str, Value]:
    """h1 to h4 over the slots before the tested one, if nouns are declared and the subject's number is tested.

    A slot is one word for the heuristics, with its number among its attributes; words written in the rules have none.
    """
    number = known.get(SUBJECT_NUMBER)
    labels = next((attribute.labels for attribute in grammar.attributes if attribute.name == NUMBER), {})
    if not grammar.nouns or number is None or known.get(TESTED, NUMBER) != NUMBER:
        return {}
    marked = [
        Marked(grammar.is_noun(slot.symbol), next(iter(_values(slot.symbol, labels)), ""))
        for slot in frame.slots[:target]
        if slot.symbol is not None
    ]
    return dict(heuristic_features(marked, str(number)))


def _value(grammar: Grammar, feature: Feature, frame: Frame) -> str | None:
    """The attribute's value at the first named slot that the frame has."""
    labels = next(a.labels for a in grammar.attributes if a.name == feature.attribute)
    for name in feature.nodes:
        for constituent in frame.constituents:
            if constituent.symbol.name == name:
                found = _values(constituent.symbol, labels)
                if found:
                    return found[0]
    return None


def _values(symbol: Symbol, labels: dict[str, str]) -> list[str]:
    return [label for value, label in labels.items() if value in symbol.attributes]


def _measure(feature: Feature, frame: Frame) -> list[Measure]:
    """The words strictly between two constituents, in either order."""
    one = next((c for name in feature.nodes for c in frame.constituents if c.symbol.name == name), None)
    two = next((c for name in feature.until for c in frame.constituents if c.symbol.name == name), None)
    if one is None or two is None:
        return []
    left, right = sorted((one, two), key=lambda c: c.start)
    return [Measure(feature.name, left.end, right.start)] if left.end <= right.start else []


def lexemes(grammar: Grammar, frame: Frame) -> dict[int, tuple[Lexeme, ...]]:
    """For each slot that a line names: the word behind each of its forms."""
    found: dict[int, tuple[Lexeme, ...]] = {}
    for number, line in enumerate(grammar.distinct):
        slots = _slots(line, frame)
        _check(grammar, line, [frame.slots[i] for i in slots])
        for slot in slots:
            if slot in found:
                raise GrammarError(line.place, f"distinct: two lines name {_spell(grammar, frame.slots[slot])}; join them")
            found[slot] = tuple((number, word) for word in _words(grammar, frame.slots[slot]))
    return found


def _slots(line: Distinct, frame: Frame) -> list[int]:
    slots = []
    for constituent in frame.constituents:
        if constituent.symbol.name in line.names:
            if constituent.end - constituent.start != 1:
                raise GrammarError(
                    line.place,
                    f"distinct: {constituent.symbol.name} is {constituent.end - constituent.start} slots long; "
                    "name the nonterminal that holds the words",
                )
            slots.append(constituent.start)
    if len(set(slots)) > MOST_SLOTS:
        raise GrammarError(line.place, f"distinct: more than {MOST_SLOTS} slots in one sentence; name fewer of them")
    return sorted(set(slots))


def _check(grammar: Grammar, line: Distinct, slots: list[FrameSlot]) -> None:
    """Only the rows of a paradigm tell which words of two lists belong together."""
    for slot in slots:
        others = [o for o in slots if o.symbol and slot.symbol and o.symbol.name == slot.symbol.name and o.symbol != slot.symbol]
        if others and any(word.lexeme is None for word in _alternatives(grammar, slot)):
            raise GrammarError(
                line.place,
                f"distinct: {_spell(grammar, slot)} and {_spell(grammar, others[0])} are lists, and nothing says which of their "
                "forms belong to one word; write them as one paradigm",
            )


def _words(grammar: Grammar, slot: FrameSlot) -> list[str]:
    return [str(word) if word.lexeme is None else word.lexeme for word in _alternatives(grammar, slot)] or list(slot.forms)


def _alternatives(grammar: Grammar, slot: FrameSlot) -> list[Alternative]:
    """The alternatives that a slot's forms come from, in the same order; none for words written in a rule."""
    alternatives = grammar.rules[slot.symbol] if slot.symbol else []
    return [a for a in alternatives if all(isinstance(part, str) for part in a.parts)]


def _spell(grammar: Grammar, slot: FrameSlot) -> str:
    return grammar.spell(slot.symbol) if slot.symbol else slot.forms[0]


def fillings(slots: Sequence[Sequence[Lexeme]]) -> int:
    """The number of ways to fill the slots so that no two of one line hold the same word."""
    return _fillings([Counter(words) for words in slots])


def _fillings(slots: list[Counter[Lexeme]]) -> int:
    """The last slot filled freely, minus the ways in which it repeats one of the others, which are all different."""
    if not slots:
        return 1
    *others, last = slots
    total = _fillings(others) * last.total()
    for i, other in enumerate(others):
        common = Counter({word: n * last[word] for word, n in other.items() if word in last})
        if common:
            total -= _fillings([*others[:i], common, *others[i + 1 :]])
    return total
