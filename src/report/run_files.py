"""What a run has left in its folder so far: settings, metrics, verdicts during training and at the end."""

import csv
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml
from pyarrow import parquet

from .. import metric_names
from ..files import JsonObject
from ..metric_names import PROBE, TEST, VALID_PERPLEXITY, WORDS_SEEN
from ..probes.accuracy import OVER, Table, group_metric
from ..probes.result_files import read_summary
from ..probes.verdict_files import SAMPLE, read_checked
from ..settings import read_run_settings
from ..settings.watched import Axis, is_watched, read_watched_settings
from .left_out import UNREADABLE, LeftOut, first_line
from .results import NUMBER, PARTS, ModelFacts, Moment, Result, final_groupings, final_groups, final_scores, sample_scores
from .verdict_columns import VerdictFiles

METRIC = re.compile(PROBE + r"([^/]+)/([^/]+)/(.+)")
STEP = re.compile(r"-step(\d+)\.parquet$")


def read_run(folder: Path, left_out: list[LeftOut], files: VerdictFiles) -> Iterator[Result]:
    """One result for each language and set it is probed on."""
    model = _read_model(folder / "config.yaml")
    axis = model.watched.axis if model.watched else "words"
    rows = _read_metrics(folder / "metrics.csv", left_out)
    done = _read_json(folder / "DONE")
    provenance = _read_json(folder / "provenance.json")
    corpus = provenance.get("corpus", {})
    whole = _read_finals(folder / "probes", left_out, files)
    for language, name in dict.fromkeys([*_probed_sets(rows), *whole]):
        verdicts = _verdict_files(folder / "probes", language, name, left_out, files)
        moments = _moments(rows, verdicts, metric_names.probe(language, name, ""), axis)
        tables, about, items = whole.get((language, name), ({}, {}, None))
        if not tables and not moments:
            continue
        sample = _sample_identity(moments)
        about = about or sample  # an unfinished run is known by the last probe of its sample
        yield Result(
            name=folder.name,
            path=folder,
            kind="run",
            finished=bool(tables) and bool(done),
            language=language,
            set=name,
            digest=about.get("digest", "unknown"),
            sample=sample.get("digest", "none"),
            contract=about.get("contract", {}),
            vocabulary=str(corpus.get("vocabulary_digest") or corpus.get("name", "unknown")),
            model=model,
            provenance=provenance,
            scores=final_scores(tables["model"]) if tables else sample_scores(moments[-1]),
            items=items,
            sample_file=_sample_file(folder / "probes", language, name, left_out),
            moments=tuple(moments),
            perplexities=tuple(_perplexities(rows, language)),
            measures=_measures(rows, done),
            references={key: final_scores(table) for key, table in tables.items() if key != "model"},
            groupings=final_groupings(tables["model"]) if tables else {NUMBER: list(PARTS)},
            groups=final_groups(tables["model"]) if tables else {},
            bases=tables["model"].bases if tables else {},
            files=files,
        )


def _read_model(file: Path) -> ModelFacts:
    """A run of ours, or training that was watched."""
    values = yaml.safe_load(file.read_text(encoding="utf-8"))
    if is_watched(values):
        told = read_watched_settings(values)
        return ModelFacts(told.model, scoring=told.scoring, watched=told)
    if not isinstance(values, dict) or "lang" not in values or "model" not in values:
        raise ValueError("config.yaml does not describe a run")
    settings = read_run_settings(values)
    return ModelFacts(settings.model.name, settings)


def _read_metrics(file: Path, left_out: list[LeftOut]) -> list[dict[str, float]]:
    """Like runs.metrics_file, but a half-written line does no harm."""
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
        left_out.append(LeftOut(str(file), f"{broken} of its lines are unreadable"))
    return rows


def _read_json(file: Path) -> JsonObject:
    if not file.exists():
        return {}
    found = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise ValueError(f"{file.name} does not have the expected structure")  # noqa: TRY004 a file is wrong, not a type
    return found


