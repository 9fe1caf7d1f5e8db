"""Items built unlike the others: regions equal in two conditions where the rest differ, or vice versa."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from .suite import Item, Suite

# What holds for this share of the items is the suite's rule.
RULE = 0.8
FEWEST_ITEMS = 5

Contents = dict[str, tuple[str, ...]]  # by condition: the contents of its regions


class Fact(NamedTuple):
    """A region is empty in a condition, or equal in two (`other`)."""

    place: int
    condition: str
    other: str


def pattern_notes(suite: Suite) -> Iterator[str]:
    """Each odd item once: conditions that look swapped, or the regions in which it is odd."""
    if len(suite.items) < FEWEST_ITEMS:
        return
    contents = [_contents(item) for item in suite.items]
    rules = _rules([_facts(each) for each in contents])
    for item, each in zip(suite.items, contents, strict=True):
        odd = _odd_facts(each, rules)
        if not odd:
            continue
        pair = next((p for p in combinations(suite.conditions, 2) if not _odd_facts(_swapped(each, *p), rules)), None)
        told = f"{pair[0]} and {pair[1]} look swapped" if pair else f"{_spelt(suite, odd, rules)}, unlike the other items"
        yield f"item {item.number}: {told}"


def _contents(item: Item) -> Contents:
    return {c.name: tuple(" ".join(region.content.split()) for region in c.regions) for c in item.conditions}


def _facts(contents: Contents) -> dict[Fact, bool]:
    facts = {}
    for place in range(len(next(iter(contents.values())))):
        for name in contents:
            facts[Fact(place, name, "")] = not contents[name][place]
        for one, other in combinations(sorted(contents), 2):
            facts[Fact(place, one, other)] = contents[one][place].lower() == contents[other][place].lower()
    return facts


def _rules(facts: list[dict[Fact, bool]]) -> dict[Fact, bool]:
    rules = {}
    for fact in facts[0]:
        value, count = Counter(each[fact] for each in facts).most_common(1)[0]
        if count >= RULE * len(facts):
            rules[fact] = value
    return rules


def _odd_facts(contents: Contents, rules: dict[Fact, bool]) -> list[Fact]:
    """Where an item breaks the rules. A region that is oddly empty is not also reported as unequal."""
    odd = [fact for fact, value in _facts(contents).items() if rules.get(fact, value) != value]
    empty = {fact.place for fact in odd if not fact.other}
    return [fact for fact in odd if not fact.other or fact.place not in empty]


def _swapped(contents: Contents, one: str, other: str) -> Contents:
    return {**contents, one: contents[other], other: contents[one]}


def _spelt(suite: Suite, odd: list[Fact], rules: dict[Fact, bool]) -> str:
    """One statement per region and kind, with all conditions it applies to."""
    groups: dict[tuple[int, str], list[str]] = {}
    for fact in odd:
        kind = f"{'not ' if rules[fact] else ''}{'the same' if fact.other else 'empty'}"
        groups.setdefault((fact.place, kind), []).append(f"{fact.condition} and {fact.other}" if fact.other else fact.condition)
    return "; ".join(f"{_region(suite, place)} is {kind} in {', '.join(where)}" for (place, kind), where in groups.items())


def _region(suite: Suite, place: int) -> str:
    number = suite.regions[place]
    return f"region {number} ({suite.region_names[number]})" if suite.region_names.get(number) else f"region {number}"
