"""Dev and test: a split of every set by the forms that are tested, so that the verbs of test are not those of dev.

A hash of the pair of forms decides, so the split is the same everywhere and for ever. Where a set has fewer than four pairs of
forms, the first context word that differs between items decides; where there are fewer than four of those, each item by itself.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from .challenge_set import ChallengeSet

FEWEST = 4


@dataclass(frozen=True)
class Split:
    """Indices of the minimal sets, and the rule that told them apart."""

    dev: list[int]
    test: list[int]
    rule: str


def split(made: ChallengeSet) -> Split:
    """Every minimal set is in dev or in test."""
    everything = range(len(made))
    rule, keys = "forms", [forms(made, i) for i in everything]
    if len(set(keys)) < FEWEST:
        rule, keys = "context word", _context_words(made)
    if len(set(keys)) < FEWEST:
        rule, keys = "item", [made.uid(i) for i in everything]
    in_dev = _halves(sorted(set(keys)))
    dev, test = ([i for i in everything if in_dev[keys[i]] is half] for half in (True, False))
    return Split(dev, test, rule)


def _halves(keys: Sequence[str]) -> dict[str, bool]:
    """The keys in the order of their hashes, half of them each; so both halves have some, and no key depends on a seed."""
    order = sorted(keys, key=lambda key: hashlib.blake2b(key.encode(), digest_size=8).hexdigest())
    return {key: rank < len(order) // 2 for rank, key in enumerate(order)}


def forms(made: ChallengeSet, index: int) -> str:
    """The words of the spans in all variants, whichever is the good one: lacht/lachen."""
    found = set()
    for i in range(made.firsts[index], made.firsts[index + 1]):
        words = made.sentences[i].split()
        found.add(" … ".join(" ".join(words[start:end]) for _, start, end in made.spans[i]))
    return "/".join(sorted(found))


def _context_words(made: ChallengeSet) -> list[str]:
    """The first word that is not the same in all items."""
    firsts = [made.sentences[i].split() for i in made.firsts[:-1]]
    shortest = min((len(words) for words in firsts), default=0)
    place = next((p for p in range(shortest) if len({words[p] for words in firsts}) > 1), None)
    return ["" if place is None else words[place] for words in firsts]
