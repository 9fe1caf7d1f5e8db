"""Any table of pairs: CSV with any separator, TSV, Parquet or JSON lines, with one row per pair and any further columns.

The columns with the sentences are known for the published benchmarks, or given (`probes.columns={good: …, bad: …, construction:
…}`). A cloze table has a sentence with a gap and two forms for it. Every other column is a feature.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...files import read_lines
from ...settings.reading import Plain
from ..challenge_set import ChallengeSet, SetError, Value
from ..feature_columns import RESERVED
from ..set_file import lines, objects, uneven_row
from .own import FURTHER, add_forms

SUFFIXES = {".csv", ".tsv", ".jsonl", ".parquet"}
TABLES = SUFFIXES
SEPARATORS = ("\t", ";", ",", "|")
# Columns of good and bad sentences: ours, those of BLiMP, TurBLiMP, MultiBLiMP and RuBLiMP, and other common names.
PAIRS = (
    ("good", "bad"),
    ("sentence_good", "sentence_bad"),
    ("good_sentence", "bad_sentence"),
    ("sen", "wrong_sen"),
    ("source_sentence", "target_sentence"),
    ("grammatical", "ungrammatical"),
    ("sentence_grammatical", "sentence_ungrammatical"),
    ("acceptable", "unacceptable"),
    ("correct", "incorrect"),
)
CLOZE = (("masked_text", "form_grammatical", "form_ungrammatical"),)
CONSTRUCTIONS = ("construction", "UID", "paradigm", "PID", "phenomenon", "linguistic_phenomenon")
ROLES = ("good", "bad", "masked", "construction")
GAP = re.compile(r"\[MASK\]|<mask>|_{2,}|\{\}")
# Files that have their own readers, which know all their columns.
ELSEWHERE = {".tsv": ({"good", "bad"}, {"sen", "wrong_sen"}), ".jsonl": ({"good", "bad"}, {"sentence_good", "sentence_bad"})}
LARGEST_CELL = 1 << 20


@dataclass(frozen=True)
class Columns:
    """Which column holds what. With a gap, good and bad are its candidate forms."""

    good: str
    bad: tuple[str, ...]
    construction: str = ""
    masked: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in (self.good, *self.bad, self.construction, self.masked) if name)


def recognises(file: Path, head: str) -> bool:
    if file.suffix == ".parquet":
        return True  # the suffix decides; reading it checks the rest
    names = _head_names(file, head)
    return known_columns(names) is not None and not any(pair <= set(names) for pair in ELSEWHERE.get(file.suffix, ()))


def _head_names(file: Path, head: str) -> list[str]:
    first = head.splitlines()[0] if head.strip() else ""
    if file.suffix == ".jsonl":
        return re.findall(r'"(\w+)"\s*:', first)
    found = (_cells(first, separator) for separator in SEPARATORS)
    return next((names for names in found if known_columns(names)), [])


def known_columns(names: Sequence[str]) -> Columns | None:
    """By the names that benchmarks use."""
    construction = next((name for name in CONSTRUCTIONS if name in names), "")
    for masked, good, bad in CLOZE:
        if {masked, good, bad} <= set(names):
            return Columns(good, (bad,), construction, masked)
    for good, bad in PAIRS:
        if {good, bad} <= set(names):
            further = tuple(name for name in names if FURTHER.fullmatch(name)) if bad == "bad" else ()
            return Columns(good, (bad, *further), construction)
    return None


def read(file: Path, language: str, columns: Mapping[str, Plain] | None = None) -> Iterator[ChallengeSet]:
    """One set per construction, in order of appearance."""
    sets: dict[str, ChallengeSet] = {}
    chosen: Columns | None = None
    for number, row in rows(file, columns):
        chosen = chosen or choose_columns(file, list(row), columns)
        name = str(row.get(chosen.construction) or "").strip() or file.stem
        made = sets.setdefault(name, ChallengeSet(name, language, dataset="table", file=str(file), together=True))
        good, bad = _sentences(row, chosen, file, number)
        add_forms(made, number, _features(row, chosen), good, bad)
    if not sets:
        raise SetError(file, None, "a table without rows")
    yield from sets.values()


def choose_columns(file: Path, names: Sequence[str], columns: Mapping[str, object] | None) -> Columns:
    """The columns given, and for the rest those known by name."""
    known = known_columns(names)
    if columns is None:
        if known is None:
            raise SetError(
                file,
                None,
                f"which columns hold the sentences? Available: {', '.join(names)}; set probes.columns={{good: …, bad: …}}",
            )
        return known
    if unknown := [role for role in columns if role not in ROLES]:
        raise SetError(file, None, f"probes.columns: unknown key {unknown[0]}; use {', '.join(ROLES)}")
    bad = columns.get("bad", known.bad if known else ())
    chosen = Columns(
        str(columns.get("good", known.good if known else "")),
        tuple(map(str, bad)) if isinstance(bad, Sequence) and not isinstance(bad, str) else (str(bad),),
        str(columns.get("construction", known.construction if known else "") or ""),
        str(columns.get("masked", known.masked if known else "") or ""),
    )
    if not chosen.good or not chosen.bad:
        raise SetError(file, None, "probes.columns needs good and bad, the columns with the two sentences (or forms for a gap)")
    if missing := [name for name in chosen.names if name not in names]:
        raise SetError(file, None, f"probes.columns: no column {missing[0]}; available: {', '.join(names)}")
    return chosen


def _sentences(row: Mapping[str, object], columns: Columns, file: Path, number: int) -> tuple[str, list[str]]:
    good = _text(row, columns.good, file, number)
    first = _text(row, columns.bad[0], file, number)
    bad = [first, *(str(row[name]) for name in columns.bad[1:] if str(row[name] or "").split())]
    if not columns.masked:
        return good, bad
    masked = _text(row, columns.masked, file, number)
    if len(gaps := GAP.findall(masked)) != 1:
        raise SetError(file, number, f"{columns.masked} has {len(gaps)} gaps instead of one ([MASK], <mask>, ___ or {{}})")
    fill = [masked.replace(gaps[0], form.strip()) for form in (good, *bad)]
    return fill[0], fill[1:]


def _text(row: Mapping[str, object], column: str, file: Path, number: int) -> str:
    value = row[column]
    if not isinstance(value, str) or not value.split():
        raise SetError(file, number, f"the column {column} must hold text; here it is {str(value)[:40]!r}")
    return value.strip()


def _features(row: Mapping[str, object], columns: Columns) -> dict[str, Value]:
    """Everything else that is known. A column named like one of the results gets another name."""
    kept = {key: value for key, value in row.items() if key not in columns.names and value not in (None, "")}
    return {f"item_{key}" if key in RESERVED else key: _feature(value) for key, value in kept.items()}


def _feature(value: object) -> Value:
    """Integers and text unchanged; anything else as text."""
    if isinstance(value, str) or type(value) is int:
        return value
    return str(value) if isinstance(value, bool | float) else json.dumps(value, ensure_ascii=False, default=str)


# ------------------------------------------------------------------------ rows


def rows(file: Path, columns: Mapping[str, object] | None = None) -> Iterator[tuple[int, dict[str, object]]]:
    """The rows of a table by column, numbered as a person would look for them."""
    if file.suffix == ".parquet":
        yield from _parquet_rows(file)
    elif file.suffix == ".jsonl":
        yield from objects(file)
    else:
        yield from _separated_rows(file, columns)


def _separated_rows(file: Path, columns: Mapping[str, object] | None) -> Iterator[tuple[int, dict[str, object]]]:
    first, head = next(lines(file))
    separator = separator_of(head, columns)
    csv.field_size_limit(LARGEST_CELL)
    reader = csv.reader((f"{line}\n" for line in read_lines(file, SetError)), delimiter=separator, strict=False)
    names: list[str] = []
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if not names:
                names = [name.strip() for name in cells]
                _must_differ(names, file, first)
            elif len(cells) != len(names):
                raise uneven_row(file, reader.line_num, len(cells), len(names))
            else:
                yield reader.line_num, dict(zip(names, cells, strict=True))
    except csv.Error as error:
        raise SetError(file, reader.line_num, f"cannot be read as a table ({error})") from None


def separator_of(head: str, columns: Mapping[str, object] | None) -> str:
    """The separator that splits the header into known or requested columns; otherwise the one that occurs most often."""
    asked = {str(name) for name in (columns or {}).values() if isinstance(name, str)}
    for separator in SEPARATORS:
        names = _cells(head, separator)
        if (asked and asked <= set(names)) or (not asked and known_columns(names)):
            return separator
    return max(SEPARATORS, key=lambda separator: len(_cells(head, separator)))


def _cells(line: str, separator: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=separator), [])]
    except csv.Error:
        return []


def _must_differ(names: Sequence[str], file: Path, number: int) -> None:
    if again := next((name for name in names if names.count(name) > 1), None):
        raise SetError(file, number, f"the column {again or 'without a name'} occurs twice in the header")


def _parquet_rows(file: Path) -> Iterator[tuple[int, dict[str, object]]]:
    import pyarrow  # noqa: PLC0415 - half a second, for one format
    from pyarrow import parquet  # noqa: PLC0415

    number = 0
    try:
        with parquet.ParquetFile(file) as table:
            for batch in table.iter_batches(4096):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except (pyarrow.ArrowException, OSError) as error:
        raise SetError(file, None, f"cannot be read as Parquet ({str(error).splitlines()[0]}); it is damaged") from None
