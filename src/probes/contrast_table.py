"""Contrasts in flat columns, so that half a million are judged in one pass: contrasts have clauses, clauses have terms."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .challenge_set import ChallengeSet, SetError, differing
from .contract import Contract, Rules
from .contrast import METRICS, Clause, Contrast, SpanTerm, best_of_all, pair_contrast
from .contrast_chance import PAIR_CHANCE, Groups, NumberedClause, chance_of_all
from .scorers import ProbeSentence

Numbers = NDArray[np.int32]
Place = tuple[int, int]
SPREAD = 1 << 32  # gap between the item numbers of one set and the next
TIE_WORTH = {"half": 0.5, "correct": 1.0, "wrong": 0.0}


@dataclass(frozen=True)
class TermTable:
    """One row per summed span, in the order in which a side's spans are added."""

    clause: Numbers
    side: NDArray[np.int8]  # 0 left, 1 right
    sentence: Numbers
    start: Numbers  # in words of the sentence
    end: Numbers
    weight: NDArray[np.float64]


@dataclass(frozen=True)
class ClauseTable:
    """One row per comparison. Clauses of a group, and groups of a contrast, are adjacent."""

    contrast: Numbers
    group: Numbers  # counted across all contrasts
    equal: NDArray[np.bool_]  # the relation is =, not >
    constants: NDArray[np.float64]  # (K, 2)


@dataclass(frozen=True)
class VariedTable:
    """Where an unknown word makes a contrast uncovered: one row per stretch, at least one for each sentence of a contrast."""

    contrast: Numbers
    sentence: Numbers
    start: Numbers
    end: Numbers
    again: NDArray[np.bool_]  # another stretch of the same sentence


@dataclass(frozen=True)
class PairTable:
    """The contrasts between one good and one bad sentence."""

    rows: NDArray[np.int64]  # (P,) their numbers among all contrasts
    clauses: NDArray[np.int64]  # (P,) each has one clause
    sentences: NDArray[np.int64]  # (P, 2) good, bad
    varied: NDArray[np.int64]  # (P, 2, 2) the words that differ, from … up to …


@dataclass(frozen=True)
class Contrasts:
    """What must hold, one row each; sets, and items within a set, are in order."""

    set: NDArray[np.int64]  # (C,) the set's number
    item: NDArray[np.int64]  # (C,) the minimal set's number within it
    names: list[str]
    dev: NDArray[np.bool_]  # (C,)
    chance: NDArray[np.float64]  # (C,)
    item_chance: NDArray[np.float64]  # (C,) chance that all contrasts of its item hold
    tie_worth: NDArray[np.float64]  # (C,)
    metric: NDArray[np.int8]  # (C,) index into METRICS
    scale: NDArray[np.float64]  # (C,)
    is_pair: NDArray[np.bool_]  # (C,)
    clauses: ClauseTable
    terms: TermTable
    tested: VariedTable

    def __len__(self) -> int:
        return len(self.set)

    def of_set(self, number: int) -> NDArray[np.int64]:
        """The rows of one set."""
        first, last = np.searchsorted(self.set, [number, number + 1])
        return np.arange(first, last)

    @cached_property
    def pairs(self) -> PairTable:
        rows = np.flatnonzero(self.is_pair)
        clauses = np.searchsorted(self.clauses.contrast, rows)
        tested = np.searchsorted(self.tested.contrast, rows)[:, None] + np.arange(2)
        varied = np.stack([self.tested.start[tested], self.tested.end[tested]], axis=-1).astype(np.int64)
        return PairTable(rows, clauses, self.tested.sentence[tested].astype(np.int64), varied)


