"""A probe: challenge sets made ready to be scored again and again. What does not change between epochs is computed once."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .challenge_set import ChallengeSet, Contrast, SetError, differing
from .collection import CollectedSet
from .contract import Contract
from .dev_and_test import split
from .scorers import ProbeSentence

SPREAD = 1 << 32  # between the numbers of items of one set and of the next


@dataclass(frozen=True)
class Contrasts:
    """What must hold, a row each: the better and the worse sentence, the words that are compared and the words that vary."""

    set: NDArray[np.int64]  # (C,) number of the set
    item: NDArray[np.int64]  # (C,) number of the minimal set in it
    names: list[str]
    sentences: NDArray[np.int64]  # (C, 2) better, worse
    compared: NDArray[np.int64]  # (C, 2, 2) from … up to …, in words
    varied: NDArray[np.int64]  # (C, 2, 2)
    dev: NDArray[np.bool_]  # (C,)

    def __len__(self) -> int:
        return len(self.set)


@dataclass(frozen=True)
class Probe:
    """A collection of sets in one language under one contract. A sentence, with what is tested in it, is there once."""

    name: str
    language: str
    collected: list[CollectedSet]
    contract: Contract
    sentences: list[ProbeSentence]
    contrasts: Contrasts
    without: dict[str, str]  # constructions that cannot be scored, and why

    @property
    def sets(self) -> list[ChallengeSet]:
        return [each.challenge_set for each in self.collected]

    @property
    def constructions(self) -> list[str]:
        return [made.construction for made in self.sets]

    def forms(self) -> list[tuple[str, str]]:
        """The words that differ, of the better and the worse sentence of every contrast."""
        words = [sentence.words.split() for sentence in self.sentences]
        places = zip(self.contrasts.sentences.tolist(), self.contrasts.varied.tolist(), strict=True)
        return [
            (" ".join(words[one][start:end]), " ".join(words[other][begin:stop]))
            for (one, other), ((start, end), (begin, stop)) in places
        ]

    @property
    def digest(self) -> str:
        """A name for exactly these items: results are comparable where it is the same."""
        digest = hashlib.blake2b(digest_size=8)
        for made in self.sets:
            digest.update("\n".join([made.construction, *made.sentences]).encode())
        return digest.hexdigest()


def build_probe(name: str, language: str, collected: Sequence[CollectedSet], contract: Contract) -> Probe:
    """Gather the sentences and contrasts of all sets."""
    rows: list[_Row] = []
    sentences: dict[ProbeSentence, int] = {}
    usable: list[CollectedSet] = []
    without: dict[str, str] = {}
    for each in collected:
        made = each.challenge_set
        found = list(_rows(made, len(usable), contract, sentences))
        if not found:
            without[made.construction] = "it has no contrast between sentences (formulas over regions are not evaluated)"
            continue
        rows += found
        usable.append(each)
    if not rows:
        raise SetError(
            Path(collected[0].challenge_set.file if collected else name), None, "there is nothing to score in these sets"
        )
    return Probe(name, language, usable, contract, list(sentences), _columns(rows, usable), without)


@dataclass(frozen=True, slots=True)
class _Row:
    set: int
    item: int
    name: str
    sentences: tuple[int, int]
    compared: tuple[tuple[int, int], tuple[int, int]]
    varied: tuple[tuple[int, int], tuple[int, int]]


def _rows(made: ChallengeSet, number: int, contract: Contract, sentences: dict[ProbeSentence, int]) -> Iterator[_Row]:
    target = contract.rules.contrast == "target"
    for item in range(len(made)):
        variants = range(made.firsts[item], made.firsts[item + 1])
        words = {i: made.sentences[i].split() for i in variants}
        for name, span, better, worse in _pairs(made, variants, target):
            varied = differing(words[better], words[worse])
            compared = _compared(made, (better, worse), (len(words[better]), len(words[worse])), varied, target, span)
            # Where only the target counts, what lies to its right need not be read.
            chosen = (
                ProbeSentence(
                    " ".join(words[i][: end if target else None]),
                    place,
                    "" if target else made.texts[i] or "",
                    number * SPREAD + item,
                )
                for i, place, (_, end) in zip((better, worse), varied, compared, strict=True)
            )
            one, other = (sentences.setdefault(sentence, len(sentences)) for sentence in chosen)
            yield _Row(number, item, name, (one, other), compared, varied)


def _compared(
    made: ChallengeSet,
    variants: tuple[int, int],
    lengths: tuple[int, int],
    varied: tuple[tuple[int, int], tuple[int, int]],
    target: bool,
    span: str,
) -> tuple[tuple[int, int], tuple[int, int]]:
    """The stretches whose scores are compared: the whole sentences, the words that differ, or a span that the source names."""
    if target:
        return varied
    if not span:
        return (0, lengths[0]), (0, lengths[1])
    named = [{name: (start, end) for name, start, end in made.spans[i]} for i in variants]
    return named[0].get(span, varied[0]), named[1].get(span, varied[1])


def _pairs(made: ChallengeSet, variants: range, target: bool) -> Iterator[tuple[str, str, int, int]]:
    """Name, span, better and worse variant of every contrast of a minimal set."""
    if not made.contrasts:
        good = [i for i in variants if made.grammatical[i] is True]
        bad = [i for i in variants if made.grammatical[i] is False]
        yield from (("", "", i, j) for i in good for j in bad)
        return
    whole = [c for c in made.contrasts if not c.span and not c.formula]
    # Where a source compares both sentences and spans, the sentences are the measure; the rule `target` asks for the other.
    stated: Sequence[Contrast] = whole or [c for c in made.contrasts if not c.formula]
    roles = {made.roles[i]: i for i in variants}
    for contrast in stated:
        if contrast.better in roles and contrast.worse in roles:
            yield contrast.name, contrast.span, roles[contrast.better], roles[contrast.worse]


def _columns(rows: list[_Row], collected: Sequence[CollectedSet]) -> Contrasts:
    in_dev = []
    for each in collected:
        marks = np.zeros(len(each.challenge_set), bool)
        marks[split(each.challenge_set).dev] = True
        in_dev.append(marks)
    return Contrasts(
        np.array([row.set for row in rows]),
        np.array([row.item for row in rows]),
        [row.name for row in rows],
        np.array([row.sentences for row in rows]),
        np.array([row.compared for row in rows]),
        np.array([row.varied for row in rows]),
        np.array([bool(in_dev[row.set][row.item]) for row in rows]),
    )
