"""Sets as suites for other tools: a suite as it is, or with an evaluation's values; pairs are divided where they differ."""

import statistics
from collections.abc import Callable, Iterable
from pathlib import Path

from ...files import JsonObject
from ..challenge_set import ChallengeSet, MinimalSet, SetError, differing
from ..region_files import read_regions
from .evaluated import RegionValue, VariantRegion, with_values
from .suite import Condition, Item, Json, Region, Suite, prediction
from .suite_files import read, write

SUITE_FORMATS = {"syntaxgym": "json", "syntaxgym-csv": "csv"}
MEASURES: dict[str, Callable[[list[float]], float]] = {
    "sum": sum,
    "mean": statistics.fmean,
    "median": statistics.median,
    "min": min,
    "max": max,
}
PAIR_REGIONS = {1: "before", 2: "tested", 3: "after"}
PAIR_FORMULA = "(*;%good%) < (*;%bad%)"


def export_suite(made: ChallengeSet, form: str, folder: Path, evaluated: Path | None = None) -> Path:
    """Writes one set; `evaluated` is the `regions.parquet` of an evaluation of it."""
    suite = read(Path(made.file)) if made.is_suite else suite_of_pairs(made)
    if evaluated is not None:
        suite = with_values(suite, region_values(suite, read_regions(evaluated), evaluated))
    file = folder / f"{made.construction}.{form}"
    folder.mkdir(parents=True, exist_ok=True)
    write(suite, file)
    return file


def evaluated_sets(file: Path) -> set[str]:
    """The sets that a `regions.parquet` covers."""
    return {str(row["construction"]) for row in read_regions(file)}


def region_values(suite: Suite, rows: Iterable[JsonObject], file: Path) -> dict[VariantRegion, RegionValue]:
    """An evaluation's value for each region of a suite, by the suite's metric."""
    values = {}
    for row in rows:
        if row["construction"] == suite.name:
            bits = row["word_bits"]
            values[VariantRegion(int(row["item"]), row["condition"], row["region"])] = RegionValue(
                _measure(suite.metric, bits), tuple(row["unknown"])
            )
    if not values:
        raise SetError(file, None, f"it has no regions of {suite.name}; evaluate this suite first")
    return values


def _measure(metric: str, bits: list[float]) -> float:
    if not bits:
        return 0.0
    return max(bits) - min(bits) if metric == "range" else float(MEASURES[metric](bits))


def suite_of_pairs(made: ChallengeSet) -> Suite:
    """Good and bad sentences as conditions, divided where they differ; the good one must be less surprising as a whole."""
    items = tuple(_pair_item(made, number, item) for number, item in enumerate(made, start=1))
    meta: dict[str, Json] = {"name": made.construction, "metric": "sum", "language": made.language, "joiner": "blank"}
    meta |= {"comment": "pairs of a grammatical and an ungrammatical sentence", "reference": made.dataset}
    predictions = (prediction(made.file, None, PAIR_FORMULA, "good", {"type": "formula"}),)
    return Suite(made.file, meta, PAIR_REGIONS, predictions, items)


def _pair_item(made: ChallengeSet, number: int, item: MinimalSet) -> Item:
    if [variant.grammatical for variant in item.variants] != [True, False]:
        raise SetError(made.place(number - 1), None, "only pairs of one good and one bad sentence can be written as a suite")
    good, bad = (variant.words for variant in item.variants)
    conditions = []
    for name, words, (start, end) in zip(("good", "bad"), (good, bad), differing(good, bad), strict=True):
        cells = (words[:start], words[start:end], words[end:])
        regions = tuple(Region(place, " ".join(cell)) for place, cell in enumerate(cells, start=1))
        conditions.append(Condition(name, regions))
    features: dict[str, Json] = dict(item.features)
    return Item(number, tuple(conditions), {"features": features} if features else {})
