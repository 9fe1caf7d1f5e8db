"""What lies in the folders: jobs that are finished or still running, sweeps, and what evaluate.py wrote.

What cannot be read is left out and named.
"""

import csv
import glob
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml
from pyarrow import parquet

from data.errors import UserError
from probes.results import read_summary

from .conditions import comparable, condition
from .results import Moment, Result, scores_at, scores_of

DEPTH = 3  # folders within folders: runs/<sweep>/<job>
METRIC = re.compile(r"probe/([^/]+)/([^/]+)/(.+)")
STEP = re.compile(r"-step(\d+)\.parquet$")
# What a broken file can raise; anything else is a bug of ours.
UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, csv.Error, yaml.YAMLError, pa.ArrowException)


@dataclass(frozen=True)
class LeftOut:
    """A folder or file that is not in the report, and why."""

    path: str
    why: str


@dataclass(frozen=True)
class Gathered:
    """All results that were found, and what was left out."""

    results: list[Result]
    left_out: list[LeftOut] = field(default_factory=list)


def gather(paths: Sequence[Path | str]) -> Gathered:
    """Everything under these paths, in the order in which they were given."""
    results: list[Result] = []
    left_out: list[LeftOut] = []
    seen: set[Path] = set()
    for path in _expanded(paths):
        for folder in _folders(path, left_out):
            if folder.resolve() in seen:
                continue
            seen.add(folder.resolve())
            found = _read(folder, left_out)
            results += found
    return _once(_linked(Gathered(results, left_out)))


def _expanded(paths: Sequence[Path | str]) -> Iterator[Path]:
    for path in paths:
        found = sorted(glob.glob(str(path), recursive=True)) if glob.has_magic(str(path)) else [str(path)]  # noqa: PTH207
        if not found or not Path(found[0]).exists():
            raise UserError(f"{path}: there is no such folder; give the folders of runs (runs/…) or of evaluations (results/…)")
        yield from map(Path, found)


def _folders(path: Path, left_out: list[LeftOut], depth: int = DEPTH) -> Iterator[Path]:
    """The folders of runs and evaluations in a folder, or the folder itself."""
    if not path.is_dir():
        left_out.append(LeftOut(str(path), "not a folder"))
    elif _is_run(path) or _is_evaluation(path):
        yield path
    else:
        inside = sorted(each for each in path.iterdir() if each.is_dir() and not each.name.startswith("."))
        if not any(path.iterdir()):
            left_out.append(LeftOut(str(path), "empty"))
        elif not inside or not depth:
            left_out.append(LeftOut(str(path), "neither a run (config.yaml) nor an evaluation (summary.json)"))
        for each in inside if depth else []:
            yield from _folders(each, left_out, depth - 1)


def _is_run(path: Path) -> bool:
    return (path / "config.yaml").exists()


def _is_evaluation(path: Path) -> bool:
    return (path / "summary.json").exists()


def _read(folder: Path, left_out: list[LeftOut]) -> list[Result]:
    try:
        found = list(_run(folder, left_out) if _is_run(folder) else _evaluation(folder))
    except UNREADABLE as error:
        left_out.append(LeftOut(str(folder), f"cannot be read: {_first_line(error)}"))
        return []
    if not found:
        left_out.append(LeftOut(str(folder), "nothing has been probed yet (or the run was started with probes=none)"))
    return found


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:160]


# ------------------------------------------------------------------------ runs


def _run(folder: Path, left_out: list[LeftOut]) -> Iterator[Result]:
    settings = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    if not isinstance(settings, dict) or "lang" not in settings or "model" not in settings:
        raise ValueError("config.yaml is not that of a run")
    rows = _rows(folder / "metrics.csv", left_out)
    done = _json(folder / "DONE")
    provenance = _json(folder / "provenance.json")
    corpus = provenance.get("corpus", {})
    whole = _finals(folder / "probes", left_out)
    for language, name in dict.fromkeys([*_asked(rows), *whole]):
        moments = _moments(rows, folder / "probes", language, name)
        tables, about, items = whole.get((language, name), ({}, {}, None))
        if not tables and not moments:
            continue
        # An unfinished run is known by the last probe of its sample.
        about = about or _about(moments, left_out)
        yield Result(
            name=folder.name,
            path=folder,
            kind="run",
            finished=bool(tables) and bool(done),
            language=language,
            set=name,
            digest=about.get("digest", "unknown"),
            contract=about.get("contract", {}),
            vocabulary=str(corpus.get("vocabulary_digest") or corpus.get("name", "unknown")),
            settings=settings,
            provenance=provenance,
            scores=scores_of(tables["model"]) if tables else scores_at(moments[-1]),
            items=items,
            moments=tuple(moments),
            perplexities=tuple(_perplexities(rows, language)),
            measures=_measures(rows, done),
            references={key: scores_of(table) for key, table in tables.items() if key != "model"},
        )


def _rows(file: Path, left_out: list[LeftOut]) -> list[dict[str, float]]:
    """As lm.metrics_file reads them, but a line that is only half written does no harm."""
    if not file.exists():
        return []
    rows, broken = [], 0
    with file.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            try:
                rows.append({name: float(value) for name, value in row.items() if name and value})
            except (TypeError, ValueError):
                broken += 1
    if broken:
        left_out.append(LeftOut(str(file), f"{broken} of its lines cannot be read"))
    return rows


def _json(file: Path) -> dict[str, Any]:
    if not file.exists():
        return {}
    found = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise ValueError(f"{file.name} is not what it should be")  # noqa: TRY004 a file is wrong, not a type
    return found


