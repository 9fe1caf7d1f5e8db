"""Which words of a lexicon a set uses: those whose forms the vocabulary all has, often enough, matched in frequency.

A word qualifies if every form of it that the constructions can show is known and occurs at least `least` times; a form is what
a sentence shows, attached clitics included. When `choose` takes a number of words from a list, the most frequent two thirds stay
in the draw, and of these the two thirds whose singular and plural are most alike; of several draws with the seed, the one in
which they are closest in sum is used. Each verb is tested in both numbers, so that the bad form of one is the good form of the
other: over a set, good and bad forms are equally frequent.
"""

import math
import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ...data.grammar.clitics import render
from ...data.grammar.folder import constructions, load
from ...data.grammar.restrict import LexiconRow, fixed_words, occurrences, restrict
from ...data.grammar.rules import Grammar
from ...settings.languages import Clitics
from .known_words import KnownWords, log_frequency

DRAWS = 200
Outcome = Literal["chosen", "spare", "unknown", "rare"]


@dataclass(frozen=True)
class FitRule:
    """What a word must satisfy, and which draw is used."""

    least: int = 10
    seed: int = 0
    capitalize: bool = False  # whether sentences start with a capital


@dataclass(eq=False)
class LexiconWord:
    """A row of a list: what its sentences show of it in the singular, in the plural, and in both alike."""

    row: LexiconRow
    lists: str  # the name of its list
    forms: dict[str, dict[str, None]] = field(default_factory=dict)  # words by number
    counts: dict[str, float] = field(default_factory=dict)
    outcome: Outcome = "spare"
    reason: str = ""

    @property
    def words(self) -> list[str]:
        return list(dict.fromkeys(word for words in self.forms.values() for word in words))

    def _by_number(self) -> tuple[list[str], list[str]]:
        """What only the singular shows, and what only the plural shows."""
        singular, plural = (self.forms.get(number, {}) for number in ("s", "p"))
        return [w for w in singular if w not in plural], [w for w in plural if w not in singular]

    @property
    def shows_number(self) -> bool:
        return all(self._by_number())

    @property
    def imbalance(self) -> float:
        """How much more frequent the singular is than the plural, in powers of two; what both numbers share does not count."""
        if not self.shows_number:
            return 0.0
        one, many = self._by_number()
        return log_frequency(self.counts[word] for word in one) - log_frequency(self.counts[word] for word in many)

    @property
    def frequency(self) -> float:
        """The frequency of its rarest form."""
        return min((self.counts.get(word, 0.0) for word in self.words), default=math.inf)


@dataclass(frozen=True)
class FittedLexicon:
    """The words of a grammar folder with the fate of each, and the remaining grammars."""

    folder: Path
    rule: FitRule
    source: str
    counted: bool
    words: list[LexiconWord]
    grammars: dict[str, Grammar | None]  # None: no sentence is left
    unknown_context: list[str]  # words in the rules themselves that the vocabulary lacks
    wanted: Mapping[str, int]

    def short(self) -> dict[str, tuple[int, int]]:
        """Lists with fewer words than wanted: how many they have, and how many were wanted."""
        taken = {name: sum(w.outcome == "chosen" for w in self.words if w.lists == name) for name in self.wanted}
        return {name: (taken[name], number) for name, number in self.wanted.items() if taken[name] < number}

    def statement(self) -> str:
        """For the contract."""
        often = f", each form at least {self.rule.least} times in the training text" if self.counted else ""
        return f"words chosen to fit the vocabulary of {self.source}{often}, seed {self.rule.seed}"


