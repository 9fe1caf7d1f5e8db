"""Watching a plain training loop: `watcher(step, words)` probes the current model and writes a run folder."""

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import torch

from .. import metric_names
from ..errors import UserError
from ..files import require_writable
from ..metric_names import PROBE, PROBE_SECONDS, WORDS_SEEN
from ..probes.accuracy import Answer, Table
from ..probes.contract import make_contract
from ..probes.models import Model
from ..probes.models_in_memory import wrap_model
from ..probes.probe import Probe
from ..probes.probe_preparation import make_probe, must_cover, rule_tables
from ..probes.probe_series import ProbeSeries, Probing, SampledProbe, TrainingMoment, rank_and_world, sample_probe
from ..probes.sets import Sets
from ..probes.sets import sets as read_sets
from ..report import write_own_report
from ..report.accuracy_frame import accuracy_frame
from ..runs.metrics_file import MetricsFile
from ..runs.metrics_file import read as read_metrics
from ..runs.run_folder import RunFolder
from ..settings.languages import Clitics, Language, language_files, read_language
from ..settings.reading import Plain
from ..settings.watched import Axis, WatchedSettings, plain
from ..terminal import print_view
from .cost import Stopwatch

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger(__name__)
SAMPLE = 400  # items per set, as in conf/probes


@dataclass(frozen=True)
class ProbeTable:
    """The model's verdicts at one moment: `accuracy` by construction, `frame` with n, intervals, ties and uncovered items."""

    step: int
    words: int | None
    metrics: Mapping[str, float] = field(repr=False)  # by their names in metrics.csv
    answers: Mapping[str, Answer] = field(repr=False)

    @property
    def accuracy(self) -> dict[str, float]:
        """The accuracy of every construction and their `mean`; with several sets, names are prefixed with the set."""
        found: dict[str, float] = {}
        for prefix, answer in self.answers.items():
            before = f"{prefix.removeprefix('probe/')}/" if len(self.answers) > 1 else ""
            found |= {f"{before}{row.construction}": row.all.accuracy for row in answer.table.rows}
            found[f"{before}mean"] = answer.table.mean.accuracy
        return found

    @property
    def accuracies(self) -> dict[str, float]:
        """For loggers: by their names in metrics.csv, without what could not be evaluated."""
        return {name: value for name, value in self.metrics.items() if name.endswith("/accuracy") and not math.isnan(value)}

    @cached_property
    def frame(self) -> "pd.DataFrame":
        """One row per construction of each set."""
        import pandas as pd  # noqa: PLC0415 - an extra

        return pd.concat(
            {prefix.removeprefix(PROBE): accuracy_frame(a.table) for prefix, a in self.answers.items()}, names=["set"]
        )

    def __str__(self) -> str:
        seen = "" if self.words is None else f", {self.words:,} words seen"
        return "\n".join([f"step {self.step:,}{seen}", *(f"{name:<24} {value:.3f}" for name, value in self.accuracy.items())])


