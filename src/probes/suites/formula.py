"""Predictions over regions as a tree: conjunctions and disjunctions of comparisons between weighted sums of surprisals."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

Relation = Literal["<", ">", "="]


class RegionReference(NamedTuple):
    """A region of a condition; None means all of its regions."""

    region: int | None
    condition: str

    def __str__(self) -> str:
        return f"({'*' if self.region is None else self.region};%{self.condition}%)"


class Term(NamedTuple):
    weight: float
    reference: RegionReference


@dataclass(frozen=True, slots=True)
class Sum:
    """Weighted regions and a constant. Terms keep the order of the text, so that they are added from left to right."""

    terms: tuple[Term, ...]
    constant: float = 0.0

    def plus(self, other: "Sum", sign: int) -> "Sum":
        signed = tuple(Term(sign * weight, reference) for weight, reference in other.terms)
        return Sum(self.terms + signed, self.constant + sign * other.constant)


@dataclass(frozen=True, slots=True)
class Comparison:
    left: Sum
    relation: Relation
    right: Sum


@dataclass(frozen=True, slots=True)
class Conjunction:
    parts: tuple["Formula", ...]


@dataclass(frozen=True, slots=True)
class Disjunction:
    parts: tuple["Formula", ...]


Formula = Comparison | Conjunction | Disjunction


def comparisons(formula: Formula) -> Iterator[Comparison]:
    """All comparisons, in the order of the text."""
    if isinstance(formula, Comparison):
        yield formula
    else:
        for part in formula.parts:
            yield from comparisons(part)


def references(formula: Formula) -> list[RegionReference]:
    """The regions a formula names, each once, in the order of the text."""
    sides = (side for comparison in comparisons(formula) for side in (comparison.left, comparison.right))
    return list(dict.fromkeys(term.reference for side in sides for term in side.terms))


def alternatives(formula: Formula) -> int:
    """How many conjunctions the normal form has."""
    if isinstance(formula, Comparison):
        return 1
    if isinstance(formula, Disjunction):
        return sum(map(alternatives, formula.parts))
    product = 1
    for part in formula.parts:
        product *= alternatives(part)
    return product


def normal_form(formula: Formula) -> tuple[tuple[Comparison, ...], ...]:
    """A disjunction of conjunctions of comparisons. Margins are preserved: min and max distribute like & and |."""
    if isinstance(formula, Comparison):
        return ((formula,),)
    if isinstance(formula, Disjunction):
        return tuple(way for part in formula.parts for way in normal_form(part))
    ways: tuple[tuple[Comparison, ...], ...] = ((),)
    for part in formula.parts:
        ways = tuple((*one, *more) for one in ways for more in normal_form(part))
    return ways