@dataclass
class ContrastTableBuilder:
    """Collects the sentences and contrasts of one set after another."""

    contract: Contract
    sentences: dict[ProbeSentence, int] = field(default_factory=dict)
    contrasts: list[tuple[int, int, str, float, float, float, int, float, bool]] = field(default_factory=list)
    clauses: list[tuple[int, int, bool, float, float]] = field(default_factory=list)
    terms: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    tested: list[tuple[int, int, int, int, bool]] = field(default_factory=list)
    groups: int = 0

    def add(self, made: ChallengeSet, number: int, rules: Rules) -> int:
        """Add a set's contrasts; return how many there are."""
        before = len(self.contrasts)
        for index in range(len(made)):
            _Item(self, made, number, index, rules).add_contrasts()
        return len(self.contrasts) - before

    def table(self, dev: Sequence[NDArray[np.bool_]]) -> Contrasts:
        """`dev` marks the dev items of each set."""
        sets, items, names, chance, item_chance, ties, metrics, scales, pairs = zip(*self.contrasts, strict=True)
        clauses = np.array([row[:2] for row in self.clauses], np.int32)
        terms = np.array(self.terms, np.int32)
        tested = np.array(self.tested, np.int32)
        return Contrasts(
            set=np.array(sets),
            item=np.array(items),
            names=list(names),
            dev=np.array([bool(dev[number][item]) for number, item in zip(sets, items, strict=True)]),
            chance=np.array(chance),
            item_chance=np.array(item_chance),
            tie_worth=np.array(ties),
            metric=np.array(metrics, np.int8),
            scale=np.array(scales),
            is_pair=np.array(pairs),
            clauses=ClauseTable(
                clauses[:, 0],
                clauses[:, 1],
                np.array([row[2] for row in self.clauses]),
                np.array([row[3:] for row in self.clauses], np.float64),
            ),
            terms=TermTable(
                terms[:, 0], terms[:, 1].astype(np.int8), terms[:, 2], terms[:, 3], terms[:, 4], np.array(self.weights)
            ),
            tested=VariedTable(tested[:, 0], tested[:, 1], tested[:, 2], tested[:, 3], tested[:, 4].astype(bool)),
        )


def stated_contrasts(made: ChallengeSet, variants: range, item_rule: str = "all") -> Iterator[Contrast]:
    """Those the source states; otherwise a grammatical variant beats every ungrammatical one, or all of them at once."""
    if made.contrasts:
        roles = {made.roles[i] for i in variants}
        counted = (
            c for c in made.contrasts if c.groups and not c.alternative and (not c.item_rules or item_rule in c.item_rules)
        )
        yield from (c for c in counted if roles.issuperset(c.roles()))
        return
    good = [made.roles[i] for i in variants if made.grammatical[i] is True]
    bad = [made.roles[i] for i in variants if made.grammatical[i] is False]
    if made.together and len(bad) > 1:
        yield from (best_of_all("", one, tuple(bad)) for one in good)
    else:
        yield from (pair_contrast("", one, other) for one in good for other in bad)


