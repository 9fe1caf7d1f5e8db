"""A grammar: the statements of its files with every variable expanded, ready for lookup."""

import difflib
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from .notation import (
    VARIABLE,
    Alternative,
    Attribute,
    Choose,
    Distinct,
    Feature,
    Limit,
    Nouns,
    Rule,
    Statement,
    SymbolReference,
    Vary,
)
from .notices import GrammarError, Notice, SourceLine

# A slip such as V[$a,$b,$c,$d,$e] must not fill the memory before it is reported.
MOST_BINDINGS = 100_000


class Symbol(NamedTuple):
    """A nonterminal: a name and an unordered set of attributes."""

    name: str
    attributes: frozenset[str]


START = Symbol("S", frozenset())


@dataclass(frozen=True)
class Grammar:
    """The rules of one construction, or of a corpus. The order is always that of the files."""

    name: str
    file: str
    rules: dict[Symbol, list[Alternative]]
    written: dict[Symbol, SymbolReference]
    attributes: tuple[Attribute, ...]
    features: tuple[Feature, ...]
    vary: tuple[Vary, ...]
    limits: dict[str, int]
    notices: tuple[Notice, ...]
    distinct: tuple[Distinct, ...] = ()
    choose: Mapping[str, int] = field(default_factory=dict)  # how many words a fitted set takes, by the name of their list
    nouns: tuple[str, ...] = ()  # names of noun slots; none: unknown

    def is_noun(self, symbol: Symbol) -> bool:
        """`nouns: N` covers N and every N_…"""
        return any(symbol.name == name or symbol.name.startswith(f"{name}_") for name in self.nouns)

    def spell(self, symbol: Symbol) -> str:
        """The symbol as its author wrote it, attributes in the author's order."""
        return str(self.written.get(symbol) or SymbolReference(symbol.name, tuple(sorted(symbol.attributes))))

    def namesakes(self, symbol: Symbol) -> list[Symbol]:
        """All symbols of the same name, in order of definition."""
        return [other for other in self.rules if other.name == symbol.name]

    def label(self, value: str) -> str:
        """What readers see for an attribute's value: `p` is plural."""
        return next((a.labels[value] for a in self.attributes if value in a.labels), value)

    def tags(self) -> list[str]:
        """The constructions that rules are tagged with, in order of first mention."""
        return list(dict.fromkeys(tag for body in self.rules.values() for alternative in body for tag in alternative.tags))

    def undefined(self, symbol: Symbol, place: SourceLine) -> GrammarError:
        """The error for an undefined reference, with the nearest that exists."""
        spelt = self.spell(symbol)
        known = [self.spell(other) for other in self.namesakes(symbol)]
        if known:
            remedy = f"{symbol.name} is defined with other attributes: {', '.join(known[:6])}"
        else:
            names = sorted({other.name for other in self.rules})
            near = difflib.get_close_matches(symbol.name, names, 3)
            remedy = f"did you mean {' or '.join(near)}?" if near else f"add a line {spelt} …"
        return GrammarError(place, f"{spelt} is not defined; {remedy}")


def build(name: str, file: str, statements: Iterable[Statement]) -> Grammar:
    """A grammar from the statements of all its files, the shared ones first."""
    statements = list(statements)
    attributes = _attributes(statements)
    ranges = {a.variable: tuple(a.labels) for a in attributes if a.variable}
    rules: dict[Symbol, list[Alternative]] = {}
    written: dict[Symbol, SymbolReference] = {}
    for rule in (s for s in statements if isinstance(s, Rule)):
        for left, alternatives in _instances(rule, ranges):
            symbol = Symbol(left.name, frozenset(left.attributes))
            written.setdefault(symbol, left)
            rules.setdefault(symbol, []).extend(alternatives)
    if START not in rules:
        raise GrammarError(SourceLine(file, 1), "no S[] rule; S[] is where every sentence starts")
    _check_given(rules, written)
    return Grammar(
        name=name,
        file=file,
        rules=rules,
        written=written,
        attributes=attributes,
        features=_features(name, statements, attributes),
        vary=tuple(s for s in statements if isinstance(s, Vary)),
        limits={n: s.depth for s in statements if isinstance(s, Limit) for n in s.names},
        notices=tuple(_repeated(rules, written)),
        distinct=tuple(_distinct(statements, rules)),
        choose=_choose(statements, rules),
        nouns=next((s.names for s in reversed(statements) if isinstance(s, Nouns)), ()),
    )


def _attributes(statements: list[Statement]) -> tuple[Attribute, ...]:
    attributes = tuple(s for s in statements if isinstance(s, Attribute))
    owner: dict[str, Attribute] = {}
    for attribute in attributes:
        for key in (attribute.name, f"${attribute.variable}" if attribute.variable else "", *attribute.labels):
            if key and key in owner and owner[key] is not attribute:
                raise GrammarError(
                    attribute.place, f"{key!r} already belongs to attribute {owner[key].name} ({owner[key].place}); rename one"
                )
            owner[key] = attribute
    return attributes


