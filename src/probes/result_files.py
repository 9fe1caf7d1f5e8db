"""Summaries on disk: the tables of a run or an evaluation as JSON, which can be read back, CSV and Markdown."""

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from ..escapes import csv_cell, markdown_cell
from ..files import JsonObject, write_atomically
from .accuracy import MEAN, Accuracy, ConstructionRow, GroupRow, Mean, Table
from .contrast_chance import PAIR_CHANCE
from .verdict_files import VERSION


def save_summary(folder: Path, tables: Mapping[str, Table], about: Mapping[str, object]) -> None:
    """`tables`: one or more models (or moments, or reference lines) by name, over the same sets."""
    folder.mkdir(parents=True, exist_ok=True)
    plain = {"version": VERSION, **about, "tables": {name: _plain(table) for name, table in tables.items()}}
    text = json.dumps(plain, indent=1, ensure_ascii=False, default=str, allow_nan=False)
    for name, content in (("summary.json", text), ("summary.csv", _csv(tables)), ("summary.md", markdown(tables, about))):
        write_atomically(folder / name, content)


def read_summary(folder: Path) -> tuple[dict[str, Table], JsonObject]:
    """What `save_summary` wrote."""
    found = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    return {name: _restored(table) for name, table in found.pop("tables").items()}, found


def _plain(table: Table) -> dict[str, object]:
    """Chance is kept beside the counts: `parts` and `mean` keep the form they had when there was only one chance."""
    rows, mean = [], asdict(table.mean)
    for row in table.rows:
        parts = {name: asdict(accuracy) for name, accuracy in _parts(row)}
        facts = ("chance", "margin", "unknown_context")
        beside = {fact: {name: part.pop(fact) for name, part in parts.items()} for fact in facts}
        rows.append({"construction": row.construction, "parts": parts, **beside, "repeated": row.repeated})
    of_mean = {"chance": mean.pop("chance"), "mean_parts_over": mean.pop("parts_over"), "bases": dict(table.bases)}
    groups = [asdict(group) for group in table.groups]
    return _without_nan({"rows": rows, "mean": mean, **of_mean, "groups": groups, "groupings": dict(table.groupings)})


def _without_nan(values: Mapping[str, object]) -> dict[str, object]:
    def null(value: object) -> object:
        if isinstance(value, Mapping):
            return _without_nan(value)
        if isinstance(value, list | tuple):
            return [null(each) for each in value]
        return None if isinstance(value, float) and math.isnan(value) else value

    return {key: null(value) for key, value in values.items()}


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _restored(plain: JsonObject) -> Table:
    """Older tables have one chance, one grouping and no groups of constructions."""
    rows = []
    for row in plain["rows"]:
        chance, margin, unknown = (row.get(fact, {}) for fact in ("chance", "margin", "unknown_context"))
        parts = {
            name: Accuracy(
                **part | {"every": _number(part["every"])},
                chance=chance.get(name, PAIR_CHANCE),
                margin=_number(margin.get(name)),
                unknown_context=unknown.get(name, 0),
            )
            for name, part in row["parts"].items()
        }
        repeated = row.get("repeated", 0)
        rows.append(ConstructionRow(row["construction"], parts.pop("all"), parts.pop("dev"), parts, repeated))
    groups = [
        GroupRow(**group | {name: _number(group[name]) for name in ("accuracy", "accuracy_dev")} | {"interval": _pair(group)})
        for group in plain.get("groups", [])
    ]
    mean = plain["mean"]
    restored = Mean(
        mean["over"],
        _number(mean["accuracy"]),
        _number(mean["accuracy_dev"]),
        _pair(mean),
        {name: _number(value) for name, value in mean["parts"].items()},
        plain.get("chance", PAIR_CHANCE),
        plain.get("mean_parts_over", {}),
    )
    if "groupings" not in plain:
        return Table(rows, restored)
    return Table(rows, restored, groups, plain["groupings"], plain.get("bases", {}))


def _pair(plain: JsonObject) -> tuple[float, float]:
    low, high = plain["interval"]
    return _number(low), _number(high)


def _parts(row: ConstructionRow) -> Iterator[tuple[str, Accuracy]]:
    yield from (("all", row.all), ("dev", row.dev), *row.parts.items())


