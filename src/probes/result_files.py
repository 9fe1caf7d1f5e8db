"""Results on disk: a Parquet file with every verdict, and a summary as CSV, JSON and Markdown."""

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from ..files import replace_atomically, write_atomically
from .accuracy import CHANCE, MEAN, Accuracy, ConstructionRow, Mean, Table
from .feature_columns import feature_columns
from .probe import Probe
from .scorers import WordScores
from .verdicts import Verdicts

# Raise it when a score, a verdict or a column comes to mean something else.
VERSION = 1
PARTS = ("all", "dev", "matched", "mismatched", "ss", "sp", "ps", "pp")


# ---------------------------------------------------------------- every verdict


def save_verdicts(file: Path, probe: Probe, verdicts: Verdicts, about: Mapping[str, Any]) -> None:
    """One row a contrast: the item, both scores in nats, the verdict."""
    _write(file, pa.table(_identity(probe) | _judgement(verdicts)), about)


def save_items(
    file: Path,
    probe: Probe,
    verdicts: Verdicts,
    scores: WordScores,
    about: Mapping[str, Any],
    extra: Mapping[str, Any] | None = None,
) -> None:
    """The same with the features, and with every word of both sentences and its log-probability."""
    columns = _identity(probe) | _judgement(verdicts) | _features(probe) | _sentences(probe, scores) | dict(extra or {})
    _write(file, pa.table(columns), about)


def _identity(probe: Probe) -> dict[str, Any]:
    contrasts = probe.contrasts
    uids = [[made.uid(i) for i in range(len(made))] for made in probe.sets]
    places = zip(contrasts.set.tolist(), contrasts.item.tolist(), strict=True)
    constructions = pa.DictionaryArray.from_arrays(pa.array(contrasts.set.astype(np.int32)), pa.array(probe.constructions))
    return {
        "uid": [uids[number][item] for number, item in places],
        "construction": constructions,
        "contrast": pa.array(contrasts.names).dictionary_encode(),
    }


def _judgement(verdicts: Verdicts) -> dict[str, Any]:
    scores = {"good_score": verdicts.better, "bad_score": verdicts.worse, "verdict": verdicts.verdict.astype(np.float32)}
    return scores | {"tie": verdicts.tie, "covered": verdicts.covered, "unknown_context": verdicts.unknown_context}


def _features(probe: Probe) -> dict[str, Any]:
    contrasts = probe.contrasts
    columns: dict[str, Any] = {
        "language": [probe.language] * len(contrasts),
        "set": [probe.name] * len(contrasts),
        "dev": contrasts.dev,
    }
    places = zip(contrasts.set.tolist(), contrasts.item.tolist(), strict=True)
    return columns | feature_columns(probe.sets, places)


def _sentences(probe: Probe, scores: WordScores) -> dict[str, Any]:
    words = pa.array([word for sentence in probe.sentences for word in sentence.words.split()]).dictionary_encode()
    columns: dict[str, Any] = {}
    for side, name in enumerate(("good", "bad")):
        chosen = probe.contrasts.sentences[:, side]
        offsets, places = _ranges(scores.firsts[chosen], scores.firsts[chosen + 1])
        columns[name] = pa.ListArray.from_arrays(offsets, words.take(pa.array(places)))
        columns[f"{name}_logprobs"] = pa.ListArray.from_arrays(offsets, pa.array(scores.logprobs[places]))
        columns[f"{name}_unknown"] = pa.ListArray.from_arrays(offsets, pa.array(scores.unknown[places]))
        columns[f"{name}_target"] = pa.FixedSizeListArray.from_arrays(pa.array(probe.contrasts.varied[:, side].flatten()), 2)
    return columns


def _ranges(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> tuple[pa.Array, NDArray[np.int64]]:
    lengths = ends - starts
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return pa.array(offsets.astype(np.int32)), np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)