def _probed_sets(rows: Sequence[dict[str, float]]) -> list[tuple[str, str]]:
    found = (METRIC.match(name) for row in rows for name in row)
    return list(dict.fromkeys((match[1], match[2]) for match in found if match))


def _read_finals(
    folder: Path, left_out: list[LeftOut], files: VerdictFiles
) -> dict[tuple[str, str], tuple[dict[str, Table], JsonObject, Path | None]]:
    found = {}
    for each in sorted(folder.glob("final-*")):
        try:
            tables, about = read_summary(each)
            key = (str(about["language"]), str(about["set"]))
            if "model" not in tables:
                raise ValueError("summary.json has no table of the model")
        except UNREADABLE as error:
            left_out.append(
                LeftOut(str(each), f"cannot be read: {first_line(error)}; showing the last probe of the sample instead")
            )
            continue
        found[key] = (tables, about, whole_verdict_file(each / "items.parquet", left_out, files))
    return found


def whole_verdict_file(file: Path, left_out: list[LeftOut], files: VerdictFiles) -> Path | None:
    """The file, if it is complete and one of ours."""
    try:
        files.columns(file)
    except UNREADABLE as error:
        left_out.append(LeftOut(str(file), f"no items are shown: {first_line(error)}"))
        return None
    return file


def _sample_file(folder: Path, language: str, name: str, left_out: list[LeftOut]) -> Path | None:
    """Older runs have none."""
    file = folder / f"{language}-{name}-{SAMPLE}.parquet"
    try:
        read_checked(file)
    except FileNotFoundError:
        return None
    except UNREADABLE as error:
        left_out.append(LeftOut(str(file), f"the items of the sample cannot be read: {first_line(error)}"))
        return None
    return file


def _verdict_files(folder: Path, language: str, name: str, left_out: list[LeftOut], files: VerdictFiles) -> dict[int, Path]:
    """The verdict files, by step."""
    there = [(STEP.search(file.name), file) for file in sorted(folder.glob(f"{language}-{name}-step*.parquet"))]
    return {int(match[1]): file for match, file in there if match and whole_verdict_file(file, left_out, files)}


def _moments(rows: Sequence[dict[str, float]], files: dict[int, Path], prefix: str, axis: Axis) -> list[Moment]:
    found: dict[int, Moment] = {}
    for row in rows:
        values = {key.removeprefix(prefix): value for key, value in row.items() if key.startswith(prefix)}
        # Older runs wrote `circuit=agreement`, without the number of suites.
        of_groups = [key for key in values if "=" in key.split("/")[0]]
        for key in of_groups:
            name, what = key.split("/", 1)
            values |= {f"{group_metric(name)}/{what}": values.pop(key), f"{group_metric(name)}/{OVER}": math.nan}
        if values:
            step = int(row.get("step", 0))
            place = step if axis == "steps" else int(row.get(metric_names.seen(axis), 0))
            found[step] = Moment(step, place, values, files.get(step))
    return [found[step] for step in sorted(found)]


def _sample_identity(moments: Sequence[Moment]) -> JsonObject:
    """The sample's identity as the newest verdict file records it."""
    file = next((moment.file for moment in reversed(moments) if moment.file is not None), None)
    if file is None:
        return {}
    found: JsonObject = json.loads(parquet.read_metadata(file).metadata[b"concord"])
    return found


def _perplexities(rows: Sequence[dict[str, float]], language: str) -> Iterator[tuple[int, float]]:
    for row in rows:
        value = row.get(metric_names.perplexity("valid", language), row.get(VALID_PERPLEXITY))
        if value is not None:
            yield int(row.get(WORDS_SEEN, 0)), value


def _measures(rows: Sequence[dict[str, float]], done: Mapping[str, object]) -> dict[str, float]:
    tested = {
        key: value for row in rows for key, value in row.items() if key.startswith(TEST) and not key.startswith(TEST + PROBE)
    }
    return tested | {key: float(value) for key, value in done.items() if isinstance(value, int | float)}
