"""Contrasts: what must hold in a minimal set. In general a disjunction of conjunctions of comparisons between sums of spans.

Any formula of `and` and `or` can be written this way, and its margin is preserved: the smallest of a conjunction, the largest of
a disjunction. A pair of a good and a bad sentence is one comparison of one span with another.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

Metric = Literal["sum", "mean", "median", "min", "max", "range"]
METRICS: tuple[Metric, ...] = ("sum", "mean", "median", "min", "max", "range")
Relation = Literal[">", "="]


class SpanTerm(NamedTuple):
    """The words of a span in one variant, with a weight. An empty name is the whole sentence."""

    role: str
    span: str = ""
    weight: float = 1.0


class Clause(NamedTuple):
    """One comparison. `=` allows a difference of 1e-3 + 1e-5 of the right side; `>` is strict."""

    left: tuple[SpanTerm, ...]
    right: tuple[SpanTerm, ...]
    relation: Relation = ">"
    constants: tuple[float, float] = (0.0, 0.0)  # added to the left and to the right

    @property
    def is_pair(self) -> bool:
        """Whether one stretch of a sentence must beat the same stretch of another."""
        if len(self.left) != 1 or len(self.right) != 1 or self.relation != ">" or self.constants != (0.0, 0.0):
            return False
        (one,), (other,) = self.left, self.right
        return one.weight == other.weight == 1.0 and one.span == other.span and one.role != other.role


@dataclass(frozen=True, slots=True)
class Contrast:
    """True if all clauses of one group hold."""

    name: str
    groups: tuple[tuple[Clause, ...], ...] = ()  # none: a formula that was not expanded, and is not judged
    chance: float | None = None  # None: the chance under independent noise
    metric: Metric = "sum"  # over the words of a span
    scale: float = 1.0  # of log-probabilities in nats; -1 / ln 2 for surprisal in bits
    # Where an unknown word makes an item uncovered: in what differs between the sentences, or in the named spans.
    tested: Literal["differing", "named"] = "differing"
    # Another measure of the same items, not counted: the words after one prefix, beside the whole sentence.
    alternative: bool = False
    formula: str = ""  # as the source writes it
    item_rules: tuple[str, ...] = ()  # the item rules under which it counts; none: all
    is_pair: bool = field(init=False, repr=False, compare=False)  # one good and one bad sentence; accessed half a million times

    def __post_init__(self) -> None:
        single = len(self.groups) == 1 and len(self.groups[0]) == 1 and self.groups[0][0].is_pair
        plain = (self.metric, self.scale, self.tested) == ("sum", 1.0, "differing")
        object.__setattr__(self, "is_pair", single and plain)

    def terms(self) -> Iterator[SpanTerm]:
        for group in self.groups:
            for clause in group:
                yield from (*clause.left, *clause.right)

    def roles(self) -> list[str]:
        """The variants it refers to."""
        return list(dict.fromkeys(term.role for term in self.terms()))


@lru_cache(maxsize=4096)
def pair_contrast(name: str, better: str, worse: str, span: str = "", alternative: bool = False) -> Contrast:
    """One variant beats another: as a whole sentence, or in the named span."""
    return Contrast(name, ((pair_clause(better, worse, span),),), alternative=alternative)


def pair_clause(better: str, worse: str, span: str = "") -> Clause:
    return Clause((SpanTerm(better, span),), (SpanTerm(worse, span),))


@lru_cache(maxsize=4096)
def best_of_all(name: str, better: str, worse: tuple[str, ...], span: str = "") -> Contrast:
    """One variant beats several others at once; chance is 1 / (k + 1)."""
    return Contrast(name, (tuple(pair_clause(better, each, span) for each in worse),))
