"""Every verdict of all runs and evaluations in one table, with the same columns whoever wrote them.

Verdict files are read and written one after another, a batch of rows at a time: memory does not grow with the number of runs.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, parquet
from rich.progress import track

from ..errors import UserError
from ..escapes import csv_cell
from ..files import replace_atomically
from ..probes.contrast_chance import PAIR_CHANCE
from ..probes.feature_columns import RESERVED
from ..probes.verdict_files import RULE
from ..terminal import console
from .conditions import RunCondition
from .frame import FINAL, STEP
from .results import Result

# What a verdict belongs to: the same in all rows of one verdict file.
OWNER = {
    "run": pa.string(),
    "folder": pa.string(),
    "kind": pa.string(),
    "condition": pa.string(),
    "model": pa.string(),
    "scoring": pa.string(),
    "checkpoint": pa.string(),
    "trained_on": pa.string(),
    "seed": pa.int64(),
    "vocabulary": pa.string(),
    "language": pa.string(),
    "set": pa.string(),
    "protocol": pa.string(),
    "digest": pa.string(),
    "moment": pa.string(),
    "step": pa.int64(),
    "seen": pa.int64(),
    "axis": pa.string(),
}
# What the model did on one contrast of an item.
JUDGED = {
    "construction": pa.string(),
    "contrast": pa.string(),
    "uid": pa.string(),
    "good_score": pa.float64(),
    "bad_score": pa.float64(),
    "margin": pa.float64(),
    "verdict": pa.float64(),
    "tie": pa.bool_(),
    "covered": pa.bool_(),
    "unknown_context": pa.bool_(),
    "chance": pa.float64(),
}
# What only the items file says about a contrast; it also applies during training.
ITEM = {"dev": pa.bool_(), "good_frequency": pa.int64(), "bad_frequency": pa.int64()}
SENTENCES = {"good": pa.string(), "bad": pa.string()}
KEY = ("construction", "uid", "contrast")
NOT_FEATURES = RESERVED | {"term_values", *KEY}
SUFFIXES = (".parquet", ".csv", ".csv.gz")
ROWS = 1 << 16  # in memory at a time
Write = Callable[[pa.Table], None]


@dataclass(frozen=True)
class VerdictFile:
    """A verdict file and its moment."""

    path: Path
    moment: str
    step: int | None
    seen: int | None
    digest: str


def write_verdicts(
    conditions: Sequence[RunCondition], out: Path, final: bool = False, sentences: bool = False
) -> tuple[int, int]:
    """One row per run, moment and contrast; returns the number of rows and of files.

    `final`: only the whole sets with the final weights. `sentences`: include the good and bad sentence of each pair.
    """
    sources = [(condition, result, [*verdict_files(result, final)]) for condition in conditions for result in condition.results]
    if not any(files for _, _, files in sources):
        raise UserError("no verdicts found in these folders" + ("; drop --final to include unfinished runs" * final))
    features = _features([result for _, result, files in sources if files])
    schema = pa.schema({**OWNER, **JUDGED, **ITEM, **features, **(SENTENCES if sentences else {})})
    rows = 0
    with replace_atomically(out) as new, _writer(new, out.name, schema) as write:
        for condition, result, files in track(
            sources, "verdicts", console=console, transient=True, disable=not console.is_terminal
        ):
            known = _item_facts(result, features, sentences)
            for file in files:
                for batch in _rows(condition, result, file, known, schema):
                    write(batch)
                    rows += len(batch)
    return rows, sum(len(files) for _, _, files in sources)


def require_suffix(out: Path) -> None:
    """Check before any work that the format can be written."""
    if not out.name.endswith(SUFFIXES):
        raise UserError(
            f"--out {out}: the file name determines the format; end it in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
        )


def verdict_files(result: Result, final: bool = False) -> Iterator[VerdictFile]:
    """The files written during training, in order, then that of the whole sets."""
    for moment in () if final else result.moments:
        if moment.file is not None:
            yield VerdictFile(moment.file, f"{STEP}{moment.step}", moment.step, moment.words, result.sample)
    if result.items is not None:
        about = json.loads(parquet.read_metadata(result.items).metadata[b"concord"])
        seen = about.get("words_seen") or result.words or None
        yield VerdictFile(result.items, FINAL, about.get("step"), seen, result.digest)


@contextmanager
def _writer(file: Path, name: str, schema: pa.Schema) -> Iterator[Write]:
    if name.endswith(".parquet"):
        with parquet.ParquetWriter(file, schema, compression="zstd") as made:
            yield made.write_table
        return
    compression = "gzip" if name.endswith(".gz") else None
    with pa.output_stream(str(file), compression=compression) as stream, csv.CSVWriter(stream, schema) as made:
        yield lambda table: made.write_table(_harmless(table))


def _harmless(table: pa.Table) -> pa.Table:
    """Keep a spreadsheet from reading text as a formula."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            values = pc.dictionary_encode(table.column(place)).combine_chunks()
            words = pa.array([csv_cell(word) for word in values.dictionary.to_pylist()], pa.string())
            table = table.set_column(place, field, words.take(values.indices))
    return table


