"""A check of challenge sets: what is wrong or odd in them, with place, count and example."""

import itertools
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ..data.grammar.audit import tautological
from .challenge_set import NOT_BY_LINE, TARGET, ChallengeSet
from .set_file import texts

# Scripts are identified by the first word of a letter's Unicode name; these go with any.
COMMON_SCRIPTS = {"DIGIT", "MODIFIER", "FEMININE", "MASCULINE", "COMBINING", "SUPERSCRIPT"}
# Invisible, but part of how some scripts are written.
JOINERS = "\u200c\u200d"
INVISIBLE = "invisible characters"
SHOWN = 12
SHORTEST = 4  # minimum letters in each of two joined words
CHECKS = """\
What is checked, by item: sets, sentences and variants that are repeated, in one set or in another; sentences that
are good here and bad there; nothing to compare with; unequal lengths, several differing words, a verb that repeats
the one before it (tautology); numbers of subject and attractor that are out of balance; decomposed and invisible
characters, mixed scripts, odd white space; two words in one; with --vocab, words that a model does not know.
What no check here can find: a sentence that is not grammatical, or means nothing; a label that is wrong everywhere;
a misspelt word; a bad sentence that another reading makes good."""


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
    """By construction and kind, in order of appearance."""

    found: dict[tuple[str, str], Finding] = field(default_factory=dict)

    def add(self, made: ChallengeSet, kind: str, index: int, example: str, serious: bool = True) -> None:
        self.add_at(made, kind, made.place(index), example, serious)

    def add_at(self, made: ChallengeSet, kind: str, place: str, example: str, serious: bool = True) -> None:
        key = (made.construction, kind)
        finding = self.found.setdefault(key, Finding(kind, made.construction, serious=serious))
        finding.add(place, example)

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
    _white_space(sets, findings)
    _across(sets, findings)
    _glued(sets, findings)
    return list(findings)


def _within(made: ChallengeSet, findings: Findings) -> None:
    sets: set[tuple[str, ...]] = set()
    spelt: set[str] = set()
    for index in range(len(made)):
        here = range(made.firsts[index], made.firsts[index + 1])
        sentences = tuple(made.sentences[i] for i in here)
        if sentences in sets:
            findings.add(made, "set twice", index, sentences[0])
        sets.add(sentences)
        if len(set(sentences)) < len(sentences):
            findings.add(made, "identical variants", index, sentences[0])
        if len(sentences) < 2:
            findings.add(made, "nothing to compare with", index, sentences[0])
        _compare(made, index, [s.split() for s in sentences], findings)
        for text in {made.texts[i] or made.sentences[i]: None for i in here}:
            if text not in spelt:
                _spelling(made, index, text, findings)
            spelt.add(text)


def _compare(made: ChallengeSet, index: int, words: list[list[str]], findings: Findings) -> None:
    """Compare the first variant with each of the others."""
    others = words[1:]
    if unequal := next((other for other in others if len(other) != len(words[0])), None):
        findings.add(made, "unequal lengths", index, f"{' '.join(words[0])} / {' '.join(unequal)}", serious=False)
    if several := next((other for other in others if _differences(words[0], other) > 1), None):
        findings.add(made, "several differing words", index, f"{' '.join(words[0])} / {' '.join(several)}", serious=False)
    first = made.firsts[index]
    if made.grammatical[first] and any(tautological(words[0], start) for _, start, _ in made.spans[first]):
        findings.add(made, "tautology", index, " ".join(words[0]))


def _differences(one: list[str], other: list[str]) -> int:
    """How many words differ, for sentences of equal length."""
    return sum(map(str.__ne__, one, other)) if len(one) == len(other) else 0


def _spelling(made: ChallengeSet, index: int, text: str, findings: Findings) -> None:
    if text.isascii() and text.isprintable():
        return
    words = text.split()
    for kind in dict.fromkeys(kind for word in words for kind in _misspelt(word)):
        findings.add(made, kind, index, repr(text) if kind == INVISIBLE else text)
    scripts = {script: word for word in words for script in _scripts(word)}
    if len(scripts) > 1:
        findings.add(made, "mixed scripts", index, f"{text} ({', '.join(f'{s.lower()}: {w}' for s, w in scripts.items())})")


@cache
def _misspelt(word: str) -> tuple[str, ...]:
    """Faults in a word that cannot be seen."""
    decomposed = not unicodedata.is_normalized("NFC", word)
    invisible = any(unicodedata.category(letter) in ("Cc", "Cf") and letter not in JOINERS for letter in word)
    return ("not in NFC",) * decomposed + (INVISIBLE,) * invisible


@cache
def _scripts(word: str) -> frozenset[str]:
    names = (unicodedata.name(letter, "").split() for letter in word if letter.isalpha())
    return frozenset(name[0] for name in names if name) - COMMON_SCRIPTS


