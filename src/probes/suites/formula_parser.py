"""Predictions over regions, `[(6;%match%) < (6;%mismatch%)] & …`, read into the tree of `formula`.

bool := cmp (('&' cmp)* | ('|' cmp)*)      mixed only with brackets
cmp  := sum [('<' | '>' | '=') sum]        one comparison, not two
sum  := term (('+' | '-') term)*
term := number | ref | '(' bool ')' | '[' bool ']'
ref  := '(' (digits | '*') ';' '%' name '%' ')'

Truth values and numbers are distinct: `&` and `|` join truth values, `+ - < > =` take numbers, the whole is a truth value.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ...errors import UserError
from .formula import Comparison, Conjunction, Disjunction, Formula, RegionReference, Relation, Sum, Term, alternatives

SHOWN = 120  # characters of a formula that an error shows
MOST_BRACKETS = 50
MOST_ALTERNATIVES = 1_000
CLOSING = {"(": ")", "[": "]"}


class FormulaError(UserError):
    """What was expected, and the formula with a caret below the place."""

    def __init__(self, formula: str, at: int, message: str) -> None:
        first = max(0, at - SHOWN // 2)
        window = re.sub(r"\s", " ", formula[first : first + SHOWN])
        super().__init__(f"{message}\n    {window}\n    {' ' * (at - first)}^")


@dataclass(frozen=True)
class Notation:
    """How regions are written: `pattern` finds one, `reference` identifies it or raises a ValueError that says why not."""

    pattern: re.Pattern[str]
    reference: Callable[[re.Match[str]], RegionReference]
    example: str


def _published(match: re.Match[str]) -> RegionReference:
    return RegionReference(None if match[1] == "*" else int(match[1]), match[2])


PUBLISHED = Notation(re.compile(r"\(\s*(\d{1,9}|\*)\s*;\s*%([^%]+)%\s*\)"), _published, "(6;%condition%)")
NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,15})?(?![\w.])")


def parse(text: str, notation: Notation = PUBLISHED) -> Formula:
    """The tree of a formula, or an error with a caret."""
    parser = _Parser(text, notation)
    whole = parser.boolean()
    if parser.token.kind != "end":
        raise parser.error(f"{parser.token.text!r} closes nothing or follows a complete formula; expected the end or & or |")
    if isinstance(whole, Sum):
        raise FormulaError(text, 0, "a number where a truth value is expected; compare it with something using < > or =")
    if alternatives(whole) > MOST_ALTERNATIVES:
        raise FormulaError(text, 0, f"more than {MOST_ALTERNATIVES:,} ways to be true; use fewer |")
    return whole


def translate(text: str, notation: Notation) -> str:
    """The formula in the published notation: every region by its number, all else unchanged."""
    pieces, done = [], 0
    for token in _tokens(text, notation):
        if isinstance(token.value, RegionReference):
            pieces += [text[done : token.start], str(token.value)]
            done = token.start + len(token.text)
    return "".join([*pieces, text[done:]])


class Token(NamedTuple):
    kind: Literal["reference", "number", "sign", "end"]
    text: str
    start: int
    value: RegionReference | float | None = None


def _tokens(text: str, notation: Notation) -> Iterator[Token]:
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        token = _token(text, at, notation)
        yield token
        at += len(token.text)
    yield Token("end", "", len(text))


def _token(text: str, at: int, notation: Notation) -> Token:
    if match := notation.pattern.match(text, at):
        try:
            return Token("reference", match[0], at, notation.reference(match))
        except ValueError as error:
            raise FormulaError(text, at, str(error)) from None
    if match := NUMBER.match(text, at):
        return Token("number", match[0], at, float(match[0]))
    if text[at] in "+-<>=&|()[]":
        return Token("sign", text[at], at)
    raise FormulaError(text, at, f"{text[at]!r} has no meaning here; a region is written {notation.example}")


class _Parser:
    """One token ahead; every method reads what its name says and returns a number (`Sum`) or a truth value (`Formula`)."""

    def __init__(self, text: str, notation: Notation) -> None:
        self.text = text
        self.example = notation.example
        self.tokens = _tokens(text, notation)
        self.token = next(self.tokens)
        self.depth = 0

    def error(self, message: str) -> FormulaError:
        return FormulaError(self.text, self.token.start, message)

    def advance(self) -> Token:
        passed, self.token = self.token, next(self.tokens)
        return passed

    def boolean(self) -> Sum | Formula:
        start = self.token.start
        first = self.comparison()
        if self.token.text not in ("&", "|"):
            return first
        sign = self.token.text
        parts = [self._truth(first, start, sign)]
        while self.token.text in ("&", "|"):
            if self.token.text != sign:
                raise self.error("& and | are mixed; put brackets around what belongs together")
            self.advance()
            start = self.token.start
            parts.append(self._truth(self.comparison(), start, sign))
        return Conjunction(tuple(parts)) if sign == "&" else Disjunction(tuple(parts))

    def comparison(self) -> Sum | Formula:
        start = self.token.start
        left = self.sum()
        if self.token.text not in ("<", ">", "="):
            return left
        number = self._number(left, start, self.token.text)
        relation: Relation = "<" if self.token.text == "<" else ">" if self.token.text == ">" else "="
        self.advance()
        start = self.token.start
        right = self._number(self.sum(), start, relation)
        if self.token.text in ("<", ">", "="):
            raise self.error("a second comparison; write a < b & b < c")
        return Comparison(number, relation, right)

    def sum(self) -> Sum | Formula:
        start = self.token.start
        total = self.term()
        while self.token.text in ("+", "-"):
            number = self._number(total, start, self.token.text)
            sign = self.advance().text
            start_of_term = self.token.start
            total = number.plus(self._number(self.term(), start_of_term, sign), 1 if sign == "+" else -1)
        return total

    def term(self) -> Sum | Formula:
        token = self.token
        if isinstance(token.value, RegionReference):
            self.advance()
            return Sum((Term(1.0, token.value),))
        if isinstance(token.value, float):
            self.advance()
            return Sum((), token.value)
        if token.text in CLOSING:
            return self._bracketed()
        here = f"this is {token.text!r}" if token.text else "the formula ends here"
        raise self.error(f"expected a number, a region {self.example} or a bracket; {here}")

    def _bracketed(self) -> Sum | Formula:
        opening = self.advance()
        self.depth += 1
        if self.depth > MOST_BRACKETS:
            raise self.error(f"more than {MOST_BRACKETS} nested brackets")
        inside = self.boolean()
        if self.token.text != CLOSING[opening.text]:
            here = f"this is {self.token.text!r}" if self.token.text else "the formula ends here"
            raise self.error(f"expected {CLOSING[opening.text]!r}, an operator or a comparison; {here}")
        self.advance()
        self.depth -= 1
        return inside

    def _truth(self, value: Sum | Formula, at: int, sign: str) -> Formula:
        if isinstance(value, Sum):
            raise FormulaError(self.text, at, f"{sign} joins comparisons, but this is a number; compare it using < > or =")
        return value

    def _number(self, value: Sum | Formula, at: int, sign: str) -> Sum:
        if not isinstance(value, Sum):
            raise FormulaError(self.text, at, f"{sign} takes numbers, but this is a truth value; join comparisons with & or |")
        return value