class _Item:
    """One minimal set on its way into the table."""

    def __init__(self, builder: ContrastTableBuilder, made: ChallengeSet, number: int, index: int, rules: Rules) -> None:
        self.builder, self.made, self.rules = builder, made, rules
        self.number, self.index = number, index
        self.item_rule = made.item_rule or builder.contract.item_rule
        self.variants = range(made.firsts[index], made.firsts[index + 1])
        self.roles = {made.roles[i]: i for i in self.variants}
        self.words = {i: made.sentences[i].split() for i in self.variants}
        self.spans: dict[tuple[object, ...], int] = {}  # the spans its contrasts compare, numbered

    def tie_worth(self, contrast: Contrast) -> float:
        """Half, all or nothing; or decided by a coin that depends on the seed and on what is compared, not on its position."""
        if self.rules.ties == "random":
            tossed = f"{self.builder.contract.seed} {self.made.uid(self.index)} {contrast.name}"
            return float(hashlib.blake2b(tossed.encode(), digest_size=1).digest()[0] & 1)
        return TIE_WORTH[self.rules.ties]

    def add_contrasts(self) -> None:
        builder, first = self.builder, len(self.builder.contrasts)
        structures = [
            self._add_pair(contrast) if contrast.is_pair and self.rules.contrast != "words" else self._add(contrast)
            for contrast in stated_contrasts(self.made, self.variants, self.item_rule)
        ]
        if structures and self.made.is_suite:  # regions of every condition are shown, compared or not
            for role in self.roles:
                self._named(SpanTerm(role))
        if builder.contract.unit != "items" or len(structures) < 2:
            return
        known = [each for each in structures if each is not None]
        together = chance_of_all(_numbered(known))
        for row, structure in enumerate(structures, start=first):  # a declared chance is treated as independent
            together *= builder.contrasts[row][3] if structure is None else 1.0
        builder.contrasts[first:] = [(*row[:4], together, *row[5:]) for row in builder.contrasts[first:]]

    def _add_pair(self, contrast: Contrast) -> Groups | None:
        """The same as `_add`, but direct: nearly all contrasts are pairs."""
        builder, clause = self.builder, contrast.groups[0][0]
        variants = self.roles[clause.left[0].role], self.roles[clause.right[0].role]
        varied = differing(self.words[variants[0]], self.words[variants[1]])
        compared = self._compared(variants, varied, clause.left[0].span)
        number, row = len(builder.contrasts), len(builder.clauses)
        sentences = [self._sentence(variants[side], varied[side], compared[side][1]) for side in (0, 1)]
        for side in (0, 1):
            builder.terms.append((row, side, sentences[side], *compared[side]))
            builder.tested.append((number, sentences[side], *varied[side], side == 1 and sentences[0] == sentences[1]))
        builder.weights += (1.0, 1.0)
        builder.clauses.append((number, builder.groups, False, 0.0, 0.0))
        builder.groups += 1
        chance = PAIR_CHANCE if contrast.chance is None else contrast.chance
        worth = self.tie_worth(contrast)
        builder.contrasts.append((self.number, self.index, contrast.name, chance, chance, worth, 0, 1.0, True))
        if builder.contract.unit != "items" or contrast.chance is not None:
            return None
        left, right = (self.spans.setdefault((i, f"{clause.left[0].span} 0"), len(self.spans)) for i in variants)
        return (((((left, 1.0),), ((right, 1.0),), False, (0.0, 0.0)),),)

    def _add(self, contrast: Contrast) -> Groups | None:
        """Return which spans are compared with which, unless chance is declared."""
        builder, number = self.builder, len(self.builder.contrasts)
        focused = contrast.tested == "differing" and all(clause.is_pair for group in contrast.groups for clause in group)
        groups: list[tuple[NumberedClause, ...]] = []
        tested: list[tuple[int, Place]] = []
        for group in contrast.groups:
            clauses: list[NumberedClause] = []
            for clause in group:
                places = self._pairs(clause, tested) if focused else [self._sums(contrast, clause, tested)]
                for left, right in places:
                    self._add_clause(number, clause, left, right)
                    sides = (tuple((self._span(term), term.weight) for term in side) for side in (left, right))
                    clauses.append((*sides, clause.relation == "=", clause.constants))  # type: ignore[arg-type]
            builder.groups += 1
            groups.append(tuple(clauses))
        pair = contrast.is_pair and len(groups[0]) == 1
        _add_tested(builder.tested, number, tested, pair)
        chance = contrast.chance
        if chance is None:
            chance = PAIR_CHANCE if pair else chance_of_all(_numbered([tuple(groups)]))
        worth, metric = self.tie_worth(contrast), METRICS.index(contrast.metric)
        builder.contrasts.append((self.number, self.index, contrast.name, chance, chance, worth, metric, contrast.scale, pair))
        return tuple(groups) if contrast.chance is None else None

    def _span(self, term: "_PlacedTerm") -> int:
        """A span's number, the same wherever it is compared."""
        return self.spans.setdefault(term[4:], len(self.spans))

    def _add_clause(self, contrast: int, clause: Clause, left: "_PlacedTerms", right: "_PlacedTerms") -> None:
        builder = self.builder
        for side, terms in enumerate((left, right)):
            for term in terms:
                builder.terms.append((len(builder.clauses), side, term.sentence, term.start, term.end))
                builder.weights.append(term.weight)
        builder.clauses.append((contrast, builder.groups, clause.relation == "=", *clause.constants))

    def _pairs(self, clause: Clause, tested: list[tuple[int, Place]]) -> "Iterator[tuple[_PlacedTerms, _PlacedTerms]]":
        """What is compared in a good and a bad sentence; under the rule `words`, each differing word with its counterpart."""
        variants = self.roles[clause.left[0].role], self.roles[clause.right[0].role]
        varied = differing(self.words[variants[0]], self.words[variants[1]])
        compared = self._compared(variants, varied, clause.left[0].span)
        sentences = [self._sentence(i, v, c[1]) for i, v, c in zip(variants, varied, compared, strict=True)]
        tested += zip(sentences, varied, strict=True)
        for step, places in enumerate(self._word_by_word(variants, compared)):
            key = f"{clause.left[0].span} {step}"
            left, right = (
                (_PlacedTerm(sentence, *place, 1.0, variant, key),)
                for sentence, place, variant in zip(sentences, places, variants, strict=True)
            )
            yield left, right

    def _sums(self, contrast: Contrast, clause: Clause, tested: list[tuple[int, Place]]) -> "tuple[_PlacedTerms, _PlacedTerms]":
        """Any other clause, with its spans as positions in whole sentences."""
        left, right = (tuple(self._named(term) for term in side) for side in (clause.left, clause.right))
        if contrast.tested == "differing" and clause.is_pair and not clause.left[0].span:
            varied = differing(self.words[left[0].variant], self.words[right[0].variant])
            tested += zip((left[0].sentence, right[0].sentence), varied, strict=True)
        else:
            tested += [(term.sentence, (term.start, term.end)) for term in (*left, *right)]
        return left, right

    def _compared(self, variants: Place, varied: tuple[Place, Place], span: str) -> tuple[Place, Place]:
        """The compared stretches: whole sentences, the differing words, or a span that the source names."""
        if self.rules.contrast != "sentence":
            return varied
        if not span:
            return (0, len(self.words[variants[0]])), (0, len(self.words[variants[1]]))
        named = [{name: (start, end) for name, start, end in self.made.spans[i]} for i in variants]
        return named[0].get(span, varied[0]), named[1].get(span, varied[1])

    def _word_by_word(self, variants: Place, compared: tuple[Place, Place]) -> list[tuple[Place, Place]]:
        (start, end), (begin, stop) = compared
        if self.rules.contrast != "words" or end - start != stop - begin or end - start < 2:
            return [compared]
        one, other = self.words[variants[0]], self.words[variants[1]]
        steps = [step for step in range(end - start) if one[start + step] != other[begin + step]]
        return [((start + step, start + step + 1), (begin + step, begin + step + 1)) for step in steps]

    def _sentence(self, variant: int, varied: Place, end: int) -> int:
        """If only the target counts, what lies to its right need not be read."""
        text = self.made.texts[variant] or ""
        made = ProbeSentence(self.made.sentences[variant], varied, text, self.number * SPREAD + self.index)
        if self.rules.contrast != "sentence":
            made = made.up_to(end)
        return self.builder.sentences.setdefault(made, len(self.builder.sentences))

    def _named(self, term: SpanTerm) -> "_PlacedTerm":
        variant = self.roles[term.role]
        words = self.made.sentences[variant]
        made = ProbeSentence(words, (0, 0), self.made.texts[variant] or "", self.number * SPREAD + self.index)
        sentence = self.builder.sentences.setdefault(made, len(self.builder.sentences))
        place = (0, len(self.words[variant]))
        if term.span:
            named = {name: (start, end) for name, start, end in self.made.spans[variant]}
            if term.span not in named:
                there = ", ".join(named) or "none"
                message = f"{term.role} has no span {term.span!r}, which a contrast names; it has: {there}"
                raise SetError(self.made.place(self.index), None, message)
            place = named[term.span]
        return _PlacedTerm(sentence, *place, term.weight, variant, term.span)