def _white_space(sets: Sequence[ChallengeSet], findings: Findings) -> None:
    """Double spaces, spaces at the ends, unusual spaces: checked in the files, since sets hold words."""
    seen: set[str] = set()
    for made in sets:
        for file in dict.fromkeys(made.files or [made.file]):
            if file in seen or file.endswith(NOT_BY_LINE) or not Path(file).is_file():
                continue
            seen.add(file)
            for number, text in texts(Path(file)):
                if text != " ".join(text.split()):
                    findings.add_at(made, "odd white space", f"{file}:{number}", repr(text))


def _balance(made: ChallengeSet, findings: Findings) -> None:
    """Equally many items for every combination of subject and attractor number that the values allow."""
    names = ("subject_number", "attractor_number")
    cells = Counter(tuple(str(features[name]) for name in names if name in features) for features in made.features)
    if len({len(cell) for cell in cells}) == 1:
        for cell in itertools.product(*(sorted(set(values)) for values in zip(*cells, strict=True))):
            cells.setdefault(cell, 0)
    if len(set(cells.values())) > 1:
        shown = ", ".join(f"{'-'.join(cell) or 'unknown'} {count:,}" for cell, count in sorted(cells.items()))
        findings.add(made, "unbalanced", 0, shown, serious=False)


def _coverage(made: ChallengeSet, vocabulary: Collection[str], findings: Findings) -> None:
    """Items whose target, or else context, has a word the model would not know; and how many items each word costs."""
    costs: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for index in range(len(made)):
        inside, outside = _missing(made, index, vocabulary)
        if inside or outside:
            kind = f"{'target' if inside else 'context'} not in vocabulary"
            findings.add(made, kind, index, "", serious=False)
            costs[kind].update(inside or outside)
    for kind, words in costs.items():
        shown = ", ".join(f"{word} {count:,}" for word, count in words.most_common(SHOWN))
        more = f", … ({len(words):,} words)" if len(words) > SHOWN else ""
        findings.found[made.construction, kind].example = f"items per word: {shown}{more}"


def _missing(made: ChallengeSet, index: int, vocabulary: Collection[str]) -> tuple[set[str], set[str]]:
    """Unknown words of a minimal set: those in a target of any variant, and the others."""
    inside: set[str] = set()
    outside: set[str] = set()
    for i in range(made.firsts[index], made.firsts[index + 1]):
        for at, word in enumerate(made.sentences[i].split()):
            if word not in vocabulary:
                tested = any(start <= at < end for name, start, end in made.spans[i] if name.startswith(TARGET))
                (inside if tested else outside).add(word)
    return inside, outside


def _across(sets: Sequence[ChallengeSet], findings: Findings) -> None:
    """Sentences with two labels, repeated sentences, and sets that share sentences."""
    known: dict[str, tuple[bool, str]] = {}
    for made in sets:
        seen: set[tuple[str, ...]] = set()
        for index in range(len(made)):
            own = tuple(made.sentences[made.firsts[index] : made.firsts[index + 1]])
            # Identical variants of one set, and repeated sets, are separate faults.
            if len(set(own)) == len(own) and own not in seen:
                _labels(made, index, known, findings)
            seen.add(own)


def _labels(made: ChallengeSet, index: int, known: dict[str, tuple[bool, str]], findings: Findings) -> None:
    """Each kind once per item, however many of its sentences it applies to."""
    told: dict[str, tuple[str, bool]] = {}
    for i in range(made.firsts[index], made.firsts[index + 1]):
        flag, sentence = made.grammatical[i], made.sentences[i]
        if flag is None:
            continue
        label, elsewhere = known.get(sentence, (None, ""))
        if label is None:
            known[sentence] = (flag, made.construction)
        elif label is not flag:
            told.setdefault("both good and bad", (sentence, True))
        elif elsewhere == made.construction:
            told.setdefault("sentence twice", (sentence, False))
        else:
            told.setdefault("sentence of another set", (f"{sentence} (also in {elsewhere})", False))
    for kind, (example, serious) in told.items():
        findings.add(made, kind, index, example, serious)


def _glued(sets: Sequence[ChallengeSet], findings: Findings) -> None:
    """Words that are two other words of the sets without the space. It may be a compound, so it is only a note."""
    words = {word for made in sets for sentence in dict.fromkeys(made.sentences) for word in sentence.split()}
    glued = {
        word: f"{word[:at]} {word[at:]}"
        for word in words
        for at in range(SHORTEST, len(word) - SHORTEST + 1)
        if word[:at] in words and word[at:] in words
    }
    for made in sets if glued else ():
        for index in range(len(made)):
            here = (made.sentences[i].split() for i in range(made.firsts[index], made.firsts[index + 1]))
            if found := next((word for sentence in here for word in sentence if word in glued), None):
                findings.add(made, "two words in one", index, f"{found} ({glued[found]})", serious=False)
