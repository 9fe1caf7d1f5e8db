"""Checkpoints evaluated one after another, as one learning curve; the next is fetched while the current one is scored."""

import logging
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from huggingface_hub import constants

from ..errors import UserError
from ..files import JsonObject
from ..probes.accuracy import MEAN
from ..probes.contract import Contract, make_contract
from ..probes.evaluation import curve_folder
from ..probes.models import Model, load_pretrained
from ..probes.probe import Probe
from ..probes.scorers import DamagedModel
from ..probes.scorers.pretrained import PretrainedError, check_names
from ..probes.scorers.pretrained.revisions import quiet_downloads
from ..runs.stopping import Interrupted
from ..settings.evaluation_settings import EvaluationSettings
from ..settings.languages import Language, each_language
from ..settings.training_settings import PretrainedSettings
from ..settings.watched import WatchedSettings
from .curve_display import show_curve
from .curve_folder import CurveFolder, PointResult
from .published_checkpoints import PublishedCheckpoint, PublishedTraining, check_disk, find_checkpoints

log = logging.getLogger(__name__)
HOPELESS = 3  # checkpoints that cannot be loaded: if the first this many fail, the others are not even fetched


@dataclass(frozen=True)
class CurveQuestion:
    """What every checkpoint is evaluated on."""

    settings: PretrainedSettings
    probes: Sequence[Probe]
    contract: Contract
    scoring: tuple[str, ...]  # empty: whatever suits the model
    language: Language

    @property
    def options(self) -> JsonObject:
        """The scoring options that change results."""
        ruled = {
            name: getattr(self.settings, name) or name in self.contract.options for name in ("skip_multi_piece", "equal_pieces")
        }
        return {"start": self.settings.start, "spacing": self.settings.spacing, **ruled}


@dataclass
class Fetched:
    """A checkpoint whose files are here; or `error`, why they are not. `held` is this process's claim to it."""

    checkpoint: PublishedCheckpoint
    folder: Path | None = None
    error: str = ""
    held: ExitStack | None = None


def evaluate_training(settings: EvaluationSettings, probes: Sequence[Probe]) -> list[CurveFolder]:
    """One curve per scoring, in a folder that `concord report` reads like a run. Finished points are not computed again."""
    assert isinstance(settings.model, PretrainedSettings)
    assert settings.lang is not None
    contract = make_contract(settings.probes.protocol, settings.probes.given_rules)
    scoring = tuple(settings.probes.scoring or ([contract.scoring] if contract.scoring else []))
    check_names(scoring)
    question = CurveQuestion(settings.model, probes, contract, scoring, each_language(settings.lang)[0])
    training = find_checkpoints(settings.model)
    curves = []
    for each in scoring or ("",):
        shown = f"{training.name}-{each}" if each else training.name
        place = curve_folder(settings, shown, probes, several=len(scoring) > 1)
        curves.append(CurveFolder(place, probes, _identity(question, training, each)))
    work = CurveWork(question, training, curves)
    try:
        with quiet_downloads():
            work.run()
    except Interrupted as stop:
        stop.standing = stop.standing or "scores so far are kept; run the same command to resume"
        raise
    for curve in curves:
        show_curve(curve, training.axis)
    return curves


def _identity(question: CurveQuestion, training: PublishedTraining, scoring: str) -> JsonObject:
    """What all points of a curve have in common."""
    settings = question.settings
    return {
        "model": training.name if len(settings.name or ()) > 1 else (settings.name or ("",))[0],
        "scoring": scoring,
        "options": question.options,
        "trust_remote_code": settings.trust_remote_code,
        "protocol": question.contract.label,
        "sets": {f"{probe.language}/{probe.name}": probe.digest for probe in question.probes},
    }


