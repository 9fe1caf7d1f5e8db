"""A search for good settings with Optuna: one run per trial. The study is in a database, so that it can be resumed."""

import csv
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import optuna
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, NSGAIISampler, RandomSampler, TPESampler
from optuna.trial import FrozenTrial, TrialState
from rich.table import Table

from ... import metric_names
from ...errors import UserError
from ...files import FileInUse, lock
from ...settings.probing import all_collections
from ...settings.run import RunSettings, settings_hash
from ...terminal import console, show_whole, table
from .board import Board
from .job import Job, freeze, make_job, short_names, thaw
from .launch import JobPlaces, run
from .search import STATES, Objectives, Pruning, Search, SearchPlan

SAMPLERS = ("tpe", "nsga2", "random")


@dataclass(frozen=True)
class Wishes:
    """What conf/hydra/sweeper/optuna.yaml sets."""

    study_name: str | None
    storage: str
    n_trials: int
    n_jobs: int
    objectives: Sequence[str]
    directions: Sequence[Literal["minimize", "maximize"]]
    sampler: str
    seed: int
    pruning: dict[str, int] | None

    def check(self) -> None:
        """Check before a study starts."""
        if self.sampler not in SAMPLERS:
            raise UserError(f"hydra.sweeper.sampler={self.sampler}: no such sampler; available: {', '.join(SAMPLERS)}")
        if len(self.objectives) != len(self.directions) or {*self.directions} - {"minimize", "maximize"}:
            raise UserError(
                f"hydra.sweeper.directions={list(self.directions)}: must be minimize or maximize, once for each of "
                f"{', '.join(self.objectives)}"
            )
        for name, value in (("n_trials", self.n_trials), ("n_jobs", self.n_jobs)):
            if value < 1:
                raise UserError(f"hydra.sweeper.{name}={value}: must be a whole number of at least 1")

    def plan(self, space: dict[str, BaseDistribution]) -> SearchPlan:
        pruning = Pruning(**self.pruning) if self.pruning else None
        objectives = Objectives(list(self.objectives), list(self.directions))
        return SearchPlan(space, objectives, self.n_trials, self.n_jobs, self._sampler, pruning)

    def _sampler(self, number: int) -> BaseSampler:
        """Seeded anew for each trial: one seed for the whole study would repeat the first settings after every restart."""
        seed = self.seed * 1_000_003 + number
        if self.sampler == "tpe":
            return TPESampler(seed=seed, constant_liar=self.n_jobs > 1)  # concurrent trials keep away from each other
        return NSGAIISampler(seed=seed) if self.sampler == "nsga2" else RandomSampler(seed=seed)


class TrialPlaces(JobPlaces, Protocol):
    """What a search also needs from a launcher: the settings of a trial."""

    def settings(self, overrides: Sequence[str]) -> RunSettings: ...


def search(launcher: TrialPlaces, space: dict[str, BaseDistribution], fixed: Sequence[str], wishes: Wishes) -> None:
    """Run the trials that the study still lacks, then show those not beaten by another in every objective."""
    wishes.check()
    if not space:
        raise UserError("hparams_search=optuna: nothing to search; give for instance model.dropout=interval(0,0.5)")
    base = launcher.settings(fixed)
    must_be_measured(wishes.objectives, base)
    name = wishes.study_name or study_name(base, space, wishes)
    folder = launcher.folder.parent / name
    trials = Trials(launcher, folder, fixed)
    with alone(folder):
        work = Search(opened(name, wishes), wishes.plan(space), trials.job)
        before = [(trials.job(trial), STATES[trial.state]) for trial in work.trials() if trial.state.is_finished()]
        processes = make_job(base, "", folder).processes
        board = Board(wishes.n_trials, before)
        try:
            run(work, launcher.place(wishes.n_jobs, processes), board, folder)
        finally:
            report(work, folder)


