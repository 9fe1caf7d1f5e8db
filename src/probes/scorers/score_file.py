"""Score files from any source: a table (.csv, .tsv), JSON lines or Parquet, by word, piece, region or sentence.

What a value scores
    sentence             its text; or uid and role, an item and good, bad …; or sentence_id, and the text is its tokens
    word, token, piece, region    a stretch of it, one row each; without such a column the value is for the whole sentence
    words, tokens …      in JSON lines and Parquet: lists, one row per sentence
and the value
    logprob              logarithm of a probability
    surprisal, loss      the same with the opposite sign
An evaluation's `items.parquet` is such a file too: good, good_logprobs, bad, bad_logprobs. So are the released outputs of
Zaczynska et al. (2020): JSON lines with text_masked, candidates, tokenized, and in probs the loss of each candidate; pairs with
unequal numbers of pieces are left out there, and here. A folder stands for all files in it.
"""

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from pyarrow import ArrowInvalid, parquet

from ...errors import UserError
from ...files import JsonObject

Kind = Literal["logprob", "surprisal", "loss"]
BASES = {"e": 1.0, "2": math.log(2), "10": math.log(10)}
STRETCHES = ("word", "token", "piece", "region")
IDENTITIES = (("uid", "role"), ("sentence_id",), ("sentid",), ("sentence",))
COLUMNS: dict[str, Kind] = {
    **dict.fromkeys(("logprob", "log_prob", "logprobs", "log_probs"), "logprob"),
    **dict.fromkeys(("surprisal", "surprisals"), "surprisal"),
    **dict.fromkeys(("loss", "losses", "nll"), "loss"),
}
UNITS = {"bits": "2", "nats": "e"}  # as suffixes of a column: surprisal_bits
FORMATS = (".csv", ".tsv", ".jsonl", ".parquet")
MASK = "[MASK]"


class ScoredText(NamedTuple):
    """A sentence as in the file. Without tokens the value is for the whole; uid and role may replace its text."""

    place: str
    text: str
    key: tuple[str, str]  # uid and role, or nothing
    tokens: tuple[str, ...]
    logprobs: tuple[float, ...]  # in nats


@dataclass(frozen=True)
class ScoreFile:
    """What a file contains, and how it was interpreted."""

    texts: list[ScoredText]
    kind: Kind
    base: str
    unit: str  # word, token, piece, region or sentence
    given: int  # first tokens without a value: read, not scored

    @property
    def described(self) -> str:
        named = {"logprob": "log-probabilities", "surprisal": "surprisals", "loss": "losses"}[self.kind]
        return f"{named} by {self.unit}, logarithms to base {self.base}"


def read_score_file(path: Path, column: str | None, kind: Kind | None, base: str | None) -> ScoreFile:
    """`column`, `kind` and `base` supply what the file does not say."""
    rows = _rows(path)
    names = list(dict.fromkeys(name for _, row in rows[:100] for name in row))
    pairs = _list_columns(names, rows[0][1]) if column is None else []
    value = pairs[0][1] if pairs else column or _value_column(path, names)
    stem, unit = _unit_of(value.removeprefix(pairs[0][0] + "_") if pairs else value)
    kind = kind or COLUMNS.get(stem)
    if kind is None:
        raise UserError(f"{path}: model.values= is required: does the column {value} hold logprob, surprisal or loss?")
    base = _base(path, value, kind, unit, base)
    reading = _Conversion(path, -1.0 if kind != "logprob" else 1.0, BASES[base], kind)
    if pairs:
        found, stretch = (
            list(_lists(rows, pairs, reading)),
            "word" if pairs[0][0] in ("good", "compared") else pairs[0][0].rstrip("s"),
        )
    else:
        stretch = next((name for name in STRETCHES if name in names), "sentence")
        found = list(_grouped(path, rows, names, stretch, value, reading))
    return ScoreFile(found, kind, base, stretch, reading.given)


