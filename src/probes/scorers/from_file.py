"""Scores computed elsewhere, matched to the sets' sentences by text, or by uid and role."""

import logging
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import UserError
from . import ProbeSentence, Reading, WordScores
from .score_file import ScoredText, ScoreFile

log = logging.getLogger(__name__)
ALIKE = 1e-6  # nats by which two scores of one sentence may differ
# What tokenizers put before a piece that starts or continues a word; spaces.
MARKS = re.compile(r"^##|[\u2581\u0120]|</w>$|@@$|\s")
Scored = tuple[tuple[int, ...], tuple[float, ...]]  # where each stretch ends, in letters; and its score


class FileScorer:
    """`items`: the sentence of each uid and role."""

    def __init__(self, path: Path, file: ScoreFile, items: Mapping[tuple[str, str], str] | None = None) -> None:
        self.path, self.file = path, file
        self.name = f"{file.kind} by {file.unit}"
        self.known: dict[str, Scored] = {}
        self.repeated = self.unknown_items = 0
        for text in file.texts:
            self._add(text, items or {})
        self.sorted = sorted(self.known)

    @property
    def reading(self) -> Reading:
        source = f"the file {self.path.name} ({self.file.described})"
        return Reading(sees="unstated", unknown="", left_out=("missing",), source=source)

    def _add(self, text: ScoredText, items: Mapping[tuple[str, str], str]) -> None:
        whole = items.get(text.key, "") if any(text.key) else text.text
        if any(text.key) and not whole:
            self.unknown_items += 1
            return
        parts = [letters(MARKS.sub("", token)) for token in text.tokens] or [letters(whole)]
        spelt = "".join(parts)
        if whole and spelt != letters(whole):
            raise UserError(f"{text.place}: its {self.file.unit}s are {spelt[:60]!r}, and its sentence is {whole[:60]!r}")
        found = tuple(accumulate(map(len, parts))), text.logprobs
        before = self.known.setdefault(spelt, found)
        if before is found:
            return
        self.repeated += 1
        if before[0] != found[0] or not np.allclose(before[1], found[1], rtol=0, atol=ALIKE):
            raise UserError(
                f"{text.place}: a second, different score for one sentence: {sum(found[1]):.4f} and {sum(before[1]):.4f} "
                f"nats: {(whole or ' '.join(text.tokens))[:60]!r}. Keep one of them"
            )

    def score(self, sentences: Sequence[ProbeSentence]) -> WordScores:
        words = [sentence.words.split() for sentence in sentences]
        logprobs: list[float] = []
        inseparable: list[bool] = []
        missing: list[str] = []
        for sentence, own in zip(sentences, words, strict=True):
            found = self._find("".join(map(letters, own)))
            if found is None:
                missing.append(sentence.words)
            values, joined = ([0.0] * len(own), [True] * len(own)) if found is None else _by_word(own, *found)
            logprobs += values
            inseparable += joined
        self._tell(len(sentences), missing)
        firsts = np.cumsum([0, *map(len, words)])
        marks: NDArray[np.bool_] = np.array(inseparable, bool)
        return WordScores(firsts, np.array(logprobs, np.float32), np.zeros(len(marks), bool), inseparable=marks)

    def _find(self, spelt: str) -> Scored | None:
        """The sentence; or, if it is read only up to a tested word, any that starts this way, if all of them agree."""
        if spelt in self.known:
            return self.known[spelt]
        found = [_beginning(self.known[key], len(spelt)) for key in self._longer(spelt)]
        if not found or any(each != found[0] for each in found):
            return None
        return found[0]

    def _longer(self, spelt: str) -> Iterator[str]:
        at = bisect_left(self.sorted, spelt)
        while at < len(self.sorted) and self.sorted[at].startswith(spelt):
            yield self.sorted[at]
            at += 1

    def _tell(self, asked: int, missing: Sequence[str]) -> None:
        counts = f"{len(self.known):,} sentences with {self.file.described}"
        log.info("scores     %s: %s", self.path, counts)
        told = {
            "rows repeating a sentence with the same scores": self.repeated,
            "items (uid, role) that are not in these sets": self.unknown_items,
            "first words without a score, taken as given": self.file.given,
        }
        for what, count in told.items():
            if count:
                log.warning("scores     %s %s", f"{count:,}", what)
        if len(missing) == asked and asked:
            theirs = next(iter(self.known), "nothing")
            raise UserError(
                f"{self.path}: it scores none of the {asked:,} sentences requested: {missing[0][:60]!r} is one of them, "
                f"{theirs[:60]!r} (without spaces) one of the file's. Were they scored without the final full stop "
                "(probes.rules.final=false), or with a capital (probes.rules.capitalize=true)?"
            )
        if missing:
            log.warning("scores     %s of %s sentences are missing: %r …", f"{len(missing):,}", f"{asked:,}", missing[0])


def letters(text: str) -> str:
    """A text without its spaces: tokenizers disagree only on those."""
    return "".join(unicodedata.normalize("NFC", text).split())


def _beginning(scored: Scored, length: int) -> Scored | None:
    """What a longer sentence says about its first letters; None if a stretch extends beyond them."""
    ends, values = scored
    count = bisect_left(ends, length) + 1
    return (ends[:count], values[:count]) if ends[count - 1] == length else None


def _by_word(words: Sequence[str], ends: Sequence[int], values: Sequence[float]) -> tuple[list[float], list[bool]]:
    """Each stretch counts for the word in which it starts. A word in which none starts is scored with the previous one."""
    borders = list(accumulate(len(letters(word)) for word in words))
    sums, begun = [0.0] * len(words), [False] * len(words)
    start = word = 0
    for end, value in zip(ends, values, strict=True):
        while word < len(borders) - 1 and start >= borders[word]:
            word += 1
        sums[word] += value
        # A stretch that starts inside a word, after one that starts there too, leaves the boundary before the word intact.
        begun[word] = begun[word] or start == (borders[word - 1] if word else 0)
        start = end
    return sums, [not flag for flag in begun]
