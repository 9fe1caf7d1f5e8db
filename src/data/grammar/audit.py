"""What an author should know about a set before anyone trusts it: sizes, duplicates, balance, words outside a vocabulary."""

import math
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from .expand import Expansion, Group


@dataclass
class Audit:
    """Counts over one construction; `cells` holds the number of groups for each subject and attractor number."""

    groups: int = 0
    sentences: int = 0
    duplicates: int = 0
    tautologies: int = 0
    syncretic: int = 0
    alone: int = 0  # groups without an ungrammatical sentence
    cells: Counter[tuple[str, ...]] = field(default_factory=Counter)
    words: set[str] = field(default_factory=set)

    @property
    def balanced(self) -> bool:
        """Whether every combination of the occurring numbers has equally many groups, with and without an attractor."""
        return all(_level(cells) for cells in self.shapes().values())

    def shapes(self) -> dict[int, dict[tuple[str, ...], int]]:
        """The cells by how many numbers they have: a set may hold sentences with and without an attractor."""
        shapes: dict[int, dict[tuple[str, ...], int]] = {}
        for cell, count in self.cells.items():
            shapes.setdefault(len(cell), {})[cell] = count
        return shapes

    @property
    def faults(self) -> int:
        return self.duplicates + self.tautologies + self.syncretic + self.alone + (not self.balanced)


def _level(cells: dict[tuple[str, ...], int]) -> bool:
    values = [set(column) for column in zip(*cells, strict=True)]
    return len(set(cells.values())) <= 1 and len(cells) == math.prod(map(len, values))


def audit(expansion: Expansion) -> Audit:
    """One pass over all groups of a construction."""
    result = Audit()
    seen: set[tuple[str, ...]] = set()
    for group in expansion:
        texts = tuple(sentence.text for sentence in group.sentences)
        result.groups += 1
        result.sentences += len(texts)
        result.alone += len(texts) == 1
        result.duplicates += texts in seen
        seen.add(texts)
        good = group.sentences[0]
        result.tautologies += any(tautological(good.text.split(), start) for start, _ in good.spans)
        numbers = (str(group.features.get(name, "")) for name in ("subject_number", "attractor_number"))
        result.cells[tuple(number for number in numbers if number)] += 1
        for text in texts:
            result.words.update(text.split())
    result.syncretic = expansion.syncretic_sentences
    return result


def tautological(words: list[str], start: int) -> bool:
    """Whether the tested part, up to the end of the sentence, repeats what precedes the conjunction: *spricht und spricht*."""
    conjunct = words[start:]
    before = words[max(start - 1 - len(conjunct), 0) : max(start - 1, 0)]
    return bool(conjunct) and before == conjunct


@dataclass
class Coverage:
    """What a vocabulary costs: missing words with the groups that contain them, in the varied slot or around it."""

    groups: int = 0
    target_missing: int = 0
    context_missing: int = 0
    missing: Counter[str] = field(default_factory=Counter)


def coverage(groups: Iterable[Group], vocabulary: Collection[str]) -> Coverage:
    """A group is lost if a word of a varied slot is missing, and blurred if a context word is."""
    result = Coverage()
    for group in groups:
        targets: set[str] = set()
        context: set[str] = set()
        for sentence in group.sentences:
            for at, word in enumerate(sentence.text.split()):
                if word not in vocabulary:
                    inside = any(start <= at < end for start, end in sentence.spans)
                    (targets if inside else context).add(word)
        result.groups += 1
        result.target_missing += bool(targets)
        result.context_missing += bool(context) and not targets
        result.missing.update(targets | context)
    return result