def fit_lexicon(folder: Path, known: KnownWords, rule: FitRule, clitics: Clitics, names: Collection[str] = ()) -> FittedLexicon:
    """The lexicon of a folder for what a model knows. One choice for all its constructions, whichever are requested."""
    grammars = {name: load(folder, name) for name in constructions(folder)}
    words = _words_of(grammars.values(), clitics, rule.capitalize)
    context = _context(grammars.values())
    counts = known.look_up(dict.fromkeys([*context, *(form for word in words for form in word.words)]))
    for word in words:
        _qualify(word, counts, rule.least if known.counted else 0)
    wanted = {name: number for grammar in grammars.values() for name, number in grammar.choose.items()}
    for name in dict.fromkeys(word.lists for word in words):
        own = [word for word in words if word.lists == name and word.outcome == "spare"]
        for word in _choose(own, wanted.get(name), f"{rule.seed} {name}"):
            word.outcome = "chosen"
    kept = {word.row for word in words if word.outcome == "chosen"}
    told = {word.row for word in words}
    asked = {name: grammar for name, grammar in grammars.items() if not names or name in names}
    left = {name: restrict(grammar, lambda row: row in kept or row not in told) for name, grammar in asked.items()}
    missing = [word for word in context if word not in counts]
    used = {word.lists for word in words}
    return FittedLexicon(
        folder, rule, known.name, known.counted, words, left, missing, {n: k for n, k in wanted.items() if n in used}
    )


def lexicon_words(folder: Path, clitics: Clitics) -> list[str]:
    """Every word that the choice from a folder can depend on, however sentences begin."""
    grammars = [load(folder, name) for name in constructions(folder)]
    words = [word for capitalize in (False, True) for word in _words_of(grammars, clitics, capitalize)]
    return list(dict.fromkeys([*_context(grammars), *(form for word in words for form in word.words)]))


def _words_of(grammars: Iterable[Grammar], clitics: Clitics, capitalize: bool) -> list[LexiconWord]:
    """Every row that a sentence can show, in file order."""
    found: dict[LexiconRow, LexiconWord] = {}
    for grammar in grammars:
        numbers = next((set(each.labels) for each in grammar.attributes if each.name == "number"), set())
        for each in occurrences(grammar):
            word = found.setdefault(each.row, LexiconWord(each.row, each.symbol.name))
            number = next(iter(each.symbol.attributes & numbers), "")
            shown = render(each.marked, clitics)
            if each.begins and capitalize:
                shown = shown[:1].upper() + shown[1:]
            word.forms.setdefault(number, {}).update(dict.fromkeys(shown.split()))
    return [found[row] for row in sorted(found, key=lambda row: (row.place.file, row.place.line))]


def _context(grammars: Iterable[Grammar]) -> list[str]:
    """Words in the rules themselves."""
    words: dict[str, None] = {}
    for grammar in grammars:
        words |= fixed_words(grammar)
    return list(words)


def _qualify(word: LexiconWord, counts: Mapping[str, float], least: int) -> None:
    word.counts = {form: counts[form] for form in word.words if form in counts}
    if missing := [form for form in word.words if form not in counts]:
        word.outcome, word.reason = "unknown", f"not in the vocabulary: {', '.join(missing)}"
    elif rare := [form for form in word.words if counts[form] < least]:
        shown = ", ".join(f"{form} {counts[form]:g}" for form in rare)
        word.outcome, word.reason = "rare", f"fewer than {least} times: {shown}"


def _choose(words: Sequence[LexiconWord], number: int | None, seed: str) -> list[LexiconWord]:
    """`number` of these words, matched as well as possible; all of them if there are no more."""
    if number is None or len(words) <= number:
        return list(words)
    frequent = sorted(words, key=lambda word: -word.frequency)[: _two_thirds(len(words), number)]
    # Words with identical singular and plural match, but show nothing: last.
    alike = sorted(frequent, key=lambda word: (not word.shows_number, abs(word.imbalance)))
    pool = {*alike[: _two_thirds(len(frequent), number)]}
    ordered = [word for word in words if word in pool]  # in file order, whatever the counts
    rng = random.Random(seed)
    draws = [rng.sample(ordered, number) for _ in range(DRAWS)]
    return min(draws, key=lambda draw: (-sum(word.shows_number for word in draw), abs(sum(word.imbalance for word in draw))))


def _two_thirds(size: int, needed: int) -> int:
    return max(needed, math.ceil(size * 2 / 3))
