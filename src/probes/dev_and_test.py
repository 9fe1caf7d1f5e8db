"""Dev and test: a split of every set by the forms that are tested, so that the verbs of test are not those of dev.

A hash of the pair of forms decides, so the split is the same everywhere and for ever: a verb of dev is one of dev in every set,
however many others there are, with a capital or without. Where a set has fewer than four pairs of forms, the context decides: the
word in the first place that has at least four different ones; where there is no such place, each item by itself.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from .challenge_set import TARGET, ChallengeSet

FEWEST = 4
# Any would do; with this one each half of each of our own and of the published French sets has at least a quarter of the items.
SALT = b"split 191"


@dataclass(frozen=True)
class DevTestSplit:
    """Indices of the minimal sets, and the rule that told them apart."""

    dev: list[int]
    test: list[int]
    rule: str


def split(made: ChallengeSet) -> DevTestSplit:
    """Every minimal set is in dev or in test."""
    everything = range(len(made))
    rule, keys = "forms", [target_forms(made, i) for i in everything]
    if len(set(keys)) < FEWEST:
        rule, keys = "context word", _context_words(made)
    if len(set(keys)) < FEWEST:
        rule, keys = "item", [_item(made, i) for i in everything]
    in_dev = _halves(sorted(set(keys)))
    dev, test = ([i for i in everything if in_dev[keys[i]] is half] for half in (True, False))
    return DevTestSplit(dev, test, rule)


def _halves(keys: Sequence[str]) -> dict[str, bool]:
    """By the hash of each key alone; only if all would be on one side, half of them each, in the order of their hashes."""
    ranks = {key: hashlib.blake2b(key.encode(), digest_size=8, salt=SALT).digest() for key in keys}
    in_dev = {key: rank[0] < 128 for key, rank in ranks.items()}
    if len(set(in_dev.values())) == 2:
        return in_dev
    order = sorted(keys, key=ranks.__getitem__)
    return {key: place < len(order) // 2 for place, key in enumerate(order)}


def target_forms(made: ChallengeSet, index: int) -> str:
    """The words of the targets in all variants, whichever is the good one: lacht/lachen."""
    found = set()
    for i in range(made.firsts[index], made.firsts[index + 1]):
        words = _words(made.sentences[i])
        targets = (words[start:end] for name, start, end in made.spans[i] if name.startswith(TARGET))
        found.add(" … ".join(" ".join(target) for target in targets))
    return "/".join(sorted(found))


def _context_words(made: ChallengeSet) -> list[str]:
    """The words in the first place that tells enough items apart and is no target of any."""
    firsts = [_words(made.sentences[i]) for i in made.firsts[:-1]]
    spans = {span for i in made.firsts[:-1] for span in made.spans[i] if span.name.startswith(TARGET)}
    targets = {at for _, start, end in spans for at in range(start, end)}
    shortest = min((len(words) for words in firsts), default=0)
    places = (place for place in range(shortest) if place not in targets)
    place = next((place for place in places if len({words[place] for words in firsts}) >= FEWEST), None)
    return ["" if place is None else words[place] for words in firsts]


def _item(made: ChallengeSet, index: int) -> str:
    return "\n".join(" ".join(_words(made.sentences[i])) for i in range(made.firsts[index], made.firsts[index + 1]))


def _words(sentence: str) -> list[str]:
    """The rules of scoring may add a capital and a full stop; neither moves an item from dev to test."""
    return sentence.lower().removesuffix(" .").split()
