"""Items that a condition does not learn: wrong at the last probes of every seed, and what they have in common."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyarrow import parquet

from ..probes.verdict_files import RULE
from .comparison import ALPHA, holm
from .conditions import RunCondition
from .grids import Cell, Grid, Head, number_cell
from .phase_tables import rule_name
from .results import Result
from .texts import OTHER, Text, find_texts
from .verdict_columns import Key, number_repeats
from .wording import construction_name, in_paper_order

LAST = 3  # probes in which every run must get an item wrong
FEWEST = 5  # minimum number of stuck items in a construction to say what they share
SHARED = 4  # facts listed about them
LISTED = 40  # items listed per condition
ABOUT_STUCK = (
    f"Items of the sample that were wrong at each of the last {LAST} probes of every seed. What they share: facts "
    "over-represented among them relative to all items of the construction (share of the stuck, share of all), by the "
    f"hypergeometric distribution, below {ALPHA} after Holm's correction over all facts tested in a construction. On pairs, a "
    f"guessing model is wrong {LAST} times in a row on one item in {2**LAST}, and in three seeds on one in {2 ** (3 * LAST)}."
)


@dataclass(frozen=True)
class SharedFact:
    """Something that holds of a larger share of stuck items than of all items."""

    fact: str
    of_stuck: float
    of_all: float

    def __str__(self) -> str:
        return f"{self.fact} ({self.of_stuck:.0%} of the stuck, {self.of_all:.0%} of all)"


@dataclass(frozen=True)
class StuckItems:
    """The stuck items of one construction in one condition."""

    construction: str
    keys: list[Key]
    items: int  # that were probed
    shared: list[SharedFact]


def find_stuck(condition: RunCondition) -> list[StuckItems]:
    """By construction; empty if a run has too few probes with verdicts."""
    return condition.memory.recall(find_stuck, lambda: _find_stuck(condition))


def _find_stuck(condition: RunCondition) -> list[StuckItems]:
    files = [_last_files(result) for result in condition.results]
    if not all(files):
        return []
    saved = [result.files.columns(file) for result, own in zip(condition.results, files, strict=True) for file in own]
    keys = saved[0].asked.keys
    if any(len(each.verdict) != len(keys) for each in saved):
        return []
    stuck = np.all([each.covered & (each.verdict == 0) for each in saved], axis=0)
    names = saved[0].asked.construction
    facts = _facts(condition.results, keys)
    found = []
    for construction in in_paper_order(list(dict.fromkeys(names.tolist()))):
        own = names == construction
        rows = np.flatnonzero(own & stuck)
        shared = _shared(facts, stuck[own], np.flatnonzero(own)) if len(rows) >= FEWEST else []
        found.append(StuckItems(construction, [keys[row] for row in rows], int(own.sum()), shared))
    return found


def _last_files(result: Result) -> list[Path]:
    """The latest probes of a trained model."""
    files = [moment.file for moment in result.moments if moment.file is not None and moment.step > 0]
    return files[-LAST:] if len(files) >= LAST else []


def _facts(results: Sequence[Result], keys: Sequence[Key]) -> dict[str, NDArray[np.bool_]]:
    """Every fact about an item, as truth values over the items: features, the tested form, what rules prefer."""
    files = [result.sample_file for result in results if result.sample_file] or [each.items for each in results if each.items]
    if not files:
        return {}
    table = parquet.read_table(files[0])
    rows = _rows(table, keys)
    if rows is None:
        return {}
    table = table.take(rows)
    facts: dict[str, NDArray[np.bool_]] = {}
    # Rules before features: of facts true of the same items, the first is reported.
    for name in sorted(table.column_names, key=lambda name: not name.startswith(RULE)):
        values = table[name].to_pylist() if name not in OTHER else []
        if name.startswith(RULE):
            rule = rule_name(name.removeprefix(RULE))
            facts[f"{rule} prefers the wrong form"] = np.array([value is False for value in values])
        elif values:
            facts |= _is_value(name.replace("_", " ") + " ", values)
    if "good" in table.column_names:
        pairs = zip(table["good"].to_pylist(), table["good_target"].to_pylist(), strict=True)
        facts |= _is_value("tests ", [" ".join(good[at[0] : at[1]]) if good else None for good, at in pairs])
    return facts


def _rows(table: Any, keys: Sequence[Key]) -> list[int] | None:
    """Where these items are in a file; None if one is missing."""
    pairs = zip(table["uid"].to_pylist(), table["contrast"].to_pylist(), strict=True)
    places = {key: row for row, key in enumerate(number_repeats([(str(uid), str(contrast)) for uid, contrast in pairs]))}
    return [places[key] for key in keys] if all(key in places for key in keys) else None


def _is_value(start: str, values: Sequence[Any]) -> dict[str, NDArray[np.bool_]]:
    kinds = [value for value in dict.fromkeys(values) if value is not None]
    return {f"{start}{kind}": np.array([value == kind for value in values]) for kind in kinds}


def _shared(facts: Mapping[str, NDArray[np.bool_]], stuck: NDArray[np.bool_], rows: NDArray[np.int64]) -> list[SharedFact]:
    """What sets these items apart from others of their construction; of facts true of the same items, only the first."""
    from scipy.stats import hypergeom  # noqa: PLC0415 not needed for training

    own = {name: holds[rows] for name, holds in facts.items()}
    different = {holds.tobytes(): name for name, holds in reversed(own.items()) if 0 < holds.sum() < len(holds)}
    names = [name for name in own if different.get(own[name].tobytes()) == name]
    counts = [(int(own[name][stuck].sum()), int(own[name].sum())) for name in names]
    chances = [float(hypergeom.sf(k - 1, len(stuck), m, int(stuck.sum()))) for k, m in counts]
    told = [
        SharedFact(name, k / int(stuck.sum()), m / len(stuck))
        for name, (k, m), p in zip(names, counts, holm(chances), strict=True)
        if p < ALPHA
    ]
    return sorted(told, key=lambda fact: fact.of_all - fact.of_stuck)[:SHARED]


def stuck_tables(conditions: Sequence[RunCondition]) -> list[Grid]:
    """How many items of each construction are stuck and what they share; and the items themselves."""
    found = [(condition, each) for condition in conditions for each in find_stuck(condition) if each.keys]
    if not found:
        return []
    heads = tuple(Head("", name) for name in ("stuck", "items", "share", "what they share"))
    rows = tuple(
        (
            f"{condition.title}: {construction_name(each.construction)}",
            (
                number_cell(len(each.keys), f"{len(each.keys):,}"),
                number_cell(each.items, f"{each.items:,}"),
                number_cell(len(each.keys) / each.items),
                Cell("; ".join(map(str, each.shared)) or "–"),
            ),
        )
        for condition, each in found
    )
    return [Grid("stuck", "Stuck items", ABOUT_STUCK, "construction", heads, rows), _item_table(found)]


def _item_table(found: Sequence[tuple[RunCondition, StuckItems]]) -> Grid:
    rows = []
    for condition in dict.fromkeys(id(condition) for condition, _ in found):
        own = [(each, key) for other, each in found if id(other) == condition for key in each.keys]
        named = next(other for other, _ in found if id(other) == condition)
        shown = _in_turns(own)[:LISTED]
        for (each, _), text in zip(shown, find_texts(named.results, [key for _, key in shown]), strict=True):
            cells = (Cell(construction_name(each.construction)), Cell(named.title))
            rows.append((_spell(text) if text else "(sentence not available in these folders)", cells))
    total = sum(len(each.keys) for _, each in found)
    note = "The tested form, then the preferred form, starred."
    note += f" {len(rows):,} of {total:,}, alternating between constructions." if len(rows) < total else ""
    return Grid(
        "stuck-items", "Stuck items, one by one", note, "item", (Head("", "construction"), Head("", "condition")), tuple(rows)
    )


def _in_turns(own: Sequence[tuple[StuckItems, Key]]) -> list[tuple[StuckItems, Key]]:
    """The first item of each construction, then the second of each."""
    turn = [each.keys.index(key) for each, key in own]
    return [own[i] for i in sorted(range(len(own)), key=lambda i: turn[i])]


def _spell(text: Text) -> str:
    if text.compared:
        return " / ".join(text.compared)
    return " ".join(part for part in (text.before, f"{text.good or '∅'} / *{text.bad or '∅'}", text.after) if part)