class CurveWork:
    """The checkpoints of one training run on their way through all curves."""

    def __init__(self, question: CurveQuestion, training: PublishedTraining, curves: Sequence[CurveFolder]) -> None:
        self.question, self.training, self.curves = question, training, curves
        self.last: tuple[str, list[Model]] | None = None  # the models evaluated last
        self.elsewhere: list[PublishedCheckpoint] = []  # that another process is working on
        self.keeps = question.settings.keep == "all"
        self.started = time.perf_counter()
        self.width = max(10, *(len(each.place.name) for each in training.checkpoints))

    def run(self) -> None:
        todo = [each for each in self.training.checkpoints if not self._is_done(each)]
        there = len(self.training.checkpoints) - len(todo)
        if there:
            log.info("resumed    %d of %d are already done", there, len(self.training.checkpoints))
        first, copies = self._without_copies(todo)
        check_disk(first, Path(constants.HF_HUB_CACHE) if self.keeps else self.curves[0].path, self.keeps)
        for number, fetched in enumerate(self._fetch_ahead(first), start=1):
            self._ask(fetched, number, len(first))
        for checkpoint in copies:
            self._copy(checkpoint)
        self._finish()

    def _is_done(self, checkpoint: PublishedCheckpoint) -> bool:
        """A branch may have received other files since."""
        known = [curve.result(checkpoint.place.name) for curve in self.curves]
        return all(point is not None and point.model == checkpoint.files.model for point in known)

    def _without_copies(self, todo: Sequence[PublishedCheckpoint]) -> tuple[list[PublishedCheckpoint], list[PublishedCheckpoint]]:
        """What still has to be evaluated, and what has the same files as a checkpoint that is or was."""
        known = {point.model for point in self.curves[0].results().values() if not point.same_as}
        first: list[PublishedCheckpoint] = []
        copies: list[PublishedCheckpoint] = []
        for each in todo:
            (copies if each.files.model and each.files.model in known else first).append(each)
            known.add(each.files.model)
        return first, copies

    # ---------------------------------------------------------------- fetching

    def _fetch_ahead(self, checkpoints: Sequence[PublishedCheckpoint]) -> Iterator[Fetched]:
        """Each in turn; while one is being evaluated, the next is being fetched."""
        coming: Future[Fetched] | None = None
        for number, checkpoint in enumerate(checkpoints):
            now = coming or _begin(lambda each=checkpoint: self._fetch(each))  # type: ignore[misc]
            if not now.done():
                log.info("fetching   %s, %s MB", checkpoint.place.name, f"{checkpoint.files.size / 1e6:,.1f}")
            fetched = now.result()
            following = checkpoints[number + 1 : number + 2]
            coming = _begin(lambda each=following[0]: self._fetch(each)) if following else None  # type: ignore[misc]
            try:
                yield fetched
            finally:
                if fetched.held is not None:
                    self._release(checkpoint)
                    fetched.held.close()

    def _fetch(self, checkpoint: PublishedCheckpoint) -> Fetched:
        held = ExitStack()
        if not held.enter_context(self.curves[0].claim(checkpoint.place.name)) or self._is_done(checkpoint):
            held.close()
            return Fetched(checkpoint)
        try:
            return Fetched(checkpoint, self._download(checkpoint), held=held)
        except PretrainedError as error:
            return Fetched(checkpoint, error=error.why, held=held)

    def _download(self, checkpoint: PublishedCheckpoint) -> Path:
        apart = None if self.keeps else self._apart(checkpoint)
        return checkpoint.files.fetch(self.question.settings.trust_remote_code, apart)

    def _apart(self, checkpoint: PublishedCheckpoint) -> Path:
        return self.curves[0].download_folder(checkpoint.place.name)

    def _release(self, checkpoint: PublishedCheckpoint) -> None:
        """Delete what was downloaded for this curve alone; the hub's cache and local folders stay."""
        shutil.rmtree(self._apart(checkpoint), ignore_errors=True)
        with suppress(OSError):  # other checkpoints may be there
            self._apart(checkpoint).parent.rmdir()

    # ------------------------------------------------------------------ asking

    def _ask(self, fetched: Fetched, number: int, total: int) -> None:
        checkpoint, began = fetched.checkpoint, time.perf_counter()
        name = checkpoint.place.name
        if fetched.error:  # not kept: it may be available next time
            self.training.missing[name] = fetched.error
            log.warning("broken     %s: %s", name, fetched.error)
            return
        if fetched.folder is None:
            self.elsewhere.append(checkpoint)
            return
        self.last = None  # one model at a time in memory
        try:
            models = self._load(fetched.folder)
            pairs = zip(self.curves, models, strict=True)
            found = [curve.ask(checkpoint.point(), model, self._config(model)) for curve, model in pairs]
        except UserError as error:
            if not isinstance(error, DamagedModel) and not any(curve.scored() for curve in self.curves):
                raise  # every checkpoint would fail the same way
            why = error.why if isinstance(error, PretrainedError) else str(error)
            log.warning("broken     %s: %s", name, why)
            for curve in self.curves:
                curve.keep(replace(checkpoint.point(), broken=why))
            if number == HOPELESS and not any(curve.scored() for curve in self.curves):
                raise UserError(_nothing_scored(self.training, self.curves[0].results())) from None
            return
        self.last = (name, models)
        log.info("%-*s %s", self.width, name, self._progress(found, time.perf_counter() - began, number, total))

    def _load(self, folder: Path) -> list[Model]:
        settings = replace(self.question.settings, name=(str(folder),), revision=None, revisions=None)
        return load_pretrained(settings, self.question.contract, self.question.scoring, self.question.language)

    def _config(self, model: Model) -> str:
        """What the report treats as the run's settings: training runs that differ only in the seed are averaged."""
        training, question = self.training, self.question
        probes: JsonObject = {
            f"{probe.language}/{probe.name}": {"protocol": question.contract.label, "items": len(probe.contrasts)}
            for probe in question.probes
        }
        recipe: JsonObject = {"options": question.options}
        recipe |= {"trust_remote_code": True} if question.settings.trust_remote_code else {}
        told = ("published checkpoints", training.suite, training.axis, training.seed, model.scorer.name)
        return WatchedSettings(*told, recipe=recipe, probes=probes).yaml()

    def _progress(self, found: Sequence[PointResult], seconds: float, number: int, total: int) -> str:
        means = [f"{value:.3f}" for each in found for name, value in each.metrics.items() if name.endswith(f"/{MEAN}/accuracy")]
        left = (time.perf_counter() - self.started) / number * (total - number)
        rest = f", about {_duration(left)} left" if total > number else ""
        return f"mean {' '.join(means)}   {number} of {total}, {seconds:.1f} s{rest}"

    def _copy(self, checkpoint: PublishedCheckpoint) -> None:
        for curve in self.curves:
            results = curve.results().values()
            original = next((p for p in results if p.model == checkpoint.files.model and not p.same_as), None)
            if original is None:  # it was not available this time
                self.elsewhere.append(checkpoint)
                continue
            curve.copy(checkpoint.point(), original)
            log.info("%-*s same files as %s: not evaluated again", self.width, checkpoint.place.name, original.name)

    # --------------------------------------------------------------------- end

    def _finish(self) -> None:
        """The last checkpoint that could be evaluated represents the final model."""
        waiting = [each.place.name for each in self.elsewhere if not self._is_done(each)]
        if waiting:
            shown = ", ".join(waiting[:4]) + (" …" if len(waiting) > 4 else "")
            log.info(
                "waiting    %s: another process has it, or it could not be fetched; run the same command to resume",
                shown,
            )
            return
        for number, curve in enumerate(self.curves):
            if not curve.scored():
                raise UserError(_nothing_scored(self.training, curve.results()))
            last = curve.scored()[-1]
            if not curve.ends_with(last):
                curve.finish_with(last, self._models_of(last)[number])
            if curve.changed or not curve.run.finished():
                curve.close()

    def _models_of(self, point: PointResult) -> list[Model]:
        """The models evaluated last, or loaded again."""
        if self.last is not None and self.last[0] in (point.name, point.same_as):
            return self.last[1]
        own = (each for each in self.training.checkpoints if each.place.name == point.name)
        checkpoint = next(own, None)
        if checkpoint is None:  # evaluated before, but never on the whole sets
            raise UserError(f"{self.curves[0].path}: {point.name} is the last of this curve; include it in model.revisions=[…]")
        try:
            self.last = (point.name, self._load(self._download(checkpoint)))
        finally:
            self._release(checkpoint)
        return self.last[1]


def _begin(function: Callable[[], Fetched]) -> "Future[Fetched]":
    """Run the function in the background, in a thread that does not keep the program alive."""
    future: Future[Fetched] = Future()

    def work() -> None:
        try:
            future.set_result(function())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return future


def _nothing_scored(training: PublishedTraining, results: Mapping[str, PointResult]) -> str:
    told = {**training.missing, **{name: point.broken for name, point in results.items() if point.broken}}
    shown = "; ".join(f"{name}: {why}" for name, why in list(told.items())[:2]) + ("; …" if len(told) > 2 else "")
    return f"model.name={training.name}: no checkpoint could be evaluated ({shown})"


def _duration(seconds: float) -> str:
    return f"{seconds / 3600:.1f} h" if seconds >= 5400 else f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
