"""Accuracy: how often what must hold does hold, with n, interval, chance, ties and what could not be scored."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .. import metric_names
from .contrast_chance import PAIR_CHANCE
from .contrast_table import Contrasts
from .groupings import NUMBER, Grouping
from .probe import CONTRAST, Probe
from .scorers import WordScores
from .verdicts import Verdicts, judge

Z = 1.959963984540054  # 95 %
# The seven constructions of Mueller et al. (2020), by our names and theirs; their mean is a table's mean.
SEVEN = ("simple_agrmt", "vp_coord", "long_vp_coord", "subj_rel", "obj_rel_within", "obj_rel_across", "prep")
CELLS = ("ss", "sp", "ps", "pp")  # groups of NUMBER: subject, attractor
MEAN = "mean"
OVER = "constructions"  # suffix of a group's metric: how many it covers
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Accuracy:
    """c of n. `every` is the share of items whose contrasts all hold, `items` their number."""

    n: int
    correct: float
    ties: int
    uncovered: int
    items: int
    every: float
    plus_one: bool = False
    chance: float = PAIR_CHANCE
    margin: float = math.nan  # mean over contrasts, if any is not a pair: for suites in bits
    unknown_context: int = 0  # contrasts scored although a word outside the tested ones is unknown

    @property
    def accuracy(self) -> float:
        if not self.n:
            return math.nan
        return (self.correct + 1) / (self.n + 1) if self.plus_one else self.correct / self.n

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of c/n; a tie counts what it is worth."""
        return wilson(self.correct, self.n)