def _features(results: Sequence[Result]) -> dict[str, pa.DataType]:
    """Item features over all files: as text if two files disagree on the type.

    A feature named like one of our columns is prefixed with `item_`.
    """
    found: dict[str, set[pa.DataType]] = {}
    for file in [file for result in results if (file := _item_file(result))]:
        for field in parquet.read_schema(file):
            if _is_feature(field):
                found.setdefault(_feature_name(field.name), set()).add(field.type)
    kinds = {name: [kind for kind in own if not pa.types.is_null(kind)] for name, own in found.items()}
    return {name: own[0] if len(own) == 1 else pa.string() for name, own in kinds.items()}


def _item_file(result: Result) -> Path | None:
    """The items of the whole sets; for an unfinished run, of its sample, if kept."""
    return result.items or result.sample_file


def _is_feature(field: pa.Field) -> bool:
    return field.name not in NOT_FEATURES and not field.name.startswith(RULE) and not pa.types.is_nested(field.type)


def _feature_name(name: str) -> str:
    return f"item_{name}" if name in OWNER else name


def _item_facts(result: Result, features: dict[str, pa.DataType], sentences: bool) -> pa.Table | None:
    """What is known about every contrast, whatever the model: features, frequencies, sentences."""
    file = _item_file(result)
    if file is None:
        return None
    there = parquet.read_schema(file)
    own = [field.name for field in there if _is_feature(field)]
    wanted = [*KEY, *(name for name in ITEM if name in there.names), *own, *(SENTENCES if sentences else ())]
    table = parquet.read_table(file, columns=wanted)
    columns = {"key": _keys(table, Counter())}
    for name in wanted[len(KEY) :]:
        kind = {**ITEM, **SENTENCES}.get(name) or features[_feature_name(name)]
        columns[_feature_name(name)] = _joined(table[name]) if name in SENTENCES else _as(table[name], kind)
    return pa.table(columns)


def _keys(table: pa.Table, seen: Counter[str]) -> pa.Array:
    """What an item and a contrast are known by; contrasts of an item may have no name, so they are numbered. `seen`: so far."""
    keys = []
    for key in pc.binary_join_element_wise(*(table[name].cast(pa.string()) for name in KEY), "\x1f").to_pylist():
        keys.append(f"{key}\x1f{seen[key]}")
        seen[key] += 1
    return pa.array(keys, pa.string())


def _joined(words: pa.ChunkedArray) -> pa.ChunkedArray:
    """A sentence joined from its words."""
    plain = words.cast(pa.list_(pa.string()))
    return pc.binary_join(plain, " ")


def _as(values: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_boolean(values.type) and pa.types.is_string(kind):
        return pc.if_else(values, "true", "false")
    return values.cast(kind)


def _rows(
    condition: RunCondition, result: Result, file: VerdictFile, known: pa.Table | None, schema: pa.Schema
) -> Iterator[pa.Table]:
    owner = _owner(condition, result, file)
    source = parquet.ParquetFile(file.path)
    columns = [name for name in JUDGED if name in source.schema_arrow.names]
    seen: Counter[str] = Counter()
    for batch in source.iter_batches(ROWS, columns=columns):
        read = pa.table(batch)
        made = {name: _judged(read, name) for name in JUDGED}
        if known is not None:
            places = pc.index_in(_keys(read, seen), value_set=known["key"].combine_chunks())
            made |= {name: known[name].take(places) for name in known.column_names if name != "key"}
        made |= {name: pa.repeat(pa.scalar(owner[name], kind), len(read)) for name, kind in OWNER.items()}
        empty = {field.name: pa.nulls(len(read), field.type) for field in schema if field.name not in made}
        yield pa.table(made | empty).select(schema.names).cast(schema)


def _judged(read: pa.Table, name: str) -> pa.Array | pa.ChunkedArray:
    """Pair files have neither margin nor chance. Unscored contrasts have no verdict, so that a mean leaves them out."""
    if name == "margin" and name not in read.column_names:
        return pc.subtract(read["good_score"], read["bad_score"])
    if name == "chance" and name not in read.column_names:
        return pa.repeat(pa.scalar(PAIR_CHANCE), len(read))
    values = read[name].cast(JUDGED[name])
    return pc.if_else(read["covered"], values, None) if name == "verdict" else values


def _owner(condition: RunCondition, result: Result, file: VerdictFile) -> dict[str, object]:
    model = result.model
    return {
        "run": result.name,
        "folder": str(result.path),
        "kind": result.kind,
        "condition": condition.name,
        "model": model.name,
        "scoring": model.scoring or None,
        "checkpoint": model.checkpoint or None,
        "trained_on": "+".join(model.languages) or None,
        "seed": result.seed,
        "vocabulary": result.vocabulary,
        "language": result.language,
        "set": result.set,
        "protocol": result.label,
        "digest": file.digest,
        "moment": file.moment,
        "step": file.step,
        "seen": file.seen,
        "axis": result.axis,
    }