def _csv(tables: Mapping[str, Table]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    head = (
        "model",
        "construction",
        "part",
        "n",
        "correct",
        "accuracy",
        "low",
        "high",
        "ties",
        "uncovered",
        "items",
        "every",
        "chance",
        "unknown_context",
        "repeated",
    )
    writer.writerow(head)
    for name, table in tables.items():
        for row in table.rows:
            for part, a in _parts(row):
                low, high = a.interval
                numbers = (a.n, a.correct, a.accuracy, low, high, a.ties, a.uncovered, a.items, a.every, a.chance)
                further = (a.unknown_context, row.repeated if part == "all" else "")
                writer.writerow([csv_cell(name), csv_cell(row.construction), part, *map(_cell, numbers), *further])
        for group in table.groups:
            counts = (group.accuracy, *group.interval, group.ties, group.uncovered)
            writer.writerow(
                [
                    csv_cell(name),
                    csv_cell(group.key),
                    "all",
                    group.n,
                    "",
                    *map(_cell, counts),
                    "",
                    "",
                    _cell(group.chance),
                    "",
                    "",
                ]
            )
        mean = table.mean
        writer.writerow(
            [name, MEAN, "all", "", "", *map(_cell, (mean.accuracy, *mean.interval)), "", "", "", "", mean.chance, "", ""]
        )
    return stream.getvalue()


def _cell(value: float) -> str:
    return "" if isinstance(value, float) and math.isnan(value) else repr(value) if isinstance(value, float) else str(value)


def markdown(tables: Mapping[str, Table], about: Mapping[str, object]) -> str:
    """A table to paste: constructions down, models across; then the scoring contract."""
    first = next(iter(tables.values()))
    several = first.chances() != [PAIR_CHANCE]
    lines = [
        f"| construction | n |{' chance |' if several else ''} " + " | ".join(map(markdown_cell, tables)) + " |",
        f"|---|--:|{'--:|' if several else ''}" + "--:|" * len(tables),
    ]
    for row in first.rows:
        shown = [_md(table.row(row.construction).all) for table in tables.values()]
        chance = f" {row.all.chance:.3f} |" if several else ""
        lines.append(f"| {markdown_cell(row.construction)} | {row.all.n:,} |{chance} " + " | ".join(shown) + " |")
    for number, group in enumerate(first.groups):
        found = [_share(table.groups[number].accuracy) if table.groups else "–" for table in tables.values()]
        chance = f" {group.chance:.3f} |" if several else ""
        lines.append(
            f"| {markdown_cell(group.key)} ({group.combine} of {len(group.over)}) | {group.n:,} |{chance} "
            + " | ".join(found)
            + " |"
        )
    alike = means_are_alike(tables.values())
    means = [
        _share(table.mean.accuracy) + ("" if alike or not table.mean.over else f" (of {len(table.mean.over)})")
        for table in tables.values()
    ]
    chance = f" {first.mean.chance:.3f} |" if several else ""
    lines.append(f"| **mean** of {len(first.mean.over)} | |{chance} " + " | ".join(means) + " |")
    ties, uncovered = (sum(getattr(row.all, name) for row in first.rows) for name in ("ties", "uncovered"))
    stated = "chance by construction" if several else f"chance {PAIR_CHANCE:.2f}"
    counts = f"{ties:,} ties, {uncovered:,} uncovered"
    if unknown := sum(row.all.unknown_context for row in first.rows):
        counts += f", {unknown:,} scored with an unknown word outside the tested ones"
    lines += ["", f"95 % intervals (Wilson) in brackets; {stated}; first column: {counts}."]
    if any(row.repeated for row in first.rows):
        lines.append(f"Exact duplicates left out: {repetitions(first)}.")
    contract = about.get("contract")
    if isinstance(contract, Mapping):
        lines.append(f"Protocol {contract['label']}: {contract['statement']}.")
    return "\n".join(lines) + "\n"


def means_are_alike(tables: Iterable[Table]) -> bool:
    """Whether the means of these tables cover the same constructions."""
    return len({frozenset(table.mean.over) for table in tables if table.mean.over}) <= 1


def repetitions(table: Table) -> str:
    """How many items of which construction were left out as duplicates."""
    return ", ".join(f"{row.construction} {row.repeated:,}" for row in table.rows if row.repeated)


def _share(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


def _md(accuracy: Accuracy) -> str:
    if not accuracy.n:
        return "–"
    low, high = accuracy.interval
    return f"{accuracy.accuracy:.3f} [{low:.3f}, {high:.3f}]"