class _PlacedTerm(NamedTuple):
    sentence: int
    start: int
    end: int
    weight: float
    variant: int
    span: str


_PlacedTerms = tuple[_PlacedTerm, ...]


def _add_tested(
    rows: list[tuple[int, int, int, int, bool]], contrast: int, tested: Sequence[tuple[int, Place]], pair: bool
) -> None:
    """A pair has two rows, good and bad. Elsewhere overlapping stretches of one sentence are merged."""
    if pair:
        (one, varied), (other, elsewhere) = tested
        rows += [(contrast, one, *varied, False), (contrast, other, *elsewhere, one == other)]
        return
    by_sentence: dict[int, list[Place]] = {}
    for sentence, place in tested:
        by_sentence.setdefault(sentence, []).append(place)
    for sentence, places in by_sentence.items():
        joined: list[Place] = []
        for start, end in sorted(set(places)):
            if joined and start <= joined[-1][1]:
                joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
            else:
                joined.append((start, end))
        rows += [(contrast, sentence, start, end, number > 0) for number, (start, end) in enumerate(joined)]


def _numbered(contrasts: Sequence[Groups]) -> tuple[Groups, ...]:
    """The spans in order of appearance, so that equal structures are equal and their chance is computed once."""
    known: dict[int, int] = {}

    def side(terms: tuple[tuple[int, float], ...]) -> tuple[tuple[int, float], ...]:
        return tuple((known.setdefault(span, len(known)), weight) for span, weight in terms)

    return tuple(
        tuple(tuple((side(left), side(right), equal, constants) for left, right, equal, constants in group) for group in groups)
        for groups in contrasts
    )