def _write(file: Path, columns: pa.Table, about: Mapping[str, Any]) -> None:
    """Whole or not at all; what the numbers come from is written into the file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    stated = json.dumps({"version": VERSION, **about}, ensure_ascii=False, default=str)
    with replace_atomically(file) as new:
        parquet.write_table(columns.replace_schema_metadata({"concord": stated}), new, compression="zstd")


# ------------------------------------------------------------------- summaries


def save_summary(folder: Path, tables: Mapping[str, Table], about: Mapping[str, Any]) -> None:
    """`tables` has one or more models (or moments, or reference lines) by name, over the same sets."""
    folder.mkdir(parents=True, exist_ok=True)
    plain = {"version": VERSION, **about, "chance": CHANCE, "tables": {name: _plain(table) for name, table in tables.items()}}
    text = json.dumps(plain, indent=1, ensure_ascii=False, default=str, allow_nan=False)
    for name, content in (("summary.json", text), ("summary.csv", _csv(tables)), ("summary.md", markdown(tables, about))):
        write_atomically(folder / name, content)


def read_summary(folder: Path) -> tuple[dict[str, Table], dict[str, Any]]:
    """What `save_summary` wrote."""
    found = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    return {name: _restored(table) for name, table in found.pop("tables").items()}, found


def _plain(table: Table) -> dict[str, Any]:
    rows = [{"construction": row.construction, "parts": {name: asdict(acc) for name, acc in _parts(row)}} for row in table.rows]
    found: dict[str, Any] = _without_nan({"rows": rows, "mean": asdict(table.mean)})
    return found


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(each) for each in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _restored(plain: dict[str, Any]) -> Table:
    rows = []
    for row in plain["rows"]:
        parts = {name: Accuracy(**part | {"every": _number(part["every"])}) for name, part in row["parts"].items()}
        rows.append(ConstructionRow(row["construction"], parts.pop("all"), parts.pop("dev"), parts))
    mean = plain["mean"]
    low, high = mean["interval"]
    return Table(
        rows,
        Mean(
            mean["over"],
            _number(mean["accuracy"]),
            _number(mean["accuracy_dev"]),
            (_number(low), _number(high)),
            {k: _number(v) for k, v in mean["parts"].items()},
        ),
    )


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
    )
    writer.writerow(head)
    for name, table in tables.items():
        for row in table.rows:
            for part, a in _parts(row):
                low, high = a.interval
                numbers = (a.n, a.correct, a.accuracy, low, high, a.ties, a.uncovered, a.items, a.every, CHANCE)
                writer.writerow([name, row.construction, part, *map(_cell, numbers)])
        mean = table.mean
        writer.writerow([name, MEAN, "all", "", "", *map(_cell, (mean.accuracy, *mean.interval)), "", "", "", "", CHANCE])
    return stream.getvalue()


def _cell(value: float) -> str:
    return "" if isinstance(value, float) and math.isnan(value) else repr(value) if isinstance(value, float) else str(value)


def markdown(tables: Mapping[str, Table], about: Mapping[str, Any]) -> str:
    """A table to paste: constructions down, models across; then what the numbers rest on."""
    first = next(iter(tables.values()))
    lines = ["| construction | n | " + " | ".join(tables) + " |", "|---|--:|" + "--:|" * len(tables)]
    for row in first.rows:
        shown = [_md(table.row(row.construction).all) for table in tables.values()]
        lines.append(f"| {row.construction} | {row.all.n:,} | " + " | ".join(shown) + " |")
    means = [f"{table.mean.accuracy:.3f}" for table in tables.values()]
    lines.append("| **mean** | | " + " | ".join(means) + " |")
    ties, uncovered = (sum(getattr(row.all, name) for row in first.rows) for name in ("ties", "uncovered"))
    lines += [
        "",
        f"95 % intervals (Wilson) in brackets; chance {CHANCE:.2f}; first column: {ties:,} ties, {uncovered:,} uncovered.",
    ]
    contract = about.get("contract")
    if contract:
        lines.append(f"Protocol {contract['label']}: {contract['statement']}.")
    return "\n".join(lines) + "\n"


def _md(accuracy: Accuracy) -> str:
    if not accuracy.n:
        return "–"
    low, high = accuracy.interval
    return f"{accuracy.accuracy:.3f} [{low:.3f}, {high:.3f}]"