def interval_of_mean(means: Sequence[float], intervals: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The interval of an unweighted mean of independent parts; for a single part, its own interval."""
    if not means:
        return math.nan, math.nan
    mean = math.fsum(means) / len(means)
    below, above = (
        math.sqrt(math.fsum((each - bound[side]) ** 2 for each, bound in zip(means, intervals, strict=True))) / len(means)
        for side in (0, 1)
    )
    return max(mean - below, 0.0), min(mean + above, 1.0)


def wilson(correct: float, n: int) -> tuple[float, float]:
    """Wilson's interval (1927), which also holds for small n and near 0 and 1."""
    if not n:
        return math.nan, math.nan
    p = correct / n
    middle = (p + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    return max(middle - half, 0.0), min(middle + half, 1.0)


@dataclass(frozen=True)
class ConstructionRow:
    """Everything about one construction: the whole, its dev part, and the groups of every grouping its items have."""

    construction: str
    all: Accuracy
    dev: Accuracy
    parts: Mapping[str, Accuracy]  # matched, mismatched, ss, sp, ps, pp; mood=calm; contrast=g>i
    repeated: int = 0  # exact duplicates of its items, which were left out


@dataclass(frozen=True)
class GroupRow:
    """A group across constructions: their items pooled, or their unweighted mean."""

    grouping: str
    name: str
    combine: str  # pool or mean
    over: list[str]
    accuracy: float
    accuracy_dev: float
    interval: tuple[float, float]
    n: int
    ties: int
    uncovered: int
    chance: float
    members: list[str] = field(default_factory=list)  # all its constructions; those of `over` could be scored

    @property
    def key(self) -> str:
        """Its name in tables, where it appears beside constructions: `circuit=agreement`."""
        return self.name if "=" in self.name else f"{self.grouping}={self.name}"

    @property
    def metric(self) -> str:
        return group_metric(self.key)


def group_metric(key: str) -> str:
    """A group's name among metrics: `circuit.agreement`. Older runs wrote `circuit=agreement`."""
    return key.replace("=", ".")


@dataclass(frozen=True)
class Mean:
    """The unweighted mean over constructions, whatever their sizes."""

    over: list[str]
    accuracy: float
    accuracy_dev: float
    interval: tuple[float, float]
    parts: Mapping[str, float]
    chance: float = PAIR_CHANCE
    parts_over: Mapping[str, list[str]] = field(default_factory=dict)  # the constructions that have such a part


@dataclass(frozen=True)
class Table:
    """A model's results: by construction, and by groups of constructions if there are any."""

    rows: list[ConstructionRow]
    mean: Mean
    groups: list[GroupRow] = field(default_factory=list)
    # The parts of rows that belong to each grouping, in order.
    groupings: Mapping[str, list[str]] = field(default_factory=lambda: {NUMBER.name: [name for name, _ in NUMBER.groups]})
    bases: Mapping[str, str] = field(default_factory=dict)  # for suites with a modifier: the suite without it

    def row(self, construction: str) -> ConstructionRow:
        return next(row for row in self.rows if row.construction == construction)

    def parts_of(self, grouping: str) -> list[str]:
        """The groups of a grouping that any row has."""
        return [name for name in self.groupings.get(grouping, []) if any(name in row.parts for row in self.rows)]

    def chances(self) -> list[float]:
        """The chance levels of the constructions, each once, in ascending order."""
        return sorted({row.all.chance for row in self.rows})


def tabulate(probe: Probe, verdicts: Verdicts) -> Table:
    """A probe's verdicts as a table."""
    within = [grouping for grouping in probe.groupings if not grouping.across]
    members = [{each.name: probe.members(each, number) for each in within} for number in range(len(probe.collected))]
    for number, own in enumerate(members):
        own[CONTRAST] = probe.contrast_members(number)
    rows = [_row(probe, verdicts, number, members[number]) for number in range(len(probe.collected))]
    named = {each: list(dict.fromkeys(name for own in members for name in own[each])) for each in members[0]}
    groups = [row for each in probe.groupings if each.across for row in _group_rows(probe, verdicts, each, rows)]
    wanted = constructions_of_mean(probe.constructions)
    return Table(
        rows,
        _mean([row for row in rows if row.construction in wanted]),
        groups,
        {name: found for name, found in named.items() if found},
        {made.construction: str(base) for made in probe.sets if len(made) and (base := made.features[0].get("base"))},
    )


def _row(probe: Probe, verdicts: Verdicts, number: int, members: Mapping[str, Mapping[str, Rows]]) -> ConstructionRow:
    own = probe.contrasts.of_set(number)
    parts = {
        name: count_accuracy(probe, verdicts, rows, singly=grouping == CONTRAST)
        for grouping, groups in members.items()
        for name, rows in groups.items()
        if len(rows)
    }
    dev = count_accuracy(probe, verdicts, own[probe.contrasts.dev[own]])
    whole, repeated = count_accuracy(probe, verdicts, own), probe.collected[number].repeated
    return ConstructionRow(probe.constructions[number], whole, dev, parts, repeated)


def count_accuracy(probe: Probe, verdicts: Verdicts, rows: Rows, singly: bool = False) -> Accuracy:
    """Over these contrasts, in order, with those of one item adjacent. `singly`: each contrast counts on its own, whatever
    unit the contract counts. Where items count, so do ties and uncovered ones, and an item needs all its contrasts.
    """
    contrasts = probe.contrasts
    scored = rows[verdicts.covered[rows]]
    first = _first_of_items(contrasts, rows)
    whole = np.logical_and.reduceat(verdicts.covered[rows], first) if len(rows) else np.zeros(0, bool)
    worst = np.minimum.reduceat(verdicts.verdict[rows], first)[whole] if len(rows) else np.zeros(0)
    by_item = probe.contract.unit == "items" and not singly
    each = worst if by_item else verdicts.verdict[scored]
    chance = contrasts.item_chance[rows[first[whole]]] if by_item else contrasts.chance[scored if len(scored) else rows]
    tied = np.logical_or.reduceat(verdicts.tie[rows], first)[whole] if by_item and len(rows) else verdicts.tie[scored]
    has_margin = len(scored) and verdicts.clauses is not None and not contrasts.is_pair[scored].all()
    has_margin = has_margin and bool(np.isfinite(verdicts.margin[scored]).all())
    return Accuracy(
        n=len(each),
        correct=float(each.sum()),
        ties=int(tied.sum()),
        uncovered=len(first) - len(worst) if by_item else len(rows) - len(scored),
        items=len(worst),
        every=float(worst.mean()) if len(worst) else math.nan,
        plus_one=probe.contract.plus_one,
        chance=math.fsum(chance) / len(chance) if len(chance) else PAIR_CHANCE,
        margin=float(verdicts.margin[scored].mean()) if has_margin else math.nan,
        unknown_context=int(verdicts.unknown_context[scored].sum()),
    )


def _first_of_items(contrasts: Contrasts, rows: Rows) -> NDArray[np.int64]:
    """Where, among these contrasts, those of another item begin."""
    keys = contrasts.set[rows] * (len(contrasts) + 1) + contrasts.item[rows]
    return np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else np.zeros(0, np.int64)


def constructions_of_mean(constructions: list[str]) -> list[str]:
    """The constructions the mean covers: those of CLAMS if any are present, otherwise all."""
    seven = [name for name in constructions if name.removesuffix("_anim") in SEVEN]
    return seven or constructions


def _mean(rows: Sequence[ConstructionRow]) -> Mean:
    """The mean over the rows that could be scored."""
    over = [row for row in rows if row.all.n]
    shares = [row.all.correct / row.all.n for row in over]
    names = dict.fromkeys(name for row in over for name in row.parts)
    parts = {name: [row for row in over if name in row.parts and row.parts[name].n] for name in names}
    return Mean(
        over=[row.construction for row in over],
        accuracy=_average([row.all.accuracy for row in over]),
        accuracy_dev=_average([row.dev.accuracy for row in over if row.dev.n]),
        interval=interval_of_mean(shares, [row.all.interval for row in over]),
        parts={name: _average([row.parts[name].accuracy for row in found]) for name, found in parts.items()},
        chance=_average([row.all.chance for row in over]) if over else PAIR_CHANCE,
        parts_over={name: [row.construction for row in found] for name, found in parts.items()},
    )


def _group_rows(probe: Probe, verdicts: Verdicts, grouping: Grouping, rows: Sequence[ConstructionRow]) -> list[GroupRow]:
    """Groups across constructions, each with the constructions it covers."""
    found: dict[str, list[tuple[str, Rows]]] = {}
    for number, row in enumerate(rows):
        for name, members in probe.members(grouping, number).items():
            found.setdefault(name, []).append((row.construction, members))
    order = [name for name, _ in grouping.groups if name in found] or list(found)
    return [_group_row(probe, verdicts, grouping, name, found[name]) for name in order]


def _group_row(probe: Probe, verdicts: Verdicts, grouping: Grouping, name: str, members: Sequence[tuple[str, Rows]]) -> GroupRow:
    dev, there = probe.contrasts.dev, [construction for construction, _ in members]
    if grouping.combine == "pool":
        pooled = np.concatenate([rows for _, rows in members])
        whole, in_dev = count_accuracy(probe, verdicts, pooled), count_accuracy(probe, verdicts, pooled[dev[pooled]])
        numbers = whole.accuracy, in_dev.accuracy, whole.interval, whole.n, whole.ties, whole.uncovered, whole.chance
        return GroupRow(grouping.name, name, "pool", there, *numbers, members=there)
    each = [
        ConstructionRow(construction, count_accuracy(probe, verdicts, rows), count_accuracy(probe, verdicts, rows[dev[rows]]), {})
        for construction, rows in members
    ]
    mean = _mean(each)
    n, ties, uncovered = (sum(getattr(row.all, count) for row in each) for count in ("n", "ties", "uncovered"))
    numbers = mean.accuracy, mean.accuracy_dev, mean.interval, n, ties, uncovered, mean.chance
    return GroupRow(grouping.name, name, "mean", mean.over, *numbers, members=there)


def _average(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def metrics(table: Table, language: str, name: str) -> dict[str, float]:
    """Everything in the table under its metric name. Chance is included if it differs from a pair's."""
    found: dict[str, float] = {}
    for row in table.rows:
        prefix = metric_names.probe(language, name, row.construction)
        found[f"{prefix}/accuracy"] = row.all.accuracy
        found[f"{prefix}/accuracy_dev"] = row.dev.accuracy
        found |= {f"{prefix}/{part}": value.accuracy for part, value in row.parts.items()}
        found |= {f"{prefix}/n": row.all.n, f"{prefix}/ties": row.all.ties, f"{prefix}/uncovered": row.all.uncovered}
        found |= {f"{prefix}/chance": row.all.chance} if row.all.chance != PAIR_CHANCE else {}
        found[f"{prefix}/margin"] = row.all.margin
    for group in table.groups:
        prefix = metric_names.probe(language, name, group.metric)
        found |= {f"{prefix}/accuracy": group.accuracy, f"{prefix}/accuracy_dev": group.accuracy_dev, f"{prefix}/n": group.n}
        # The number of constructions also tells a group from a construction.
        found |= {f"{prefix}/ties": group.ties, f"{prefix}/uncovered": group.uncovered, f"{prefix}/{OVER}": len(group.over)}
        found |= {f"{prefix}/chance": group.chance} if group.chance != PAIR_CHANCE else {}
    prefix = metric_names.probe(language, name, MEAN)
    found |= {f"{prefix}/accuracy": table.mean.accuracy, f"{prefix}/accuracy_dev": table.mean.accuracy_dev}
    found |= {f"{prefix}/{part}": value for part, value in table.mean.parts.items()}
    found |= {f"{prefix}/chance": table.mean.chance} if table.mean.chance != PAIR_CHANCE else {}
    return {key: value for key, value in found.items() if not (isinstance(value, float) and math.isnan(value))}


@dataclass(frozen=True)
class Answer:
    scores: WordScores
    verdicts: Verdicts
    table: Table


def judge_scores(probe: Probe, scores: WordScores) -> Answer:
    """What a model prefers on the items of a probe: from scores to verdicts to a table."""
    verdicts = judge(probe, scores)
    return Answer(scores, verdicts, tabulate(probe, verdicts))
