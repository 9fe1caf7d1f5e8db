"""The learning curve of checkpoints in a run folder: one result file per checkpoint, from which metrics.csv is built.

Results may arrive in any order, from several processes and over several sessions; existing results are not recomputed.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from urllib.parse import quote

import torch
from pyarrow import parquet

from .. import metric_names
from ..errors import UserError
from ..files import FileInUse, lock, require_writable, write_atomically
from ..metric_names import PROBE_SECONDS
from ..probes.accuracy import MEAN, Answer, Table
from ..probes.models import Model
from ..probes.probe import Probe
from ..probes.probe_preparation import must_cover, rule_tables
from ..probes.probe_series import ProbeSeries, SampledProbe, TrainingMoment
from ..probes.result_files import read_summary
from ..probes.verdict_files import write_table
from ..report import write_own_report
from ..runs.metrics_file import write_rows
from ..runs.run_folder import RunFolder
from ..settings.checkpoint_names import AXES, CheckpointPlace
from ..settings.watched import Axis

FINAL = "checkpoint"  # the checkpoint whose results on the whole sets represent the final model, in the summary


@dataclass(frozen=True)
class PointResult:
    """One checkpoint's results, by their names in metrics.csv; or why it could not be evaluated."""

    name: str
    seen: dict[Axis, int]
    commit: str = ""
    weights: str = ""  # hashes, see `RevisionFiles`
    model: str = ""
    same_as: str = ""  # the checkpoint that has the same files under another name
    broken: str = ""
    metrics: dict[str, float] = field(default_factory=dict)

    @property
    def place(self) -> CheckpointPlace:
        return CheckpointPlace(self.name, self.seen)

    def row(self) -> dict[str, float]:
        """Its row of metrics.csv."""
        seen = {metric_names.seen(axis): count for axis, count in self.seen.items() if axis != "steps"}
        return {"step": self.place.step, **self.metrics, **seen}