def _features(name: str, statements: list[Statement], attributes: tuple[Attribute, ...]) -> tuple[Feature, ...]:
    """The features of this construction; a later declaration replaces an earlier one of the same name."""
    known = [a.name for a in attributes]
    features: dict[str, Feature] = {}
    for feature in (s for s in statements if isinstance(s, Feature)):
        if feature.attribute and feature.attribute not in known:
            raise GrammarError(
                feature.place,
                f"feature {feature.name}: no attribute {feature.attribute!r}; declared: {', '.join(known) or 'none'}",
            )
        if not feature.constructions or name in feature.constructions:
            features[feature.name] = feature
    return tuple(features.values())


def _distinct(statements: list[Statement], rules: dict[Symbol, list[Alternative]]) -> Iterator[Distinct]:
    known = {symbol.name for symbol in rules}
    for line in (s for s in statements if isinstance(s, Distinct)):
        for name in line.names:
            if name not in known:
                raise GrammarError(line.place, f"distinct: {name} names no slot; the names here are {', '.join(sorted(known))}")
        yield line


def _choose(statements: list[Statement], rules: dict[Symbol, list[Alternative]]) -> dict[str, int]:
    known = {symbol.name for symbol in rules}
    found: dict[str, int] = {}
    for line in (s for s in statements if isinstance(s, Choose)):
        for name in line.lists:
            if name not in known:
                raise GrammarError(line.place, f"choose: {name} names no list; the names here are {', '.join(sorted(known))}")
            found[name] = line.number
    return found


def _check_given(rules: dict[Symbol, list[Alternative]], written: dict[Symbol, SymbolReference]) -> None:
    """Words of one list share a slot, so a feature cannot belong to one of them."""
    for symbol, alternatives in rules.items():
        for alternative in alternatives:
            if alternative.given and symbol != START and all(isinstance(part, str) for part in alternative.parts):
                name = alternative.given[0][0]
                raise GrammarError(
                    alternative.place,
                    f"{written[symbol]} gives the feature {name} to individual words; give it to a template or a phrase",
                )


def _instances(rule: Rule, ranges: dict[str, tuple[str, ...]]) -> Iterator[tuple[SymbolReference, list[Alternative]]]:
    """The rule once for every value of the variables on its left-hand side."""
    outer = _variables([rule.left])
    inner = [[v for v in _variables(a.parts) if v not in outer] for a in rule.alternatives]
    size = _bindings_count(outer, ranges, rule.place)
    for variables in inner:
        if size * _bindings_count(variables, ranges, rule.place) > MOST_BINDINGS:
            raise GrammarError(rule.place, f"the variables of {rule.left} have over {MOST_BINDINGS:,} values together; use fewer")
    for binding in _bindings(outer, ranges):
        alternatives: list[Alternative] = []
        for alternative, variables in zip(rule.alternatives, inner, strict=True):
            alternatives.extend(_bound(alternative, binding, list(_bindings(variables, ranges))))
        yield _bind(rule.left, binding), alternatives


def _bound(alternative: Alternative, outer: dict[str, str], bindings: list[dict[str, str]]) -> Iterator[Alternative]:
    """One alternative for every value of the variables that occur only on the right; they share its weight."""
    if not outer and bindings == [{}]:
        yield alternative
        return
    weight = alternative.weight / len(bindings)
    for binding in bindings:
        both = outer | binding
        parts = tuple(p if isinstance(p, str) else _bind(p, both) for p in alternative.parts)
        yield replace(alternative, parts=parts, weight=weight)


def _variables(parts: Iterable[str | SymbolReference]) -> list[str]:
    references = (p for p in parts if isinstance(p, SymbolReference))
    return list(dict.fromkeys(a for r in references for a in r.attributes if a.startswith("$")))


def _range(variable: str, ranges: dict[str, tuple[str, ...]], place: SourceLine) -> tuple[str, ...]:
    match = VARIABLE.fullmatch(variable)
    letter = match[1] if match else ""
    if letter not in ranges:
        declared = ", ".join(f"${v}" for v in ranges) or "none"
        raise GrammarError(
            place, f"{variable} ranges over nothing; declare it (attribute number ${letter}: s | p). Declared: {declared}"
        )
    return ranges[letter]


def _bindings_count(variables: list[str], ranges: dict[str, tuple[str, ...]], place: SourceLine) -> int:
    return math.prod(len(_range(v, ranges, place)) for v in variables)


def _bindings(variables: list[str], ranges: dict[str, tuple[str, ...]]) -> Iterator[dict[str, str]]:
    """All values of the variables; the first changes slowest. `$n` and `$n2` range over the same values."""
    letters = [v[1:].rstrip("0123456789") for v in variables]
    for values in itertools.product(*(ranges[letter] for letter in letters)):
        yield dict(zip(variables, values, strict=True))


def _bind(reference: SymbolReference, binding: dict[str, str]) -> SymbolReference:
    return SymbolReference(reference.name, tuple(binding.get(a, a) for a in reference.attributes))


def _repeated(rules: dict[Symbol, list[Alternative]], written: dict[Symbol, SymbolReference]) -> Iterator[Notice]:
    for symbol, alternatives in rules.items():
        seen: dict[tuple[str | SymbolReference, ...], Alternative] = {}
        for alternative in alternatives:
            first = seen.setdefault(alternative.parts, alternative)
            if first is not alternative:
                where = "on this line" if first.place == alternative.place else f"at {first.place}"
                yield Notice(alternative.place, f"{written[symbol]} has {str(alternative) or '{}'!r} twice, first {where}")
