"""A probe: challenge sets made ready to be scored again and again. What does not change between epochs is computed once."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .challenge_set import ChallengeSet, SetError
from .collection import CollectedSet
from .contract import Contract
from .contrast_table import Contrasts, ContrastTableBuilder
from .dev_and_test import split
from .groupings import NUMBER, Grouping
from .scorers import ProbeSentence


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
    groupings: tuple[Grouping, ...] = (NUMBER,)

    @property
    def sets(self) -> list[ChallengeSet]:
        return [each.challenge_set for each in self.collected]

    @property
    def constructions(self) -> list[str]:
        return [made.construction for made in self.sets]

    def forms(self) -> list[tuple[str, str]]:
        """The words that differ, of the good and the bad sentence of every pair."""
        words = [sentence.words.split() for sentence in self.sentences]
        pairs = self.contrasts.pairs
        places = zip(pairs.sentences.tolist(), pairs.varied.tolist(), strict=True)
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


def build_probe(name: str, language: str, collected: Sequence[CollectedSet], groupings: Sequence[Grouping] = (NUMBER,)) -> Probe:
    """Gather the sentences and contrasts of all sets, under the contract that they were collected under."""
    if not collected:
        raise SetError(name, None, "there are no challenge sets to score")
    contracts = {each.contract for each in collected}
    agreed = contracts.pop()
    if agreed is None or contracts:
        raise ValueError(f"{name}: sets are scored under one contract, by which they were collected")
    builder = ContrastTableBuilder(agreed)
    usable: list[CollectedSet] = []
    without: dict[str, str] = {}
    for each in collected:
        made = each.challenge_set
        if made.construction in agreed.excluded:
            without[made.construction] = f"the protocol {agreed.protocol} does not count it"
        elif builder.add(made, len(usable), agreed.rules_for(made)):
            usable.append(each)
        else:
            without[made.construction] = "it has no contrast: neither good and bad sentences, nor a prediction"
    if not usable:
        raise SetError(collected[0].challenge_set.file, None, "there is nothing to score in these sets")
    declared = {each.name: each for each in (*groupings, *(own for each in usable for own in each.challenge_set.groupings))}
    contrasts = builder.table([_dev_items(each.challenge_set) for each in usable])
    return Probe(name, language, usable, agreed, list(builder.sentences), contrasts, without, tuple(declared.values()))


def _dev_items(made: ChallengeSet) -> NDArray[np.bool_]:
    marks = np.zeros(len(made), bool)
    marks[split(made).dev] = True
    return marks
