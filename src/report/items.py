"""Items worth looking at: those on which checkpoints or models disagree, with the scores of every model at every probe."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pyarrow import parquet

from ..probes.verdict_files import read_verdicts
from .item_regions import mean_regions, regions_for_page
from .results import Result
from .texts import Text, find_texts

BUDGET = 500_000  # scores in one page
MOST = 60  # items of one construction
Key = tuple[str, str, int]  # uid, contrast, which of those with the same name


@dataclass(frozen=True)
class Trace:
    """What a model gave each item of the pool, (moments, items): scores in nats, not a number where it was not asked."""

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
    """The items of one language and set that are in the page, and how many there were to choose from."""

    keys: list[Key]
    constructions: list[str]
    texts: list[Text | None]
    traces: dict[int, Trace]  # by number of the result
    sizes: dict[str, int]
    regions: dict[str, object] | None = None  # of items of suites


def select_items(results: Sequence[Result], numbers: Sequence[int]) -> ShownItems | None:
    """For the results of one language and set; `numbers` are theirs in the report."""
    readable = [(n, r) for n, r in zip(numbers, results, strict=True) if _files(r)]
    if not readable:
        return None
    pool, names = _pool([result for _, result in readable])
    index = {key: i for i, key in enumerate(pool)}
    cache: dict[tuple[str, ...], NDArray[np.int64]] = {}
    traces = {number: _trace(result, index, cache) for number, result in readable}
    regions = sum(mean_regions(result, len(pool)) for _, result in readable)
    kept = _most_disputed(names, traces, regions)
    few = {n: Trace(t.moments, t.good[:, kept], t.bad[:, kept]) for n, t in traces.items()}
    keys = [pool[i] for i in kept]
    counts = {name: names.count(name) for name in dict.fromkeys(names)}
    constructions = [names[i] for i in kept]
    texts = find_texts([r for _, r in readable], keys)
    return ShownItems(keys, constructions, texts, few, counts, regions_for_page(dict(readable), keys, constructions))


def _files(result: Result) -> list[tuple[int, Path]]:
    found = [(moment.words, moment.file) for moment in result.moments if moment.file is not None]
    return found + ([(-1, result.items)] if result.items else [])


def _pool(results: Sequence[Result]) -> tuple[list[Key], list[str]]:
    """The items of the first sample that there is, whole sets where nothing was probed on the way; then those of the first that
    has constructions which are not among them.
    """
    pool: list[Key] = []
    names: list[str] = []
    for result in sorted(results, key=lambda each: not (each.moments and each.moments[0].file)):
        known = set(names)
        if known.issuperset(result.scores):
            continue
        file = _files(result)[0][1]
        own = [str(name) for name in parquet.read_table(file, columns=["construction"])["construction"].to_pylist()]
        new = [(key, name) for key, name in zip(_keys(file), own, strict=True) if name not in known]
        pool += [key for key, _ in new]
        names += [name for _, name in new]
    return pool, names


def _keys(file: Path) -> list[Key]:
    table = parquet.read_table(file, columns=["uid", "contrast"])
    return number_repeats(list(zip(table["uid"].to_pylist(), table["contrast"].to_pylist(), strict=True)))


def number_repeats(pairs: Sequence[tuple[str, str]]) -> list[Key]:
    """An item may have several contrasts of one name: they are counted."""
    seen: dict[tuple[str, str], int] = {}
    found = []
    for pair in pairs:
        found.append((*pair, seen.get(pair, 0)))
        seen[pair] = seen.get(pair, 0) + 1
    return found


def _trace(result: Result, index: dict[Key, int], cache: dict[tuple[str, ...], NDArray[np.int64]]) -> Trace:
    files = _files(result)
    good = np.full((len(files), len(index)), np.nan, np.float32)
    bad = good.copy()
    for row, (words, file) in enumerate(files):
        # Within a run all samples have the same items in the same order, and so have whole sets of the same digest.
        place = (result.digest, result.label, "whole") if words < 0 else (str(file.parent), result.language, result.set)
        if place not in cache:
            cache[place] = np.array([index.get(key, -1) for key in _keys(file)])
        places = cache[place]
        saved = read_verdicts(file)
        if len(places) != len(saved.verdict):
            continue
        taken = (places >= 0) & saved.covered
        one = np.isnan(saved.good)  # not a pair: by how much it holds, against nothing
        good[row, places[taken]] = np.where(one, saved.margin, saved.good)[taken]
        bad[row, places[taken]] = np.where(one, 0.0, saved.bad)[taken]
    return Trace([words for words, _ in files], good, bad)


def _most_disputed(names: Sequence[str], traces: dict[int, Trace], regions: float) -> list[int]:
    """Of each construction those on which models or checkpoints disagree most, as many as a page can carry."""
    width = math.ceil(sum(2 * len(trace.moments) for trace in traces.values()) + regions)
    constructions = list(dict.fromkeys(names))
    most = int(np.clip(BUDGET // max(width * len(constructions), 1), 4, MOST))
    ends = np.stack([trace.right[-1] for trace in traces.values()])
    known = np.sum(~np.isnan(ends), axis=0)
    share = np.divide(np.nansum(ends, axis=0), known, out=np.full(len(names), np.nan), where=known > 0)
    flips = np.sum([np.nansum(np.abs(np.diff(t.right, axis=0)), axis=0) / len(t.moments) for t in traces.values()], axis=0) / len(
        traces
    )
    worth = np.nan_to_num(4 * share * (1 - share)) + flips
    worth[known == 0] = -1
    kept: list[int] = []
    for construction in constructions:
        own = np.array([i for i, name in enumerate(names) if name == construction and worth[i] >= 0], dtype=int)
        kept += sorted(own[np.argsort(-worth[own], kind="stable")][:most].tolist())
    return kept


def items_for_page(found: ShownItems) -> dict[str, object]:
    """For the page: scores in hundredths of a nat."""
    rows = []
    for name, text in zip(found.constructions, found.texts, strict=True):
        shown = text[: None if text.compared else -1] if text else ()
        rows.append([name, *shown])
    traces = {str(number): _hundredths(trace) for number, trace in found.traces.items()}
    made: dict[str, object] = {"items": rows, "traces": traces, "sizes": found.sizes}
    return made | {"regions": found.regions} if found.regions else made


def _hundredths(trace: Trace) -> dict[str, object]:
    good, bad = (np.round(scores.astype(float) * 100) for scores in (trace.good, trace.bad))
    # The page tells right from wrong by these: what differs by less than a hundredth must not become a tie.
    bad = np.where(good == bad, bad - np.sign(trace.good - trace.bad), bad)
    return {"at": trace.moments, "good": _whole(good), "bad": _whole(bad)}


def _whole(values: NDArray[np.float64]) -> list[list[int | None]]:
    return [[None if math.isnan(value) else int(value) for value in row] for row in values.tolist()]
