"""Which trial comes next, how it ended, and whether it is worth continuing: a search as the work of a sweep."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import optuna
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.trial import FrozenTrial, TrialState

from ...errors import UserError
from ...terminal import console
from ..run_folder import RunFolder
from ..run_state import History
from .job import Job

STATES = {TrialState.COMPLETE: "done", TrialState.PRUNED: "pruned", TrialState.FAIL: "failed", TrialState.RUNNING: "running"}
Curves = dict[str, list[float | None]]  # metric by metric, epoch by epoch
REPEATS = 30  # how often the same settings may come in a row before we conclude that there are no others


@dataclass(frozen=True)
class Objectives:
    """Metrics of a run and their directions: minimize or maximize."""

    names: Sequence[str]
    directions: Sequence[str]

    def values(self, folder: RunFolder) -> list[float]:
        """The values of the run's best model."""
        history = History(folder)
        found = {name: history.of_best(name) for name in self.names}
        if missing := [name for name, value in found.items() if value is None]:
            measured = ", ".join(name for name in history.names() if "/" in name)
            raise UserError(f"{folder.path}: it has not measured {missing[0]}; choose hydra.sweeper.objectives from {measured}")
        return [value for value in found.values() if value is not None]

    def curves(self, folder: RunFolder) -> Curves:
        history = History(folder)
        return {name: history.by_epoch(name) for name in self.names}

    def worse(self, name: str, value: float, other: float) -> bool:
        return value > other if self.directions[list(self.names).index(name)] == "minimize" else value < other


@dataclass(frozen=True)
class Pruning:
    """A run is hopeless if it is worse in every objective than the median of the finished ones after as many epochs.

    Optuna's own pruners know only one objective.
    """

    startup_trials: int  # runs that must be finished first
    warmup_epochs: int  # epochs that every run is granted

    def hopeless(self, curves: Curves, others: Sequence[Curves], objectives: Objectives) -> str:
        """Why it is hopeless, or nothing."""
        epoch = max((len(curve) for curve in curves.values()), default=0)
        if epoch <= self.warmup_epochs:
            return ""
        beaten = []
        for name in curves:
            ours = _at(curves, name, epoch)
            theirs = [value for other in others if (value := _at(other, name, epoch)) is not None]
            if ours is None or len(theirs) < self.startup_trials:
                continue  # not measured at this epoch, or too few to compare with
            if not objectives.worse(name, ours, median(theirs)):
                return ""
            beaten.append(f"{name} {ours:.4g}, median {median(theirs):.4g}")
        return f"hopeless after epoch {epoch}: {'; '.join(beaten)}" if beaten else ""


def _at(curves: Curves, name: str, epoch: int) -> float | None:
    return curves[name][epoch - 1] if len(curves[name]) >= epoch else None


@dataclass(frozen=True)
class SearchPlan:
    """What is searched, and how far."""

    space: dict[str, BaseDistribution]
    objectives: Objectives
    n_trials: int
    n_jobs: int
    sampler: Callable[[int], BaseSampler]  # for the n-th trial
    pruning: Pruning | None


class Search:
    """`make` turns a trial into a job. Trials that were running when the search was last stopped are resumed first."""

    def __init__(self, study: optuna.Study, plan: SearchPlan, make: Callable[[FrozenTrial], Job]) -> None:
        self.study = study
        self.plan = plan
        self.make = make
        self.flying: dict[str, int] = {}  # job by name: number of its trial
        self.looked: dict[str, float] = {}
        self.curves: dict[int, Curves] = {}  # of finished trials
        self.exhausted = False
        self.waiting: list[FrozenTrial] = []
        for trial in study.get_trials(states=(TrialState.RUNNING,)):
            if "run" in trial.user_attrs:
                self.waiting.append(trial)
            else:  # stopped between asking and telling
                study.tell(trial.number, state=TrialState.FAIL)

    def trials(self) -> list[FrozenTrial]:
        """Those that have or had a run, each with its own settings."""
        return [trial for trial in self.study.get_trials() if "run" in trial.user_attrs]

    # ------------------------------------------------------------------ work of a sweep

    def take(self, free: int) -> list[Job]:
        taken: list[Job] = []
        while len(taken) < free and len(self.flying) < self.plan.n_jobs and (found := self._next()):
            number, job = found
            self.flying[job.name] = number
            taken.append(job)
        return taken

    def over(self) -> bool:
        return not self.waiting and (self.exhausted or len(self.trials()) >= self.plan.n_trials)

    def hopeless(self, job: Job) -> str:
        metrics = job.folder.metrics
        changed = metrics.stat().st_mtime if metrics.exists() else 0.0
        if self.plan.pruning is None or self.looked.get(job.name, 0.0) == changed:
            return ""
        self.looked[job.name] = changed
        others = [self._curves(trial) for trial in self.trials() if trial.state == TrialState.COMPLETE]
        return self.plan.pruning.hopeless(self.plan.objectives.curves(job.folder), others, self.plan.objectives)

    def _curves(self, trial: FrozenTrial) -> Curves:
        if trial.number not in self.curves:
            self.curves[trial.number] = self.plan.objectives.curves(self.make(trial).folder)
        return self.curves[trial.number]

    def again(self, job: Job) -> None:
        number = self.flying.pop(job.name)
        self.waiting.append(self.study.get_trials()[number])

    def ended(self, job: Job, state: str) -> None:
        """A trial stopped with the whole search stays open and is resumed next time."""
        number = self.flying.pop(job.name)
        if state == "done":
            self.study.tell(number, self.plan.objectives.values(job.folder))
        elif state != "stopped":
            self.study.tell(number, state=TrialState.PRUNED if state == "pruned" else TrialState.FAIL)

    # ------------------------------------------------------------------ trials

    def _next(self) -> tuple[int, Job] | None:
        """Number and job of a trial that was left open, or otherwise of a new one."""
        if self.waiting:
            return self._left_open()
        for _ in range(REPEATS):
            if len(self.trials()) >= self.plan.n_trials:
                return None
            if found := self._asked():
                return found
        console.out(f"search  ends here: {REPEATS} times in a row, only settings already tried", highlight=False)
        self.exhausted = True
        return None

    def _left_open(self) -> tuple[int, Job] | None:
        """A process left behind by the last start may still be working on it."""
        jobs = {trial.number: self.make(trial) for trial in self.waiting}
        free = next((number for number, job in jobs.items() if not job.folder.in_use()), None)
        if free is None:
            return None
        self.waiting = [trial for trial in self.waiting if trial.number != free]
        return free, jobs[free]

    def _asked(self) -> tuple[int, Job] | None:
        """A trial with new settings, or None if they are not new."""
        earlier = self.trials()
        self.study.sampler = self.plan.sampler(len(self.study.get_trials(deepcopy=False)))
        asked = self.study.ask(self.plan.space)
        twins = [other for other in earlier if other.params == asked.params]
        if not twins:
            job = self.make(self.study.get_trials()[asked.number])
            asked.set_user_attr("run", job.folder.path.name)
            return asked.number, job
        # Told the known result, Optuna looks elsewhere; without a run the trial does not count.
        known = twins[0].values if twins[0].state == TrialState.COMPLETE else None
        self.study.tell(asked, known, state=None if known else TrialState.FAIL)
        return None