@dataclass
class _Conversion:
    """From the file's numbers to log-probabilities in nats."""

    path: Path
    sign: float
    factor: float
    kind: str
    given: int = 0

    def __call__(self, values: Sequence[str | float | None], place: str) -> tuple[float, ...]:
        return tuple(self._one(value, place, first=number == 0) for number, value in enumerate(values))

    def _one(self, value: str | float | None, place: str, first: bool) -> float:
        missing = value is None or str(value).strip().lower() in ("", "nan", "none", "na", "null")
        if missing and first:  # nothing precedes it, so many tools have no score for it
            self.given += 1
            return 0.0
        try:
            number = math.nan if value is None or missing else float(value) * self.sign * self.factor
        except (TypeError, ValueError):
            raise UserError(f"{place}: {str(value)[:40]!r} is not a number") from None
        if not math.isfinite(number):
            raise UserError(f"{place}: {str(value)[:40]!r} is not a score; only the first word of a sentence may lack one")
        if number > 1e-6:
            other = "model.values=surprisal" if self.kind == "logprob" else "model.values=logprob"
            raise UserError(f"{place}: {value} as {self.kind} would be a probability above 1; is it {other}?")
        return min(number, 0.0)


def _base(path: Path, column: str, kind: str, unit: str, base: str | None) -> str:
    if base is not None and base not in BASES:
        raise UserError(f"model.base={base}: the base of the logarithms must be e, 2 or 10")
    if base and unit and base != unit:
        raise UserError(
            f"{path}: model.base={base}, but the column {column} says base {unit}; leave model.base out, or name another column"
        )
    if not base and not unit and kind == "surprisal":
        raise UserError(f"{path}: model.base= is required: surprisals come in bits (2), nats (e) or base 10")
    return base or unit or "e"


def _unit_of(column: str) -> tuple[str, str]:
    stem, _, ending = column.rpartition("_")
    return (stem, UNITS[ending]) if ending in UNITS else (column, "")


def _value_column(path: Path, names: Sequence[str]) -> str:
    found = [name for name in names if _unit_of(name)[0] in COLUMNS]
    if len(found) != 1:
        problem = (
            f"several columns could be the score ({', '.join(found)})"
            if found
            else "no column is called logprob, surprisal or loss"
        )
        raise UserError(f"{path}: {problem}; name it with model.column=; available: {', '.join(names)}")
    return found[0]


def _list_columns(names: Sequence[str], first: Mapping[str, object]) -> list[tuple[str, str]]:
    """Columns of tokens, each with its column of values: good and good_logprobs, words and surprisals."""
    stretches = [name for name in (*(f"{one}s" for one in STRETCHES), "good", "bad") if isinstance(first.get(name), list | tuple)]
    values = [name for name in names if _unit_of(name)[0] in COLUMNS]
    own = [(name, f"{name}_{value}") for name in stretches for value in COLUMNS if f"{name}_{value}" in names]
    return own or [(name, values[0]) for name in stretches[:1] if values]


def _lists(
    rows: Sequence[tuple[str, JsonObject]], pairs: Sequence[tuple[str, str]], reading: _Conversion
) -> Iterator[ScoredText]:
    for place, row in rows:
        for tokens, values in pairs:
            if row.get(tokens) is None:
                continue
            if len(row[tokens]) != len(row.get(values) or ()):
                raise UserError(f"{place}: {len(row[tokens])} {tokens}, but {len(row.get(values) or ())} {values}")
            # In our own files good and bad are the sentences, and a column sentence is a feature: the name of a tree.
            text = "" if tokens in ("good", "bad") else str(row.get("sentence") or "")
            yield ScoredText(place, text, ("", ""), tuple(map(str, row[tokens])), reading(row[values], place))


