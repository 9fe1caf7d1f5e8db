"""Items of suites region by region: the words of every condition, and each final model's surprisal on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyarrow import parquet

from ..probes.region_files import regions_beside
from .left_out import UNREADABLE
from .results import Result
from .suite_tables import stated_predictions
from .verdict_columns import Key

COLUMNS = ["uid", "construction", "condition", "region", "name", "words", "bits"]


@dataclass
class SuiteLayout:
    """What the items of a suite share: regions and conditions, in order, and what each prediction compares."""

    regions: dict[int, str] = field(default_factory=dict)  # names by number
    conditions: list[str] = field(default_factory=list)
    predictions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def for_page(self) -> dict[str, Any]:
        names = [name or str(number) for number, name in self.regions.items()]
        stated = {
            contrast: {"clauses": each["clauses"], "named": self._named(each["terms"])}
            for contrast, each in self.predictions.items()
        }
        return {"regions": names, "conditions": self.conditions, "predictions": stated}

    def _named(self, terms: Sequence[str]) -> list[list[int]]:
        """The cells (condition, region) that `verb@match`, `6@match` or `*@match` name."""
        found = []
        for row, condition in enumerate(self.conditions):
            for column, (number, name) in enumerate(self.regions.items()):
                if {f"{name or number}@{condition}", f"*@{condition}"} & set(terms):
                    found.append([row, column])
        return found


def mean_regions(result: Result, items: int) -> float:
    """The mean number of regions per item in these results; 0 if there are none."""
    file = _region_file(result)
    return 0.0 if file is None else parquet.read_metadata(file).num_rows / max(items, 1)


def regions_for_page(results: Mapping[int, Result], keys: Sequence[Key], constructions: Sequence[str]) -> dict[str, Any] | None:
    """Layouts by suite; for each item its words, and bits and margins by result number. None if nothing has regions."""
    layouts: dict[str, SuiteLayout] = {name: SuiteLayout() for name in constructions}
    wanted = {uid for uid, _, _ in keys}
    words: dict[str, dict[tuple[str, int], str]] = {}
    bits: dict[int, dict[str, dict[tuple[str, int], float]]] = {}
    margins = {}
    for number, result in results.items():
        if (file := _region_file(result)) is None or result.items is None:
            continue
        bits[number] = {}
        for row in parquet.read_table(file, columns=COLUMNS, filters=[("uid", "in", wanted)]).to_pylist():
            layout = layouts[row["construction"]]
            layout.regions.setdefault(row["region"], row["name"])
            if row["condition"] not in layout.conditions:
                layout.conditions.append(row["condition"])
            place = (row["condition"], row["region"])
            words.setdefault(row["uid"], {})[place] = " ".join(row["words"])
            bits[number].setdefault(row["uid"], {})[place] = row["bits"]
        margins[number] = _margins(result.items, wanted)
        for name, stated in stated_predictions(result.items).items():
            if name in layouts:
                layouts[name].predictions = stated
    if not words:
        return None
    rows = list(zip(keys, constructions, strict=True))
    return {
        "suites": {name: layout.for_page() for name, layout in layouts.items() if layout.regions},
        "contrasts": [contrast for _, contrast, _ in keys],
        "words": [_table(layouts[name], words.get(uid), "") for (uid, _, _), name in rows],
        "bits": {str(n): [_table(layouts[name], own.get(uid), 0.0) for (uid, _, _), name in rows] for n, own in bits.items()},
        "margins": {str(n): [own.get((uid, contrast)) for (uid, contrast, _), _ in rows] for n, own in margins.items()},
    }


def _region_file(result: Result) -> Path | None:
    """Stored beside the verdicts on whole sets."""
    if result.items is None or not (file := regions_beside(result.items)).is_file():
        return None
    try:
        parquet.read_metadata(file)
    except UNREADABLE:
        return None
    return file


def _margins(items: Path, wanted: set[str]) -> dict[tuple[str, str], list[float]]:
    """The margin in bits of each comparison."""
    if "clause_margins" not in parquet.read_schema(items).names:
        return {}
    table = parquet.read_table(items, columns=["uid", "contrast", "covered", "clause_margins"], filters=[("uid", "in", wanted)])
    return {
        (row["uid"], row["contrast"]): [round(margin, 2) for margin in row["clause_margins"]]
        for row in table.to_pylist()
        if row["covered"]
    }


def _table(layout: SuiteLayout, values: Mapping[tuple[str, int], Any] | None, nothing: Any) -> list[list[Any]] | None:
    """One row per condition, one column per region; bits rounded to hundredths."""
    if values is None:
        return None
    rows = [[values.get((condition, region), nothing) for region in layout.regions] for condition in layout.conditions]
    return [[round(value, 2) if isinstance(value, float) else value for value in row] for row in rows]