def _asked(rows: Sequence[dict[str, float]]) -> list[tuple[str, str]]:
    found = (METRIC.match(name) for row in rows for name in row)
    return list(dict.fromkeys((match[1], match[2]) for match in found if match))


def _finals(folder: Path, left_out: list[LeftOut]) -> dict[tuple[str, str], tuple[dict[str, Any], dict[str, Any], Path | None]]:
    found = {}
    for each in sorted(folder.glob("final-*")):
        try:
            tables, about = read_summary(each)
            key = (str(about["language"]), str(about["set"]))
            if "model" not in tables:
                raise ValueError("summary.json has no table of the model")
        except UNREADABLE as error:
            left_out.append(
                LeftOut(str(each), f"cannot be read: {_first_line(error)}; the last probe of the sample stands for it")
            )
            continue
        found[key] = (tables, about, _readable(each / "items.parquet", left_out))
    return found


def _readable(file: Path, left_out: list[LeftOut]) -> Path | None:
    """The file, if it is whole."""
    try:
        parquet.read_metadata(file)
    except UNREADABLE as error:
        left_out.append(LeftOut(str(file), f"no items are shown: {_first_line(error)}"))
        return None
    return file


def _moments(rows: Sequence[dict[str, float]], folder: Path, language: str, name: str) -> list[Moment]:
    prefix = f"probe/{language}/{name}/"
    files = {int(match[1]): file for file in folder.glob(f"{language}-{name}-step*.parquet") if (match := STEP.search(file.name))}
    found: dict[int, Moment] = {}
    for row in rows:
        values = {key.removeprefix(prefix): value for key, value in row.items() if key.startswith(prefix)}
        if values:
            step = int(row.get("step", 0))
            found[step] = Moment(step, int(row.get("progress/words_seen", 0)), values, files.get(step))
    return [found[step] for step in sorted(found)]


def _about(moments: Sequence[Moment], left_out: list[LeftOut]) -> dict[str, Any]:
    """What the newest readable file of verdicts says of itself."""
    for moment in reversed(moments):
        if moment.file is not None:
            try:
                return about_of(moment.file)
            except UNREADABLE as error:
                left_out.append(LeftOut(str(moment.file), f"cannot be read: {_first_line(error)}"))
    return {}


def about_of(file: Path) -> dict[str, Any]:
    """What the numbers of a file of verdicts come from."""
    stated = (parquet.read_schema(file).metadata or {}).get(b"concord")
    if stated is None:
        raise ValueError("this Parquet file is not one of verdicts")
    found: dict[str, Any] = json.loads(stated)
    return found


def _perplexities(rows: Sequence[dict[str, float]], language: str) -> Iterator[tuple[int, float]]:
    for row in rows:
        value = row.get(f"valid/{language}/perplexity", row.get("valid/perplexity"))
        if value is not None:
            yield int(row.get("progress/words_seen", 0)), value


def _measures(rows: Sequence[dict[str, float]], done: dict[str, Any]) -> dict[str, float]:
    tested = {key: value for row in rows for key, value in row.items() if key.startswith("test/") and "/probe/" not in key}
    return tested | {key: float(value) for key, value in done.items() if isinstance(value, int | float)}


# ----------------------------------------------------------------- evaluations


def _evaluation(folder: Path) -> Iterator[Result]:
    tables, about = read_summary(folder)
    models = about.get("models", {})
    references = {name: scores_of(table) for name, table in tables.items() if name not in models}
    for name, known in models.items():
        if name not in tables:
            continue
        file = folder / ("items.parquet" if len(models) == 1 else f"items-{name.replace('/', '-')}.parquet")
        yield Result(
            name=name,
            path=folder,
            kind="evaluation",
            finished=True,
            language=str(about["language"]),
            set=str(about["set"]),
            digest=about.get("digest", "unknown"),
            contract=about.get("contract", {}),
            vocabulary=str(known.get("vocabulary", "unknown")),
            settings={"model": {"name": name}} | {key: value for key, value in known.items() if key == "scoring"},
            provenance={key: value for key, value in known.items() if key not in ("model", "words_seen")},
            scores=scores_of(tables[name]),
            items=file if file.exists() else None,
            measures={key: float(value) for key, value in known.items() if isinstance(value, int | float)},
            references=references,
        )


def _linked(found: Gathered) -> Gathered:
    """An evaluation of a run that is here too knows its settings; what says the same as the run itself is left out."""
    runs = {result.name: result for result in found.results if result.kind == "run"}
    finals = {_identity(result, result.name): result for result in found.results if result.kind == "run" and result.finished}
    kept = []
    for result in found.results:
        run, _, checkpoint = result.name.rpartition("/")
        if result.kind == "evaluation" and run in runs:
            if checkpoint == "best" and _identity(result, run) in finals:
                found.left_out.append(LeftOut(str(result.path), f"the same model on the same items as in {run}"))
                continue
            own = runs[run].settings
            result = replace(result, settings=dict(own) | ({"checkpoint": checkpoint} if checkpoint != "best" else {}))  # noqa: PLW2901
        kept.append(result)
    return Gathered(kept, found.left_out)


def _once(found: Gathered) -> Gathered:
    """The same settings with the same seed are the same run, however often it was copied: it must not count as two seeds."""
    kept: dict[tuple[str, ...], Result] = {}
    for result in found.results:
        key = (condition(result), str(result.seed), *comparable(result), result.vocabulary, str(result.finished))
        first = kept.setdefault(key, result)
        if first is not result:
            found.left_out.append(LeftOut(str(result.path), f"the same settings and seed as {first.path}"))
    return Gathered(list(kept.values()), found.left_out)


def _identity(result: Result, name: str) -> tuple[str, ...]:
    return name, result.language, result.set, result.digest, result.label
