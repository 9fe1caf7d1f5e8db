"""What a report is made from: a model, the sets of one language, and its results on them, at the end and during training."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from .. import metric_names
from ..files import JsonObject
from ..metric_names import TEST_PERPLEXITY
from ..probes.accuracy import CELLS, MEAN, OVER, Accuracy, constructions_of_mean, wilson
from ..probes.accuracy import Table as Final
from ..probes.contrast_chance import PAIR_CHANCE
from ..probes.phases import RULE_METRICS
from ..settings import RunSettings
from ..settings.languages import SeveralLanguages
from ..settings.reading import Plain
from ..settings.watched import Axis, WatchedSettings
from .memory import Memory
from .verdict_columns import VerdictFiles

NUMBER = "number"  # the grouping by number of subject and attractor
PARTS: tuple[str, ...] = ("matched", "mismatched", *CELLS)
COUNTS = ("accuracy", "accuracy_dev", "n", "ties", "uncovered", "chance", "margin")  # metrics that are not groups of items


@dataclass(frozen=True)
class ModelFacts:
    """What is known about a model: for our runs all settings, for a pretrained one its name and how it was scored."""

    name: str  # of the network, or of the pretrained model
    run: RunSettings | None = None
    checkpoint: str = ""  # of an evaluated run, if these are not its best weights
    scoring: str = ""  # of a pretrained model
    watched: WatchedSettings | None = None  # of a training run that was not ours
    revision: str = ""  # of a pretrained model, if one was requested
    suite_seed: int | None = None  # of a pretrained model that is one of several, as its name tells

    @property
    def seed(self) -> int | None:
        told = self.run or self.watched
        return told.seed if told else self.suite_seed

    @property
    def given_name(self) -> str:
        """The name its user gave it."""
        if self.run is not None:
            return self.run.given_name
        return (self.watched.name if self.watched else None) or ""

    @property
    def tags(self) -> tuple[str, ...]:
        return self.run.tags if self.run else ()

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages it was trained on, as far as we know."""
        if self.run is None:
            return ()
        return self.run.lang.languages if isinstance(self.run.lang, SeveralLanguages) else (self.run.lang.code,)

    @cached_property
    def recipe(self) -> dict[str, Plain]:
        """What makes the model, apart from seed and probes; the settings module decides which settings change a result."""
        if self.run is None:
            told = self.watched.flat_recipe() if self.watched else {}
            known = {"revision": self.revision, "scoring": self.scoring}
            return {"model.name": self.name, **told, **{name: value for name, value in known.items() if value}}
        told = self.run.settings_and_beginning()
        kept = {key: value for key, value in told.items() if key != "seed" and not key.startswith("probes.")}
        return kept | ({"checkpoint": self.checkpoint} if self.checkpoint else {})


