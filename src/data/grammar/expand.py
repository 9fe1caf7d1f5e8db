"""Every sentence of a challenge set, group by group: the grammatical one and what it is compared with.

The order is that of the published sets: template by template; within one, earlier slots change fastest, the varied
slot fastest of all; a grammatical sentence comes directly before its ungrammatical ones.
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...settings.languages import Clitics
from .clitics import MARK, joined_spans, render
from .frames import Frame, Value, fillings, frames, heuristics, lexemes, read_features
from .notices import GrammarError, Notice
from .rules import START, Grammar
from .unroll import Node, unroll
from .variation import Variation, syncretism
from .writer import Sentence, Writer, repeated

# Up to this many settings of the varied slots are computed once per frame; beyond it, each time.
KEPT_SETTINGS = 10_000
# A set is held in memory: about 350 bytes per sentence.
MOST_SENTENCES = 5_000_000
UNCOUNTED = 10**18  # counting stops here: the number itself could grow without bound


class Group(NamedTuple):
    """Sentences that differ only in the varied slots. The first is grammatical."""

    number: int
    template: int
    features: Mapping[str, Value]
    tags: tuple[str, ...]
    sentences: tuple[Sentence, ...]


class Expansion:
    """All groups of a grammar. Iterating streams them; what is left out is counted on the way."""

    def __init__(self, grammar: Grammar, clitics: Clitics = "split") -> None:
        self.grammar = grammar
        self.clitics = clitics
        self.root = unroll(grammar)
        self.marked = any(MARK.search(word) for body in grammar.rules.values() for a in body for word in map(str, a.parts))
        self.syncretic_sentences = 0
        self.groups_without_counterpart = 0
        self.notices: tuple[Notice, ...] = (*grammar.notices, *syncretism(grammar, self.root))
        self._check_vary()

    def __iter__(self) -> Iterator[Group]:
        self.syncretic_sentences = self.groups_without_counterpart = 0
        number = itertools.count()
        for frame in frames(self.root):
            yield from self._groups(frame, number)

    def template(self, index: int) -> str:
        """A template as written in the file, with its variables filled in."""
        return str(self.grammar.rules[START][index])

    def count(self) -> int:
        """The number of groups, without expanding them; groups that syncretism empties are still counted."""
        total = 0
        for frame in frames(self.root):
            apart = lexemes(self.grammar, frame)
            variation = Variation(self.grammar, frame, apart)
            fixed = (len(s.forms) for i, s in enumerate(frame.slots) if i not in variation.slots)
            free = math.prod(map(len, apart.values()))
            total += variation.size * math.prod(fixed) // free * fillings(list(apart.values()))
        return total

    def must_vary(self) -> None:
        """For a challenge set, a grammar must say what varies; one for a corpus need not."""
        if not self.grammar.vary:
            raise GrammarError(self.grammar.file, "no vary: line, so nothing is tested; add one, for instance vary: V[]")

    def _check_vary(self) -> None:
        """A misspelt vary: line is an error; otherwise a set would be silently empty."""
        names = {symbol.name for symbol in self.grammar.rules}
        for vary in self.grammar.vary:
            for reference in (r for item in vary.items for r in item):
                if reference.name not in names:
                    known = ", ".join(sorted(names))
                    raise GrammarError(vary.place, f"vary: {reference} names no slot; the names here are {known}")
                kept = frozenset(reference.attributes)
                if not any(kept <= symbol.attributes for symbol in self.grammar.rules if symbol.name == reference.name):
                    raise GrammarError(vary.place, f"vary: no {reference.name} has the attributes of {reference}")

    def _groups(self, frame: Frame, number: Iterator[int]) -> Iterator[Group]:
        variation = Variation(self.grammar, frame, lexemes(self.grammar, frame))
        fixed, measures = read_features(self.grammar, frame)
        fixed |= heuristics(self.grammar, frame, min(variation.slots, default=0), fixed)
        writer = Writer(frame, variation, fixed, measures)
        kept = list(variation.settings()) if variation.size <= KEPT_SETTINGS else None
        for choice in writer.choices():
            taken = [lexeme for filling in choice for lexeme in filling.lexemes]
            for versions, syncretic, words in kept if kept is not None else variation.settings():
                if words and repeated([*taken, *words]):
                    continue
                self.syncretic_sentences += syncretic
                if len(versions) == 1 and syncretic:
                    self.groups_without_counterpart += 1
                    continue
                sentences = writer.sentences(choice, versions)
                if self.marked:
                    sentences = [self._rendered(sentence) for sentence in sentences]
                features = writer.features(choice, versions[0].forms)
                yield Group(next(number), frame.template, features, frame.tags, tuple(sentences))

    def _rendered(self, sentence: Sentence) -> Sentence:
        spans = joined_spans(sentence.text, sentence.spans) if self.clitics == "joined" else sentence.spans
        return sentence._replace(text=render(sentence.text, self.clitics), spans=spans)


def count_sentences(root: Node) -> int:
    """The sentences the rules derive, up to UNCOUNTED; a sentence derived in two ways counts twice."""
    known: dict[int, int] = {}

    def count(node: Node) -> int:
        if id(node) not in known:
            total = 0
            for branch in node.branches:
                product = 1
                for part in branch.parts:
                    if not isinstance(part, str):
                        product = min(product * count(part), UNCOUNTED)
                total = min(total + product, UNCOUNTED)
            known[id(node)] = total
        return known[id(node)]

    return count(root)


def check_size(expansion: Expansion) -> Expansion:
    """The same, if it can be held; checked before any of it is expanded."""
    size = count_sentences(expansion.root)
    if size > MOST_SENTENCES:
        shown = f"{size:,}" if size < UNCOUNTED else f"over {UNCOUNTED:.0e}"
        message = f"this grammar has {shown} sentences, more than the {MOST_SENTENCES:,} of a set; use fewer words or fewer slots"
        raise GrammarError(expansion.grammar.file, message)
    return expansion
