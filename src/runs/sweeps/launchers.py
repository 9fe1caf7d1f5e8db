"""`hydra/launcher=processes` (this machine) and `hydra/launcher=submitit_slurm` (a cluster): where the jobs of a sweep run."""

import sys
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf, open_dict

if TYPE_CHECKING:
    from .job import Program
    from .loop import Place


class SweepLauncher(Launcher):
    """Composes the settings of every job at once and hands them to a sweep."""

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self.loader = hydra_context.config_loader
        self.config = config
        self.program = cast("Program", sys.modules[task_function.__module__])
        self.folder = Path(config.hydra.sweep.dir)

    @abstractmethod
    def place(self, total: int, processes: int) -> "Place":
        """For so many jobs, each of so many processes."""

    def settings(self, overrides: Sequence[str]) -> Any:
        """Of one job, in plain values."""
        self.program.refuse_lists(overrides)
        composed = self.loader.load_sweep_config(self.config, list(overrides))
        with open_dict(composed):
            del composed["hydra"]
        return OmegaConf.to_container(composed, resolve=True, throw_on_missing=True)

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        from ..failures import explained
        from .launch import launched

        with explained():
            settings = [self.settings(overrides) for overrides in job_overrides]
            launched(settings, job_overrides, initial_job_idx, self)
        return [_returned(overrides) for overrides in job_overrides]


class ProcessLauncher(SweepLauncher):
    """Each job a process of its own on this machine."""

    def __init__(self, n_jobs: int | None) -> None:
        self.n_jobs = n_jobs

    def place(self, total: int, processes: int) -> "Place":
        from .processes import Processes

        return Processes(self.n_jobs, total, processes)


class SlurmLauncher(SweepLauncher):
    """Each job a SLURM job, by way of submitit; takes what submitit takes."""

    def __init__(self, max_num_timeout: int, **resources: Any) -> None:
        self.max_num_timeout = max_num_timeout
        self.resources = resources

    def place(self, total: int, processes: int) -> "Place":
        from .cluster import Cluster

        return Cluster(self.folder / "slurm", self.max_num_timeout, self.resources)


def _returned(overrides: Sequence[str]) -> JobReturn:
    """For sweepers that ask; the numbers of a job are in its run's folder."""
    done = JobReturn(overrides=overrides, status=JobStatus.COMPLETED)
    done.return_value = None
    return done
