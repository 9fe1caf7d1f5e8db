"""What an author should know of a set before anyone trusts it: sizes, repetitions, balance, words outside a vocabulary."""

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
    cells: Counter[tuple[str, ...]] = field(default_factory=Counter)
    words: set[str] = field(default_factory=set)

    @property
    def balanced(self) -> bool:
        """Whether every combination of numbers has as many groups."""
        return len(set(self.cells.values())) <= 1


def audit(expansion: Expansion) -> Audit:
    """One pass over all groups of a construction."""
    result = Audit()
    seen: set[tuple[str, ...]] = set()
    for group in expansion:
        texts = tuple(sentence.text for sentence in group.sentences)
        result.groups += 1
        result.sentences += len(texts)
        result.duplicates += texts in seen
        seen.add(texts)
        result.tautologies += tautological(group)
        numbers = (str(group.features.get(name, "")) for name in ("subject_number", "attractor_number"))
        result.cells[tuple(number for number in numbers if number)] += 1
        for text in texts:
            result.words.update(text.split())
    result.syncretic = expansion.syncretic_sentences
    return result


def tautological(group: Group) -> bool:
    """Whether the tested form stands elsewhere in its sentence too: *spricht und spricht*."""
    good = group.sentences[0]
    words = good.text.split()
    for start, end in good.spans:
        target = words[start:end]
        places = (at for at in range(len(words) - len(target) + 1) if at != start)
        if target and any(words[at : at + len(target)] == target for at in places):
            return True
    return False


@dataclass
class Coverage:
    """What a vocabulary costs: missing words with the groups that contain them, in the varied slot or around it."""

    groups: int = 0
    target_missing: int = 0
    context_missing: int = 0
    missing: Counter[str] = field(default_factory=Counter)


def coverage(groups: Iterable[Group], vocabulary: Collection[str]) -> Coverage:
    """A group is lost if a word of a varied slot is missing, and blurred if one of its context is."""
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