def must_be_measured(objectives: Sequence[str], base: RunSettings) -> None:
    """An objective of sets that no trial is probed on is found before the first trial, not after it."""
    measured = [metric_names.probe(lang.code, each.name) for lang in base.languages for each in all_collections(base.probes)]
    for name in objectives:
        if name.startswith(metric_names.PROBE) and not name.startswith(tuple(f"{prefix}/" for prefix in measured)):
            known = f"its metrics begin with {' or '.join(measured)}" if measured else "it is not probed (probes=none)"
            raise UserError(f"hydra.sweeper.objectives: {name} is not measured in this training: {known}")


@dataclass(frozen=True)
class Trials:
    """Trials as jobs: frozen when first created, and unchanged from then on."""

    launcher: TrialPlaces
    folder: Path
    fixed: Sequence[str]

    def job(self, trial: FrozenTrial) -> Job:
        config = self.folder / f"trial-{trial.number}.yaml"
        label = f"trial {trial.number}  {described(trial)}"
        if config.exists():
            return thaw(config, label)
        chosen = [f"{key}={value}" for key, value in trial.params.items()]
        settings = self.launcher.settings([*self.fixed, *chosen])
        job = make_job(settings, label, config)
        freeze(job, settings)
        return job


def study_name(base: RunSettings, space: dict[str, BaseDistribution], wishes: Wishes) -> str:
    """Other settings, another space or other objectives are another study; more trials are the same one."""
    settings = {key: value for key, value in base.result_settings().items() if key not in space}
    axes = {key: str(value) for key, value in space.items()}
    known = {"science": settings, "space": axes, "objectives": list(wishes.objectives), "directions": list(wishes.directions)}
    return f"search-{base.lang.code}-{base.model.name}-{base.data.name}-{settings_hash(known)}"


def opened(name: str, wishes: Wishes) -> optuna.Study:
    """The study of this name, new or as it was left."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    if wishes.storage.startswith("sqlite:///"):
        Path(wishes.storage.removeprefix("sqlite:///")).parent.mkdir(parents=True, exist_ok=True)
    study = optuna.create_study(storage=wishes.storage, study_name=name, directions=list(wishes.directions), load_if_exists=True)
    objectives = study.user_attrs.get("objectives", list(wishes.objectives))
    if objectives != list(wishes.objectives) or [one.name.lower() for one in study.directions] != list(wishes.directions):
        raise UserError(
            f"hydra.sweeper.study_name={name}: this study has the objectives {', '.join(objectives)}; use another name for others"
        )
    study.set_user_attr("objectives", list(wishes.objectives))
    return study


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Only one process at a time asks Optuna; it can run as many trials at once as it likes."""
    with ExitStack() as held:
        try:
            held.enter_context(lock(folder / ".lock", patience=0))
        except FileInUse:
            raise UserError(f"{folder}: another process is running this search; wait for it, or raise its n_jobs") from None
        yield


def described(trial: FrozenTrial) -> str:
    short = short_names(list(trial.params))
    numbers = {key: f"{value:.3g}" if isinstance(value, float) else value for key, value in trial.params.items()}
    return " ".join(f"{short[key]}={value}" for key, value in numbers.items())


def report(work: Search, folder: Path) -> None:
    """The Pareto front on the screen, all trials in a file."""
    names = work.plan.objectives.names
    front = [trial.number for trial in work.study.best_trials if "run" in trial.user_attrs]
    with (folder / "trials.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["trial", "state", "pareto", *names, *work.plan.space, "run"])
        for trial in work.trials():
            values = trial.values if trial.state == TrialState.COMPLETE else [""] * len(names)
            chosen = [trial.params.get(key, "") for key in work.plan.space]
            writer.writerow([trial.number, STATES[trial.state], trial.number in front, *values, *chosen, trial.user_attrs["run"]])
    show_whole(_front([trial for trial in work.trials() if trial.number in front], names))
    console.out(f"all trials  {folder / 'trials.csv'}", highlight=False)


def _front(trials: Sequence[FrozenTrial], names: Sequence[str]) -> Table:
    view = table("Pareto front", "trial", numbers=[*names])
    view.add_column("settings")
    view.add_column("run", no_wrap=True)
    for trial in sorted(trials, key=lambda trial: trial.values):
        numbers = [f"{value:,.4g}" for value in trial.values]
        view.add_row(str(trial.number), *numbers, described(trial), trial.user_attrs["run"])
    return view