class CurveFolder:
    """One model under one scoring. `identity` is what all its points have in common: a folder with another curve is refused."""

    def __init__(self, path: Path, probes: Sequence[Probe], identity: Mapping[str, object]) -> None:
        self.run = RunFolder(path)
        self.plans = [SampledProbe(probe, probe) for probe in probes]
        self.series = ProbeSeries(self.plans, self.run.probes)
        self.entered = self.changed = False
        self.identity = json.loads(json.dumps(identity, default=str))
        require_writable(path)
        self._must_be_the_same()

    @property
    def path(self) -> Path:
        return self.run.path

    @property
    def _points(self) -> Path:
        return self.path / "points"

    def _must_be_the_same(self) -> None:
        file = self.path / "curve.json"
        if not file.exists():
            if self.run.exists():
                raise UserError(f"{self.path}: this folder holds another run; set out= to a different folder")
            return
        known = json.loads(file.read_text(encoding="utf-8"))
        for name in {**known, **self.identity}:
            if known.get(name) != self.identity.get(name):
                raise UserError(
                    f"{self.path}: the curve in this folder has {name}={known.get(name)}, but now it is "
                    f"{self.identity.get(name)}; set out= to a different folder, or remove this one"
                )

    # ------------------------------------------------------------------ points

    def results(self) -> dict[str, PointResult]:
        """The results so far, by checkpoint name, in checkpoint order."""
        read = [json.loads(file.read_text(encoding="utf-8")) for file in self._points.glob("*.json")]
        found = [PointResult(**values) for values in read]
        return {point.name: point for point in sorted(found, key=lambda point: (point.place.step, point.name))}

    def result(self, name: str) -> PointResult | None:
        """The result of one checkpoint, if it exists."""
        file = self._points / f"{point_file(name)}.json"
        return PointResult(**json.loads(file.read_text(encoding="utf-8"))) if file.exists() else None

    def scored(self) -> list[PointResult]:
        return [point for point in self.results().values() if not point.broken]

    @contextmanager
    def claim(self, name: str) -> Iterator[bool]:
        """Whether this process may evaluate the checkpoint: another one may be working on it."""
        try:
            with lock(self._points / f".{point_file(name)}.lock", patience=0):
                yield True
        except FileInUse:
            yield False

    def download_folder(self, name: str) -> Path:
        """Where a checkpoint's files are kept while it is evaluated."""
        return self.path / "downloads" / point_file(name)

    def enter(self, config: str, vocabulary: str) -> None:
        """Turn the folder into a run folder, once a model is known to be usable."""
        if self.entered:
            return
        self.entered = True
        self.run.enter(config, {"vocabulary_digest": vocabulary}, torch.get_num_threads())
        write_atomically(self.path / "curve.json", json.dumps(self.identity, indent=1, ensure_ascii=False))
        self.run.begin_again()

    def ask(self, point: PointResult, model: Model, config: str) -> PointResult:
        """Score all sets with these weights and keep the results; `config` is what the report treats as the run's settings."""
        found = self.series.probe_samples(lambda _: model.scorer, point.name, self._moment(point))
        for plan in self.plans:
            must_cover(plan.sample, found.answers[plan.prefix].scores, model.name)
        self.enter(config, model.pieces_digest or model.digest)
        return self.keep(replace(point, metrics=found.metrics))

    def keep_answers(self, point: PointResult, model: Model, config: str, answers: Mapping[str, Answer]) -> PointResult:
        """The same for sets already scored; `answers` by the prefix of their metrics."""
        self.enter(config, model.pieces_digest or model.digest)
        found = self.series.keep_answers(answers, model.scorer, self._moment(point))
        return self.keep(replace(point, metrics=found))

    def copy(self, point: PointResult, original: PointResult) -> PointResult:
        """The same files under another name: this checkpoint's results are the original's."""
        point = replace(point, same_as=original.name, broken=original.broken)
        if original.broken:
            return self.keep(point)
        moment = self._moment(point)
        for plan in self.plans:
            table = parquet.read_table(self.series.verdict_file(plan, original.place.step))
            about = json.loads(table.schema.metadata[b"concord"]) | moment.plain()
            write_table(self.series.verdict_file(plan, point.place.step), table, about)
        metrics = {name: value for name, value in original.metrics.items() if name != PROBE_SECONDS}
        return self.keep(replace(point, metrics=metrics))

    def keep(self, point: PointResult) -> PointResult:
        self.changed = True
        self._points.mkdir(parents=True, exist_ok=True)
        text = json.dumps(asdict(point), indent=1, ensure_ascii=False)
        write_atomically(self._points / f"{point_file(point.name)}.json", text)
        with lock(self._points / ".metrics.lock"):
            write_rows(self.run.metrics, [each.row() for each in self.scored()])
        return point

    def _moment(self, point: PointResult) -> TrainingMoment:
        about: dict[str, object] = {FINAL: point.name, "commit": point.commit, "weights": point.weights}
        about |= point.seen  # type: ignore[arg-type]
        if point.same_as:
            about["same_as"] = point.same_as
        return TrainingMoment(point.place.step, point.seen.get("words", 0), about)

    # --------------------------------------------------------------------- end

    def ends_with(self, point: PointResult) -> bool:
        """Whether this checkpoint's results represent the final model."""
        for plan in self.plans:
            try:
                about = read_summary(self.run.probes / f"final-{plan.whole.language}-{plan.whole.name}")[1]
            except (OSError, ValueError, KeyError):
                return False
            if (about.get(FINAL), about.get("weights")) != (point.name, point.weights):
                return False
        return True

    def finish_with(self, point: PointResult, model: Model) -> None:
        """The end of the curve: every word of every sentence on disk, with rules that need no model for comparison."""
        for plan in self.plans:
            self.series.probe_whole(plan, model.scorer, self._moment(point), references=rule_tables(plan.whole))

    def keep_final(self, point: PointResult, model: Model, answers: Mapping[str, Answer]) -> None:
        """The same for sets already scored."""
        for plan in self.plans:
            tables = rule_tables(plan.whole)
            self.series.keep_whole(plan, answers[plan.prefix], model.scorer, self._moment(point), references=tables)

    def close(self) -> None:
        """Everything requested is there: write DONE and the page."""
        tables: dict[str, Table] = {}
        for plan in self.plans:
            folder = self.run.probes / f"final-{plan.whole.language}-{plan.whole.name}"
            tables[plan.prefix] = read_summary(folder)[0]["model"]
        last = self.scored()[-1]
        result: dict[str, float] = {f"{prefix}/{MEAN}/accuracy": table.mean.accuracy for prefix, table in tables.items()}
        self.run.finish(result | {f"{axis} seen": last.seen[axis] for axis in AXES if axis in last.seen})
        write_own_report(self.path)


def point_file(name: str) -> str:
    """A file for any checkpoint name, even one that is a path."""
    short = quote(name.rstrip("/").rpartition("/")[2], safe="")[:80]
    return f"{short}-{hashlib.blake2b(name.encode(), digest_size=3).hexdigest()}"
