"""Items worth looking at: those on which checkpoints or models disagree, with every model's scores at every probe."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from .item_regions import mean_regions, regions_for_page
from .results import Result
from .texts import Text, find_texts
from .verdict_columns import AskedItems, Key

BUDGET = 500_000  # scores in one page
MOST = 60  # items of one construction
T = TypeVar("T")


@dataclass(frozen=True)
class Trace:
    """A model's scores on each item of the pool in nats, (moments, items); NaN where it was not evaluated."""

    moments: list[int]  # words seen; -1 is the end: the whole sets, best weights
    good: NDArray[np.float32]
    bad: NDArray[np.float32]

    @property
    def right(self) -> NDArray[np.float32]:
        """1, 0, or ½ for a tie."""
        made = np.where(self.good == self.bad, 0.5, self.good > self.bad)
        return np.where(np.isnan(self.good) | np.isnan(self.bad), np.nan, made).astype(np.float32)


@dataclass(frozen=True)
class ShownItems:
    """The items of one language and set on the page, and how many there were to choose from."""

    keys: list[Key]
    constructions: list[str]
    texts: list[Text | None]
    traces: dict[int, Trace]  # by result number
    sizes: dict[str, int]
    regions: dict[str, object] | None = None  # for items of suites


def select_items(results: Sequence[Result], numbers: Sequence[int]) -> ShownItems | None:
    """The items for the results of one language and set; `numbers` are those results' numbers in the report."""
    readable = [(n, r) for n, r in zip(numbers, results, strict=True) if _files(r)]
    if not readable:
        return None
    pool, names = _pool([result for _, result in readable])
    index = {key: i for i, key in enumerate(pool)}
    places: dict[int, NDArray[np.int64]] = {}  # where a file's items are in the pool, by identity of their AskedItems
    disputes = [_recall(result, _dispute, index, places) for _, result in readable]
    width = sum(2 * len(_files(result)) + mean_regions(result, len(pool)) for _, result in readable)
    kept = _most_disputed(names, disputes, math.ceil(width))
    keys, constructions = [pool[i] for i in kept], [names[i] for i in kept]
    few = {number: _recall(result, _trace, index, places, tuple(kept)) for number, result in readable}
    counts = {name: names.count(name) for name in dict.fromkeys(names)}
    texts = readable[0][1].memory.recall(find_texts, lambda: find_texts([r for _, r in readable], keys), keys)
    return ShownItems(keys, constructions, texts, few, counts, regions_for_page(dict(readable), keys, constructions))


def _files(result: Result) -> list[tuple[int, Path]]:
    found = [(moment.words, moment.file) for moment in result.moments if moment.file is not None]
    return found + ([(-1, result.items)] if result.items else [])


def _pool(results: Sequence[Result]) -> tuple[list[Key], list[str]]:
    """The items of the first available sample, or of whole sets if nothing was probed during training; then those of the first
    result with constructions not yet among them.
    """
    pool: list[Key] = []
    names: list[str] = []
    for result in sorted(results, key=lambda each: not (each.moments and each.moments[0].file)):
        known = set(names)
        if known.issuperset(result.scores):
            continue
        asked = result.files.columns(_files(result)[0][1]).asked
        new = [(key, name) for key, name in zip(asked.keys, asked.construction.tolist(), strict=True) if name not in known]
        pool += [key for key, _ in new]
        names += [name for _, name in new]
    return pool, names


def _recall(
    result: Result,
    compute: Callable[[Trace], T],
    index: dict[Key, int],
    places: dict[int, NDArray[np.int64]],
    kept: tuple[int, ...] | None = None,
) -> T:
    """Compute from a trace over the pool, or over the items kept from it; the trace itself is too large to keep."""
    return result.memory.recall(compute, lambda: compute(_read_trace(result, index, places, kept)), (list(index), kept))


def _trace(trace: Trace) -> Trace:
    return trace


def _read_trace(
    result: Result, index: dict[Key, int], places: dict[int, NDArray[np.int64]], kept: tuple[int, ...] | None
) -> Trace:
    files = _files(result)
    chosen = np.arange(len(index)) if kept is None else np.array(kept, np.int64)
    good = np.full((len(files), len(chosen)), np.nan, np.float32)
    bad = good.copy()
    for row, (_, file) in enumerate(files):
        saved = result.files.columns(file)
        if id(saved.asked) not in places:
            places[id(saved.asked)] = _rows_in_pool(saved.asked, index)
        rows = places[id(saved.asked)][chosen]
        there = rows >= 0
        there[there] = saved.covered[rows[there]]
        good[row, there], bad[row, there] = saved.good[rows[there]], saved.bad[rows[there]]
    return Trace([words for words, _ in files], good, bad)


def _rows_in_pool(asked: AskedItems, index: dict[Key, int]) -> NDArray[np.int64]:
    """For every item of the pool its row in a file, or −1 if it is not there."""
    rows = np.full(len(index), -1, np.int64)
    for row, key in enumerate(asked.keys):
        if key in index:
            rows[index[key]] = row
    return rows


def _dispute(trace: Trace) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Whether the model gets an item right at the end, and how often its verdict flipped along the way."""
    right = trace.right
    return right[-1], np.nansum(np.abs(np.diff(right, axis=0)), axis=0) / len(trace.moments)


def _most_disputed(
    names: Sequence[str], disputes: Sequence[tuple[NDArray[np.float32], NDArray[np.float64]]], width: int
) -> list[int]:
    """The items of each construction on which models or checkpoints disagree most, as many as a page can hold."""
    constructions = list(dict.fromkeys(names))
    most = int(np.clip(BUDGET // max(width * len(constructions), 1), 4, MOST))
    ends = np.stack([end for end, _ in disputes])
    known = np.sum(~np.isnan(ends), axis=0)
    share = np.divide(np.nansum(ends, axis=0), known, out=np.full(len(names), np.nan), where=known > 0)
    flips = np.sum([changes for _, changes in disputes], axis=0) / len(disputes)
    worth = np.nan_to_num(4 * share * (1 - share)) + flips
    worth[known == 0] = -1
    kept: list[int] = []
    for construction in constructions:
        own = np.array([i for i, name in enumerate(names) if name == construction and worth[i] >= 0], dtype=int)
        kept += sorted(own[np.argsort(-worth[own], kind="stable")][:most].tolist())
    return kept


def items_for_page(found: ShownItems) -> dict[str, object]:
    """Scores for the page, in hundredths of a nat."""
    rows = []
    for name, text in zip(found.constructions, found.texts, strict=True):
        shown = text[: None if text.compared else -1] if text else ()
        rows.append([name, *shown])
    traces = {str(number): _hundredths(trace) for number, trace in found.traces.items()}
    made: dict[str, object] = {"items": rows, "traces": traces, "sizes": found.sizes}
    return made | {"regions": found.regions} if found.regions else made


def _hundredths(trace: Trace) -> dict[str, object]:
    good, bad = (np.round(scores.astype(float) * 100) for scores in (trace.good, trace.bad))
    # The page derives right and wrong from these: a difference below a hundredth must not become a tie.
    bad = np.where(good == bad, bad - np.sign(trace.good - trace.bad), bad)
    return {"at": trace.moments, "good": _whole(good), "bad": _whole(bad)}


def _whole(values: NDArray[np.float64]) -> list[list[int | None]]:
    return [[None if math.isnan(value) else int(value) for value in row] for row in values.tolist()]
