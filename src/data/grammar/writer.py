"""Fills words into a frame, fast: stretches of slots are joined once and reused for every sentence that has them."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from .clitics import Spans
from .frames import Frame, FrameSlot, Lexeme, Measure, Value
from .variation import Variation, Version, word_count

# The most fillings of a stretch kept in memory; longer stretches are cut in two.
KEPT_FILLINGS = 4096


class Sentence(NamedTuple):
    """Words separated by spaces; the spans of the varied slots, in words; what was changed ('' if nothing)."""

    text: str
    grammatical: bool
    spans: Spans
    change: str


class Filling(NamedTuple):
    """The words of a stretch, their number, and how many of them each measure counts."""

    text: str
    words: int
    measured: tuple[int, ...]
    lexemes: tuple[Lexeme, ...]


class Writer:
    """The sentences of one frame. Its pieces are, in order, stretches of free slots and varied slots."""

    def __init__(self, frame: Frame, variation: Variation, fixed: dict[str, Value], measures: list[Measure]) -> None:
        self.fixed = fixed
        self.measures = measures
        self.lexemes = variation.lexemes
        varied = variation.slots
        self.crossed = any(start <= slot < end for _, start, end in measures for slot in varied)
        self.varied = varied
        self.stretches: list[list[Filling]] = []
        self.pieces: list[bool] = []  # whether the piece is a varied slot
        free = (-1, *varied, len(frame.slots))
        for before, after in itertools.pairwise(free):
            if before >= 0:
                self.pieces.append(True)
            for start, end in _cut(frame.slots, before + 1, after):
                self.pieces.append(False)
                self.stretches.append(list(self._fillings(frame.slots, start, end)))
        self.places = [place for place, varied in enumerate(self.pieces) if varied]
        self.known_spans: dict[tuple[tuple[int, ...], tuple[int, ...]], Spans] = {}
        self.known_features: dict[tuple[int, ...], dict[str, Value]] = {}

    def choices(self) -> Iterator[tuple[Filling, ...]]:
        """All fillings of the free slots; earlier slots change fastest, as in the published sets."""
        for choice in itertools.product(*reversed(self.stretches)):
            if not self.lexemes or not repeated(lexeme for filling in choice for lexeme in filling.lexemes):
                yield choice[::-1]

    def sentences(self, choice: tuple[Filling, ...], versions: list[Version]) -> list[Sentence]:
        """One sentence per version of the varied slots."""
        fillings = iter(choice)
        texts = ["" if varied else next(fillings).text for varied in self.pieces]
        lengths = tuple([filling.words for filling in choice])
        written = []
        for version in versions:
            for place, form in zip(self.places, version.forms, strict=True):
                texts[place] = form
            key = (lengths, version.lengths)
            spans = self.known_spans[key] if key in self.known_spans else self._remember_spans(key)
            written.append(Sentence(" ".join(filter(None, texts)), not version.change, spans, version.change))
        return written

    def features(self, choice: tuple[Filling, ...], good: tuple[str, ...]) -> Mapping[str, Value]:
        if not self.measures:
            return self.fixed
        counts = tuple([sum(each) for each in zip(*[f.measured for f in choice], strict=True)] or [0] * len(self.measures))
        if self.crossed:
            counts = tuple(count + self._varied_words(m, good) for count, m in zip(counts, self.measures, strict=True))
        if counts not in self.known_features:
            names = [measure.name for measure in self.measures]
            self.known_features[counts] = self.fixed | dict(zip(names, counts, strict=True))
        return self.known_features[counts]

    def _fillings(self, slots: tuple[FrameSlot, ...], start: int, end: int) -> Iterator[Filling]:
        for places in itertools.product(*(range(len(slot.forms)) for slot in reversed(slots[start:end]))):
            chosen = dict(enumerate(reversed(places), start))
            forms = [slots[slot].forms[place] for slot, place in chosen.items()]
            counts = [word_count(form) for form in forms]
            measured = (sum(counts[max(m.start - start, 0) : max(m.end - start, 0)]) for m in self.measures)
            words = tuple(self.lexemes[slot][place] for slot, place in chosen.items() if slot in self.lexemes)
            yield Filling(" ".join(filter(None, forms)), sum(counts), tuple(measured), words)

    def _varied_words(self, measure: Measure, forms: tuple[str, ...]) -> int:
        return sum(word_count(form) for slot, form in zip(self.varied, forms, strict=True) if measure.start <= slot < measure.end)

    def _remember_spans(self, key: tuple[tuple[int, ...], tuple[int, ...]]) -> Spans:
        lengths, fillers = map(iter, key)
        at, spans = 0, []
        for varied in self.pieces:
            length = next(fillers) if varied else next(lengths)
            if varied:
                spans.append((at, at + length))
            at += length
        self.known_spans[key] = tuple(spans)
        return self.known_spans[key]


def repeated(words: Iterable[Lexeme]) -> bool:
    """Whether a word is in two slots that a `distinct:` line keeps different."""
    listed = list(words)
    return len(set(listed)) < len(listed)


def _cut(slots: tuple[FrameSlot, ...], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Stretches of adjacent slots that together have few enough fillings to keep."""
    size = 1
    for at in range(start, end):
        if at > start and size * len(slots[at].forms) > KEPT_FILLINGS:
            yield start, at
            start, size = at, 1
        size *= len(slots[at].forms)
    if start < end:
        yield start, end