def _grouped(
    path: Path,
    rows: Sequence[tuple[str, JsonObject]],
    names: Sequence[str],
    stretch: str,
    value: str,
    reading: _Conversion,
) -> Iterator[ScoredText]:
    """One row per stretch, those of a sentence adjacent; or one row per sentence."""
    identity = next((each for each in IDENTITIES if set(each) <= set(names)), None)
    if identity is None:
        raise UserError(
            f"{path}: what do these scores belong to? There must be a column sentence, sentence_id, or uid and role; available: "
            f"{', '.join(names)}"
        )
    groups: dict[tuple[object, ...], list[tuple[str, JsonObject]]] = {}
    last: tuple[object, ...] = ()
    for place, row in rows:
        key = tuple(row.get(name) for name in identity)
        if stretch == "sentence" or (identity == ("sentence",) and key != last[:-1]):
            key = last = (*key, len(groups))  # a repeated sentence counts twice
        elif identity == ("sentence",):
            key = last
        groups.setdefault(key, []).append((place, row))
    for own in groups.values():
        (place, first), texts = own[0], [str(row.get(stretch, "")) for _, row in own]
        text = str(first.get("sentence") or "")
        item = (str(first.get("uid")), str(first.get("role"))) if identity == ("uid", "role") else ("", "")
        tokens = () if stretch == "sentence" else tuple(texts)
        yield ScoredText(place, text, item, tokens, reading([row.get(value) for _, row in own], place))


def _rows(path: Path) -> list[tuple[str, JsonObject]]:
    """Every row with its place."""
    rows = [row for file in score_files(path) for row in _rows_of_file(file)]
    return _losses_of_candidates(rows) if isinstance(rows[0][1].get("probs"), dict) else rows


def score_files(path: Path) -> list[Path]:
    """The file itself, or those in a folder."""
    if not path.is_dir() and not path.is_file():
        raise UserError(f"model.path={path}: no such score file")
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.suffix in FORMATS)
    if not files:
        raise UserError(f"model.path={path}: no score file in this folder; formats: {', '.join(FORMATS)}")
    return files


def _losses_of_candidates(rows: Sequence[tuple[str, JsonObject]]) -> list[tuple[str, JsonObject]]:
    """One row per candidate, for pairs whose candidates have equally many pieces."""
    found = []
    for place, row in rows:
        text, losses, pieces = row.get("text_masked"), row.get("probs"), row.get("tokenized")
        if not (isinstance(text, str) and text.count(MASK) == 1 and isinstance(losses, dict) and losses):
            raise UserError(f"{place}: must have text_masked with one {MASK}, and probs with a loss for each candidate")
        if isinstance(pieces, list) and len({len(each) for each in pieces if isinstance(each, list)}) > 1:
            continue
        found += [(place, {"sentence": text.replace(MASK, form), "loss": loss}) for form, loss in losses.items()]
    if not found:
        raise UserError(f"{rows[0][0]}: no pair of candidates has equally many pieces")
    return found


def _rows_of_file(path: Path) -> list[tuple[str, JsonObject]]:
    try:
        match path.suffix:
            case ".parquet":
                rows = [
                    (f"{path}, row {number}", row) for number, row in enumerate(parquet.read_table(path).to_pylist(), start=1)
                ]
            case ".jsonl":
                lines = path.read_text(encoding="utf-8").splitlines()
                rows = [(f"{path}:{number}", json.loads(line)) for number, line in enumerate(lines, start=1) if line.strip()]
            case ".csv" | ".tsv":
                rows = _table_rows(path)
            case _:
                raise UserError(f"model.path={path}: must be {', '.join(FORMATS)}")
    except (ArrowInvalid, json.JSONDecodeError, UnicodeDecodeError, csv.Error, OSError) as error:
        raise UserError(f"{path}: cannot be read as {path.suffix[1:]} ({str(error).splitlines()[0]})") from None
    if not rows or not all(isinstance(row, dict) for _, row in rows):
        raise UserError(f"{path}: contains no rows with named columns")
    return rows


def _table_rows(path: Path) -> list[tuple[str, dict[str, object]]]:
    """Cells of a .tsv are verbatim: a quotation mark is a word there."""
    tabs = path.suffix == ".tsv"
    with path.open(encoding="utf-8-sig", newline="") as stream:
        quoting: Literal[0, 3] = csv.QUOTE_NONE if tabs else csv.QUOTE_MINIMAL
        reader = csv.DictReader(stream, delimiter="\t" if tabs else ",", quoting=quoting)
        rows = [(f"{path}:{reader.line_num}", row) for row in reader]
    for place, row in rows:
        if None in row or None in row.values():
            raise UserError(f"{place}: the row has a different number of cells than the header")
    return rows
