"""What a sentence is classified by: declared features, read off a frame's constituents."""

from typing import NamedTuple

from ..prefix_heuristics import Marked, heuristic_features
from .frames import Frame
from .notation import Feature
from .rules import Grammar, Symbol

Value = str | int
NUMBER, SUBJECT_NUMBER, TESTED = "number", "subject_number", "tested"


class Measure(NamedTuple):
    """A feature that counts the words of the slots from `start` up to `end`."""

    name: str
    start: int
    end: int


def read(grammar: Grammar, frame: Frame) -> tuple[dict[str, Value], list[Measure]]:
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
    # What stands in braces wins over what is declared, and the outer and earlier braces over the others.
    fixed |= dict(reversed(frame.given))
    return fixed, [measure for measure in measures if measure.name not in dict(frame.given)]


def heuristics(grammar: Grammar, frame: Frame, target: int, known: dict[str, Value]) -> dict[str, Value]:
    """h1 to h4 over the slots before the tested one, where nouns are declared and the number of the subject is what is tested.

    A slot is one word of the heuristics, and has the number among its attributes; words that stand in the rules have none.
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
    """The attribute's value at the first of the named slots that the frame has."""
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
    """The words strictly between two constituents, whichever comes first."""
    one = next((c for name in feature.nodes for c in frame.constituents if c.symbol.name == name), None)
    two = next((c for name in feature.until for c in frame.constituents if c.symbol.name == name), None)
    if one is None or two is None:
        return []
    left, right = sorted((one, two), key=lambda c: c.start)
    return [Measure(feature.name, left.end, right.start)] if left.end <= right.start else []
