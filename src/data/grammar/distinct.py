"""What a `distinct:` line does to a frame: which of its slots never hold the same word, and in how many ways that can be.

A word is known by the first form of its row, whatever form it has in the sentence; outside paradigms, by what it looks like.
"""

from collections import Counter
from collections.abc import Sequence

from .frames import Frame, FrameSlot
from .notation import Alternative, Distinct
from .notices import GrammarError
from .rules import Grammar

# A word of a slot under a `distinct:` line, the line's number first: equal ones must not meet in a sentence.
Lexeme = tuple[int, str]
MOST_SLOTS = 6


def lexemes(grammar: Grammar, frame: Frame) -> dict[int, tuple[Lexeme, ...]]:
    """For each slot that a line speaks of: the word behind each of its forms."""
    found: dict[int, tuple[Lexeme, ...]] = {}
    for number, line in enumerate(grammar.distinct):
        slots = _slots(line, frame)
        _check(grammar, line, [frame.slots[i] for i in slots])
        for slot in slots:
            if slot in found:
                raise GrammarError(line.place, f"distinct: two lines speak of {_spell(grammar, frame.slots[slot])}; join them")
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
        raise GrammarError(line.place, f"distinct: more than {MOST_SLOTS} slots in one sentence; keep fewer of them apart")
    return sorted(set(slots))


def _check(grammar: Grammar, line: Distinct, slots: list[FrameSlot]) -> None:
    """Which words of two lists belong together is known only of the rows of a paradigm."""
    for slot in slots:
        others = [o for o in slots if o.symbol and slot.symbol and o.symbol.name == slot.symbol.name and o.symbol != slot.symbol]
        if others and any(word.lexeme is None for word in _wordy(grammar, slot)):
            raise GrammarError(
                line.place,
                f"distinct: {_spell(grammar, slot)} and {_spell(grammar, others[0])} are lists, and nothing says which of their "
                "forms are one word; write them as one paradigm",
            )


def _words(grammar: Grammar, slot: FrameSlot) -> list[str]:
    return [str(word) if word.lexeme is None else word.lexeme for word in _wordy(grammar, slot)] or list(slot.forms)


def _wordy(grammar: Grammar, slot: FrameSlot) -> list[Alternative]:
    """The alternatives that the forms of a slot come from, in the same order; none for words written in a rule."""
    alternatives = grammar.rules[slot.symbol] if slot.symbol else []
    return [a for a in alternatives if all(isinstance(part, str) for part in a.parts)]


def _spell(grammar: Grammar, slot: FrameSlot) -> str:
    return grammar.spell(slot.symbol) if slot.symbol else slot.forms[0]


def fillings(slots: Sequence[Sequence[Lexeme]]) -> int:
    """The number of ways to fill the slots so that no two of one line hold the same word."""
    return _fillings([Counter(words) for words in slots])


def _fillings(slots: list[Counter[Lexeme]]) -> int:
    """The last slot filled freely, less the ways in which it repeats one of the others, which are all different."""
    if not slots:
        return 1
    *others, last = slots
    total = _fillings(others) * last.total()
    for i, other in enumerate(others):
        common = Counter({word: n * last[word] for word, n in other.items() if word in last})
        if common:
            total -= _fillings([*others[:i], common, *others[i + 1 :]])
    return total