class Watcher:
    """Probes a model at points during its training, and keeps the results in a folder that `concord report` reads.

    `model` is a torch module from ids to logits, a transformers model, a Concord model, or a function from sentences to the
    log-probabilities of their words; `tokenizer` splits words for it (see `models_in_memory`). `sets` come from
    `concord.sets`, or are given as a language code. During training `sample` items per set are probed; `finish` evaluates all.
    Under torch.distributed every process calls it: each scores its share, and the first one writes.
    """

    def __init__(
        self,
        model: object,
        tokenizer: object,
        sets: Sets | str | Sequence[Sets],
        folder: str | Path,
        *,
        sample: int | None = SAMPLE,
        protocol: str = "default",
        rules: Mapping[str, Plain] | None = None,
        scoring: str | None = None,
        start: str | None = None,
        kind: Literal["masked", "causal"] | None = None,
        name: str | None = None,
        seed: int | None = None,
        recipe: Mapping[str, object] | None = None,
        watched: str = "a loop",
        overwrite: bool = False,
        resume: bool = False,
        show: bool = True,
        every: int | None = None,
    ) -> None:
        """`recipe` and `seed` say what makes the model: in reports, runs that differ only in the seed are averaged.

        `scoring`, `start` and `kind` are for transformers models: which score, what precedes the first word, masked or causal.
        `every` is the caller's schedule by steps, if there is one: the line about the cost of watching needs it.
        A folder with the curves of earlier training is refused unless it is to be overwritten or resumed.
        """
        asked = [
            each if isinstance(each, Sets) else read_sets(each) for each in ([sets] if isinstance(sets, Sets | str) else sets)
        ]
        if not asked:
            raise UserError('sets: none given; pass concord.sets("de"), a list of these, or a language code')
        contract = make_contract(protocol, dict(rules or {}))
        if contract.options:
            raise UserError(f"protocol={protocol}: {contract.options[0]}, which it needs, works only in concord evaluate")
        score = scoring or contract.scoring or None
        self.model = wrap_model(model, tokenizer, _language(asked), scoring=score, start=start, kind=kind, name=name)
        self.plans = [_sampled(self.model, each, sample, protocol, dict(rules or {})) for each in asked]
        self.folder = RunFolder(Path(folder))
        self.series = ProbeSeries(self.plans, self.folder.probes)
        self.name, self.seed, self.watched = name, seed, watched
        self.recipe = dict(recipe or {})
        self.overwrite, self.resume, self.show = overwrite, resume, show
        self.first = rank_and_world()[0] == 0
        self.metrics: MetricsFile | None = None
        self.axis: Axis | None = None
        self.last: ProbeTable | None = None
        self.stopwatch = Stopwatch(every, sample)
        if self.first:
            self._must_be_free()

    # ----------------------------------------------------------------- probing

    def __call__(
        self, step: int, words: int | None = None, measures: Mapping[str, float] | None = None, *, tokens: int | None = None
    ) -> ProbeTable:
        """Probe the model as it is now, after this many steps and words; `measures` are extra columns of metrics.csv.

        Without `words` (or `tokens`), curves are plotted against steps.
        """
        if self.last is not None and self.last.step == step:
            if measures and self.metrics is not None:
                self.metrics.log_metrics(dict(measures), step=step)
            return self.last
        seen: dict[Axis, int | None] = {"words": words, "tokens": tokens, "steps": step}
        if self.axis is None:
            self._enter(next(axis for axis, value in seen.items() if value is not None), step)
        place = seen[self.axis or "steps"]
        if place is None:
            raise UserError(f"{self.folder.path}: the first probe was given {self.axis}=, so every probe must be (step {step:,})")
        when = "untrained" if not place else f"{place:,} {self.axis}" + ("" if self.axis == "steps" else " seen")
        found = self.series.probe_samples(self._scorer, when, TrainingMoment(step, words or 0, {"axis": self.axis}))
        if self.last is None:
            for plan in self.plans:
                must_cover(plan.sample, found.answers[plan.prefix].scores, self.model.name)
        self.stopwatch.note(step, found.metrics[PROBE_SECONDS])
        self._write(step, words, tokens, found, measures or {})
        self.last = ProbeTable(step, words, found.metrics, found.answers)
        return self.last

    def finish(self, step: int | None = None, words: int | None = None) -> dict[str, Table]:
        """Evaluate the whole sets with the current weights; the run is then done and its report.html is written."""
        if self.last is None:
            raise UserError(f"{self.folder.path}: nothing has been probed yet; first call watcher(step, words)")
        moment = TrainingMoment(step or self.last.step, words or self.last.words or 0)
        trained = self.stopwatch.seconds
        tables = {}
        for plan in self.plans:
            references = rule_tables(plan.whole)
            tables[plan.prefix] = self.series.probe_whole(plan, self._scorer(""), moment, references=references)
        if self.first:
            self._say(self.stopwatch.line(trained))
            result: dict[str, Any] = {f"{prefix}/mean/accuracy": table.mean.accuracy for prefix, table in tables.items()}
            self.folder.finish(result | ({"words seen": moment.words} if self.axis == "words" else {}))
            write_own_report(self.folder.path)
            self._say(f"report     {self.folder.report}")
        return tables

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """A loop that ran to its end finishes the run."""
        if kind is None and self.last is not None:
            self.finish()

    def _scorer(self, _start: str) -> Any:
        return self.model.scorer

    @property
    def metric_names(self) -> list[str]:
        """What training can monitor: the accuracy of every construction and of their mean, on the sample."""
        return [f"{plan.prefix}/{name}/accuracy" for plan in self.plans for name in (*plan.sample.constructions, "mean")]

    # -------------------------------------------------------------- the folder

    def _must_be_free(self) -> None:
        if self.folder.exists() and not (self.overwrite or self.resume):
            raise UserError(
                f"{self.folder.path}: this folder holds the curves of earlier training; choose another folder, resume=True to "
                "continue them, or overwrite=True"
            )
        require_writable(self.folder.path)

    def _enter(self, axis: Axis, step: int) -> None:
        """The first probe tells what curves are plotted against, and at which step training resumes."""
        self.axis = axis
        if not self.first:
            return
        if self.overwrite and self.folder.exists():
            _clear(self.folder)
        known = {"vocabulary_digest": self.model.digest}
        self.folder.enter(self._settings(axis).yaml(), known, torch.get_num_threads())
        self.folder.begin_again()
        self.metrics = MetricsFile(self.folder.metrics)
        if self.resume and self.folder.metrics.exists():
            self.metrics.keep(sum(row.get("step", 0) < step for row in read_metrics(self.folder.metrics)))

    def _settings(self, axis: Axis) -> WatchedSettings:
        contract = self.plans[0].whole.contract
        probes: dict[str, Plain] = {
            plan.prefix.removeprefix(PROBE): {"protocol": contract.label, "items": len(plan.whole.contrasts)}
            for plan in self.plans
        }
        recipe = plain(self.recipe)
        assert isinstance(recipe, dict)
        scoring = "" if self.model.scorer.name == self.model.name else self.model.scorer.name
        return WatchedSettings(self.watched, self.model.name, axis, self.seed, scoring, self.name, recipe, probes)

    def _write(self, step: int, words: int | None, tokens: int | None, found: Probing, measures: Mapping[str, float]) -> None:
        if not self.first or self.metrics is None:
            return
        seen = {WORDS_SEEN: words, metric_names.seen("tokens"): tokens}
        row = {**measures, **found.metrics, **{name: value for name, value in seen.items() if value is not None}}
        self.metrics.log_metrics(row, step=step)
        if self.show:
            for view in found.views:
                print_view(view)

    def _say(self, line: str) -> None:
        if self.show:
            print_view(line)
        log.info("%s", line)


def _language(asked: Sequence[Sets]) -> Language | None:
    code = asked[0].language
    return read_language(code) if code in language_files() else None


def _sampled(model: Model, asked: Sets, sample: int | None, protocol: str, rules: dict[str, Plain]) -> SampledProbe:
    elsewhere: Clitics = next(iter(model.clitics.values()), "split")
    whole: Probe = make_probe(
        asked.settings(protocol, rules), asked.language, model.clitics.get(asked.language, elsewhere), model.built_in
    )
    if whole.contract.rules.start == "warm":
        raise UserError("start=warm: only Concord models come with sentences of their corpus to warm up on; leave it out")
    return SampledProbe(sample_probe(whole, sample, asked.seed), whole)


def _clear(folder: RunFolder) -> None:
    """Remove what an earlier watch wrote, and nothing else: checkpoints may lie beside it."""
    for file in (
        *folder.probes.glob("*.parquet"),
        folder.metrics,
        folder.report,
        folder.path / "DONE",
        folder.path / "provenance.json",
    ):
        file.unlink(missing_ok=True)
    for final in folder.probes.glob("final-*"):
        for file in final.iterdir():
            file.unlink()
        final.rmdir()
