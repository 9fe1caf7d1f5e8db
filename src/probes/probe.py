"""A probe: challenge sets made ready for repeated scoring. What does not change between epochs is computed once."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .challenge_set import ChallengeSet, SetError
from .collection import CollectedSet
from .contract import Contract
from .contrast_table import Contrasts, ContrastTableBuilder
from .groupings import ANIMACY, NUMBER, Grouping
from .scorers import ProbeSentence

if TYPE_CHECKING:  # it reads checkpoints and so imports torch, which viewing sets does not need
    from .lexicon.fitting import FittedLexicon

CONTRAST = "contrast"  # the grouping by contrast name, if a construction's items have several


@dataclass(frozen=True)
class Probe:
    """A collection of sets in one language under one contract. Each sentence, with its tested part, is stored once."""

    name: str
    language: str
    collected: list[CollectedSet]
    contract: Contract
    sentences: list[ProbeSentence]
    contrasts: Contrasts
    without: dict[str, str]  # constructions that cannot be scored, and why
    groupings: tuple[Grouping, ...] = (NUMBER,)
    lexicon: "FittedLexicon | None" = None  # the choice of its words, if they were fitted to a vocabulary
    _members: dict[tuple[str, int], dict[str, NDArray[np.int64]]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def sets(self) -> list[ChallengeSet]:
        return [each.challenge_set for each in self.collected]

    @property
    def extent(self) -> tuple[int, int]:
        """How many items are probed, and how many the sets have without duplicates."""
        return sum(map(len, self.sets)), sum(each.size - each.repeated for each in self.collected)

    @property
    def constructions(self) -> list[str]:
        return [made.construction for made in self.sets]

    def forms(self) -> list[tuple[str, str]]:
        """The differing words of the good and the bad sentence of every pair."""
        words = [sentence.words.split() for sentence in self.sentences]
        pairs = self.contrasts.pairs
        places = zip(pairs.sentences.tolist(), pairs.varied.tolist(), strict=True)
        return [
            (" ".join(words[one][start:end]), " ".join(words[other][begin:stop]))
            for (one, other), ((start, end), (begin, stop)) in places
        ]

    def members(self, grouping: Grouping, number: int) -> dict[str, NDArray[np.int64]]:
        """The contrasts of a set in each group its items belong to; computed once."""
        key = (grouping.name, number)
        if key not in self._members:
            self._members[key] = _group_members(self.contrasts, self.sets[number], number, grouping)
        return self._members[key]

    def contrast_members(self, number: int) -> dict[str, NDArray[np.int64]]:
        """The contrasts of a set by name, if it has several: three in a polarity triple."""
        key = (CONTRAST, number)
        if key not in self._members:
            own = self.contrasts.of_set(number)
            names = self.contrasts.names[own[0] : own[-1] + 1]
            different = list(dict.fromkeys(names))
            marks = np.array(names) if len(different) > 1 else np.zeros(0)
            self._members[key] = {f"{CONTRAST}={name}": own[marks == name] for name in different} if len(marks) else {}
        return self._members[key]

    @property
    def digest(self) -> str:
        """A name for exactly these items: results with the same digest are comparable."""
        digest = hashlib.blake2b(digest_size=8)
        for made in self.sets:
            digest.update("\n".join([made.construction, *made.sentences]).encode())
        return digest.hexdigest()


def build_probe(name: str, language: str, collected: Sequence[CollectedSet], groupings: Sequence[Grouping] = (NUMBER,)) -> Probe:
    """Collect the sentences and contrasts of all sets, under the contract they were collected under."""
    if not collected:
        raise SetError(name, None, "no challenge sets to score")
    contracts = {each.contract for each in collected}
    agreed = contracts.pop()
    if agreed is None or contracts:
        raise ValueError(f"{name}: all sets must be scored under the contract they were collected under")
    builder = ContrastTableBuilder(agreed)
    usable: list[CollectedSet] = []
    without: dict[str, str] = {}
    for each in collected:
        made = each.challenge_set
        if made.construction in agreed.excluded:
            without[made.construction] = f"the protocol {agreed.protocol} does not count it"
        elif builder.add(made, len(usable), agreed.rules_for(made)):
            usable.append(replace(each, dev=each.dev_items()))
        else:
            without[made.construction] = "it has no contrast: neither good and bad sentences, nor a prediction"
    if not usable:
        raise SetError(collected[0].challenge_set.file, None, "nothing to score in these sets")
    stated = dict.fromkeys(own for each in usable for own in each.challenge_set.groupings)
    names = [each.challenge_set.construction for each in usable]
    own = [kept for each in stated if (kept := each.pooling(names) if each == ANIMACY else each)]
    declared = {each.name: each for each in (*groupings, *own)}
    contrasts = builder.table([each.dev_items() for each in usable])
    return Probe(name, language, usable, agreed, list(builder.sentences), contrasts, without, tuple(declared.values()))


def _group_members(contrasts: Contrasts, made: ChallengeSet, number: int, grouping: Grouping) -> dict[str, NDArray[np.int64]]:
    own = contrasts.of_set(number)
    items: dict[str, list[int]] = {}
    known: dict[tuple[object, ...], list[str]] = {}
    for item, features in enumerate(made.features):
        key = tuple(map(features.get, grouping.by))
        if key not in known:
            known[key] = grouping.groups_of(features, made.construction)
        for name in known[key]:
            items.setdefault(name, []).append(item)
    found = {}
    for name in [name for name, _ in grouping.groups if name in items] or sorted(items):
        marks = np.zeros(len(made), bool)
        marks[items[name]] = True
        found[name] = own[marks[contrasts.item[own]]]
    return found
