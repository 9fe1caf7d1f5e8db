"""A check of challenge sets: what is wrong or odd in them, with place, count and example."""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from data.grammar.audit import tautological

from .challenge_set import ChallengeSet

# Scripts are told apart by the first word of a letter's Unicode name; these go with any.
COMMON_SCRIPTS = {"DIGIT", "MODIFIER", "FEMININE", "MASCULINE", "COMBINING", "SUPERSCRIPT"}


@dataclass
class Finding:
    """A kind of fault in a set: how often, where first, and an example."""

    kind: str
    construction: str
    count: int = 0
    place: str = ""
    example: str = ""
    serious: bool = True

    def add(self, place: str, example: str) -> None:
        self.count += 1
        if self.count == 1:
            self.place, self.example = place, example


@dataclass
class Findings:
    """By construction and kind, in the order in which they came up."""

    found: dict[tuple[str, str], Finding] = field(default_factory=dict)

    def add(self, made: ChallengeSet, kind: str, index: int, example: str, serious: bool = True) -> None:
        key = (made.construction, kind)
        finding = self.found.setdefault(key, Finding(kind, made.construction, serious=serious))
        finding.add(f"{made.file}:{made.lines[index]}", example)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.found.values())


def check(sets: Sequence[ChallengeSet], vocabulary: Collection[str] | None = None) -> list[Finding]:
    """All findings over all sets."""
    findings = Findings()
    for made in sets:
        _within(made, findings)
        _balance(made, findings)
        if vocabulary is not None:
            _coverage(made, vocabulary, findings)
    _across(sets, findings)
    return list(findings)


def _within(made: ChallengeSet, findings: Findings) -> None:
    seen: set[tuple[str, ...]] = set()
    for index in range(len(made)):
        here = range(made.firsts[index], made.firsts[index + 1])
        sentences = [made.sentences[i] for i in here]
        if tuple(sentences) in seen:
            findings.add(made, "set twice", index, sentences[0])
        seen.add(tuple(sentences))
        if len(set(sentences)) < len(sentences):
            findings.add(made, "identical variants", index, sentences[0])
        _compare(made, index, [s.split() for s in sentences], findings)
        for i in here:
            _spelling(made, index, made.texts[i] or made.sentences[i], findings)


def _compare(made: ChallengeSet, index: int, words: list[list[str]], findings: Findings) -> None:
    """The first variant with each of the others."""
    for other in words[1:]:
        if len(other) != len(words[0]):
            findings.add(made, "unequal lengths", index, f"{' '.join(words[0])} / {' '.join(other)}", serious=False)
        elif sum(a != b for a, b in zip(words[0], other, strict=True)) > 1:
            findings.add(made, "several differing words", index, f"{' '.join(words[0])} / {' '.join(other)}", serious=False)
    first = made.firsts[index]
    if made.grammatical[first] and any(tautological(words[0], start) for _, start, _ in made.spans[first]):
        findings.add(made, "tautology", index, " ".join(words[0]))


def _spelling(made: ChallengeSet, index: int, text: str, findings: Findings) -> None:
    if not unicodedata.is_normalized("NFC", text):
        findings.add(made, "not in NFC", index, text)
    if text != " ".join(text.split()) or any(unicodedata.category(c) in ("Cc", "Cf") for c in text):
        findings.add(made, "odd white space", index, repr(text))
    for word in text.split():
        if not word.isascii() and len(_scripts(word)) > 1:
            findings.add(made, "mixed scripts", index, word)


def _scripts(word: str) -> set[str]:
    names = (unicodedata.name(letter, "").split() for letter in word if letter.isalpha())
    return {name[0] for name in names if name} - COMMON_SCRIPTS


def _balance(made: ChallengeSet, findings: Findings) -> None:
    """As many items for every value of subject and attractor number."""
    names = ("subject_number", "attractor_number")
    cells = Counter(tuple(str(features[name]) for name in names if name in features) for features in made.features)
    if len(set(cells.values())) > 1:
        shown = ", ".join(f"{'-'.join(cell) or 'unknown'} {count:,}" for cell, count in sorted(cells.items()))
        findings.add(made, "unbalanced", 0, shown, serious=False)


def _coverage(made: ChallengeSet, vocabulary: Collection[str], findings: Findings) -> None:
    """Items whose target or context has a word that a model would not know."""
    for index in range(len(made)):
        for i in range(made.firsts[index], made.firsts[index + 1]):
            words = made.sentences[i].split()
            missing = [at for at, word in enumerate(words) if word not in vocabulary]
            if missing:
                inside = any(start <= at < end for at in missing for _, start, end in made.spans[i])
                kind = "target not in vocabulary" if inside else "context not in vocabulary"
                findings.add(made, kind, index, ", ".join(words[at] for at in missing), serious=False)
                break


def _across(sets: Sequence[ChallengeSet], findings: Findings) -> None:
    """Sentences with two labels, and sets that share sentences."""
    labels: dict[str, tuple[bool, str]] = {}
    shared: defaultdict[str, set[str]] = defaultdict(set)
    for made in sets:
        for index in range(len(made)):
            own = made.sentences[made.firsts[index] : made.firsts[index + 1]]
            for flag, sentence in zip(made.grammatical[made.firsts[index] :], own, strict=False):
                # Identical variants of one set are a fault of their own.
                if flag is None or own.count(sentence) > 1:
                    continue
                before = labels.setdefault(sentence, (flag, made.construction))
                if before[0] is not flag:
                    findings.add(made, "both good and bad", index, sentence)
                elif before[1] != made.construction and sentence not in shared[made.construction]:
                    shared[made.construction].add(sentence)
                    findings.add(made, "sentence of another set", index, f"{sentence} (also in {before[1]})", serious=False)
