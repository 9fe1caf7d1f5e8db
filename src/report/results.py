"""What a report is made of: a model, the sets of one language, and how it did on them, at the end and on the way."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..probes.accuracy import CELLS, constructions_of_mean, wilson
from ..probes.accuracy import Table as Final

PARTS: tuple[str, ...] = ("matched", "mismatched", *CELLS)
RIGHT_TO_LEFT = ("ar", "fa", "he", "ur", "yi")


@dataclass(frozen=True)
class Score:
    """One construction: accuracy, what it rests on, and accuracy and n of its parts (matched, ss, sp …)."""

    accuracy: float
    n: int
    ties: int
    uncovered: int
    parts: Mapping[str, tuple[float, int]]

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's, over the items of this one model."""
        return wilson(self.accuracy * self.n, self.n)


@dataclass(frozen=True)
class Moment:
    """A probe on the way: when, what it measured (`prep/accuracy`, `mean/accuracy` …), and the file of its verdicts."""

    step: int
    words: int
    values: Mapping[str, float]
    file: Path | None

    def accuracy(self, construction: str) -> float:
        return self.values.get(f"{construction}/accuracy", math.nan)


@dataclass(frozen=True)
class Result:
    """One model on the sets of one language under one contract."""

    name: str  # of the run, or of the model that evaluate.py was given
    path: Path
    kind: str  # run or evaluation
    finished: bool
    language: str
    set: str
    digest: str  # of the items: accuracies compare where it is the same
    sample: str  # digest of the items that were asked on the way: curves compare where it is the same
    contract: Mapping[str, Any]
    vocabulary: str
    settings: Mapping[str, Any]
    provenance: Mapping[str, Any]
    scores: Mapping[str, Score]
    items: Path | None = None  # every verdict of the whole sets
    moments: tuple[Moment, ...] = ()
    perplexities: tuple[tuple[int, float], ...] = ()  # words seen, of the validation text
    measures: Mapping[str, float] = field(default_factory=dict)
    references: Mapping[str, Mapping[str, Score]] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Of the contract."""
        return str(self.contract.get("label", "unknown"))

    @property
    def seed(self) -> int | None:
        return self.settings.get("seed")

    @property
    def mean(self) -> float:
        """Over the seven constructions of CLAMS where they are among them, otherwise over all, each worth the same."""
        over = constructions_of_mean(list(self.scores))
        values = [self.scores[name].accuracy for name in over if self.scores[name].n]
        return math.fsum(values) / len(values) if values else math.nan

    @property
    def perplexity(self) -> float:
        """Of the test text: not known while the run goes on."""
        return self.measures.get(f"test/{self.language}/perplexity", self.measures.get("test/perplexity", math.nan))

    @property
    def words(self) -> int:
        """Seen so far."""
        return max(
            (
                int(self.measures.get("words seen", self.measures.get("words_seen", 0))),
                *(moment.words for moment in self.moments),
            ),
            default=0,
        )

    @property
    def languages(self) -> list[str]:
        """That the model was trained on."""
        lang = self.settings.get("lang") or {}
        return list(lang.get("languages") or [lang.get("code", self.language)])

    @property
    def right_to_left(self) -> bool:
        lang = self.settings.get("lang") or {}
        return self.language in RIGHT_TO_LEFT or (lang.get("code") == self.language and lang.get("direction") == "rtl")


def final_scores(table: Final) -> dict[str, Score]:
    """From the table that a run or an evaluation has saved."""
    found = {}
    for row in table.rows:
        parts = {name: (part.accuracy, part.n) for name, part in row.parts.items()}
        found[row.construction] = Score(row.all.accuracy, row.all.n, row.all.ties, row.all.uncovered, parts)
    return found


def sample_scores(moment: Moment) -> dict[str, Score]:
    """From a probe on the way; how many items a part has is not known there."""
    found = {}
    for name in dict.fromkeys(key.split("/")[0] for key in moment.values if not key.startswith("mean/")):
        own = {key.split("/", 1)[1]: value for key, value in moment.values.items() if key.startswith(f"{name}/")}
        n, ties, uncovered = (int(own.get(count, 0)) for count in ("n", "ties", "uncovered"))
        parts = {part: (own[part], 0) for part in PARTS if part in own}
        found[name] = Score(own.get("accuracy", math.nan), n, ties, uncovered, parts)
    return found