@dataclass(frozen=True)
class Score:
    """One construction, or a group of its items: accuracy, counts, chance, and its groups of items by name."""

    accuracy: float
    n: int
    ties: int = 0
    uncovered: int = 0
    chance: float = PAIR_CHANCE
    parts: Mapping[str, "Score"] = field(default_factory=dict)

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval, over the items of this one model."""
        return wilson(self.accuracy * self.n, self.n)


@dataclass(frozen=True)
class ConstructionGroup:
    """Several constructions as one: their items pooled, or their unweighted mean."""

    grouping: str
    name: str
    combine: str  # pool or mean
    over: tuple[str, ...]
    score: Score


@dataclass(frozen=True)
class Moment:
    """A probe during training: when, what it measured (`prep/accuracy`, `mean/accuracy` …), and its verdict file.

    `words` are those seen so far; for a model where they are unknown, the tokens or steps its curves are plotted against.
    """

    step: int
    words: int
    values: Mapping[str, float]
    file: Path | None

    def accuracy(self, construction: str) -> float:
        return self.values.get(f"{construction}/accuracy", math.nan)


@dataclass(frozen=True)
class Result:
    """One model on the sets of one language under one contract."""

    name: str  # of the run, or of the model given to evaluate.py
    path: Path
    kind: str  # run or evaluation
    finished: bool
    language: str
    set: str
    digest: str  # of the items: accuracies compare if it is the same
    sample: str  # digest of the items probed during training: curves compare if it is the same
    contract: JsonObject
    vocabulary: str
    model: ModelFacts
    provenance: JsonObject
    scores: Mapping[str, Score]
    items: Path | None = None  # every verdict on the whole sets
    sample_file: Path | None = None  # the items probed during training: features, sentences, what rules prefer
    moments: tuple[Moment, ...] = ()
    perplexities: tuple[tuple[int, float], ...] = ()  # words seen, validation perplexity
    measures: Mapping[str, float] = field(default_factory=dict)
    references: Mapping[str, Mapping[str, Score]] = field(default_factory=dict)
    groupings: Mapping[str, list[str]] = field(default_factory=dict)  # names of item groups, by what groups them
    groups: Mapping[str, "ConstructionGroup"] = field(default_factory=dict)  # of constructions
    bases: Mapping[str, str] = field(default_factory=dict)  # for suites with a modifier: the suite without it
    files: VerdictFiles = field(default_factory=VerdictFiles, compare=False, repr=False)  # what was read from all verdict files
    memory: Memory = field(default_factory=Memory, init=False, compare=False, repr=False)

    @property
    def axis(self) -> Axis:
        """What its curves are plotted against."""
        return self.model.watched.axis if self.model.watched else "words"

    @property
    def label(self) -> str:
        """The contract's label."""
        return str(self.contract.get("label", "unknown"))

    @property
    def seed(self) -> int | None:
        return self.model.seed

    @property
    def multilingual(self) -> bool:
        return len(self.model.languages) > 1

    @property
    def mean_over(self) -> list[str]:
        """The CLAMS constructions if any are present, otherwise all; in either case only those that could be scored."""
        return [name for name in constructions_of_mean(list(self.scores)) if self.scores[name].n]

    @property
    def mean(self) -> float:
        """The unweighted mean over constructions."""
        values = [self.scores[name].accuracy for name in self.mean_over]
        return math.fsum(values) / len(values) if values else math.nan

    def chance(self, construction: str) -> float:
        """The chance of a construction, or of the mean over constructions."""
        if construction != MEAN:
            return self.scores[construction].chance if construction in self.scores else math.nan
        values = [self.scores[name].chance for name in self.mean_over]
        return math.fsum(values) / len(values) if values else math.nan

    @property
    def perplexity(self) -> float:
        """Perplexity of the test text: unknown while the run is training."""
        return self.measures.get(metric_names.perplexity("test", self.language), self.measures.get(TEST_PERPLEXITY, math.nan))

    @property
    def words(self) -> int:
        """Words seen so far."""
        done = int(self.measures.get("words seen", self.measures.get("words_seen", 0)))
        return max([done, *(moment.words for moment in self.moments)])


def final_scores(table: Final) -> dict[str, Score]:
    """Scores from the table that a run or an evaluation saved."""
    found = {}
    for row in table.rows:
        parts = {name: _score(part) for name, part in row.parts.items()}
        found[row.construction] = replace(_score(row.all), parts=parts)
    return found


def _score(counted: Accuracy) -> Score:
    return Score(counted.accuracy, counted.n, counted.ties, counted.uncovered, counted.chance)


def final_groups(table: Final) -> dict[str, "ConstructionGroup"]:
    """Groups of constructions, if the sets declare any."""
    return {
        row.key: ConstructionGroup(
            row.grouping,
            row.name,
            row.combine,
            tuple(row.over),
            Score(row.accuracy, row.n, row.ties, row.uncovered, row.chance),
        )
        for row in table.groups
    }


def final_groupings(table: Final) -> dict[str, list[str]]:
    """Names of item groups, by what groups them."""
    return dict(table.groupings)


def sample_scores(moment: Moment) -> dict[str, Score]:
    """Scores from a probe during training, without the size of each part. Groups say how many constructions they cover."""
    found = {}
    for name in dict.fromkeys(key.split("/")[0] for key in moment.values):
        if name != MEAN and f"{name}/{OVER}" not in moment.values:
            own = {key.split("/", 1)[1]: value for key, value in moment.values.items() if key.startswith(f"{name}/")}
            n, ties, uncovered = (int(own.get(count, 0)) for count in ("n", "ties", "uncovered"))
            groups = [part for part in own if part not in COUNTS and not part.startswith(RULE_METRICS)]
            parts = {part: Score(own[part], 0) for part in groups}
            found[name] = Score(own.get("accuracy", math.nan), n, ties, uncovered, own.get("chance", PAIR_CHANCE), parts)
    return found
