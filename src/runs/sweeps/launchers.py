"""`hydra/launcher=processes` (this machine) and `hydra/launcher=submitit_slurm` (a cluster): where a sweep's jobs run."""

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hydra.core.hydra_config import HydraConfig
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, RunMode, TaskFunction
from omegaconf import DictConfig, open_dict

from ...errors import UserError
from ...settings import RunSettings
from ...settings.composition import COMPOSING, explain_composition
from ...settings.overrides import read_composed, refuse_lists

if TYPE_CHECKING:
    from .loop import JobPlace


def refuse_shared_process(cfg: DictConfig) -> None:
    """Lightning starts ddp processes with the command line, which in a sweep is the whole sweep."""
    launcher = HydraConfig.get().launcher._target_.rsplit(".", 1)[-1]
    if HydraConfig.get().mode == RunMode.MULTIRUN and cfg.trainer.devices != 1:
        raise UserError(
            f"{launcher} runs the jobs of a sweep in its own process, where trainer.devices={cfg.trainer.devices} cannot work; "
            "use hydra/launcher=processes or submitit_slurm"
        )


class SweepLauncher(Launcher):
    """Composes the settings of all jobs at once and hands them to a sweep."""

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self.loader = hydra_context.config_loader
        self.config = config
        self.folder = Path(config.hydra.sweep.dir)

    @abstractmethod
    def place(self, total: int, processes: int) -> "JobPlace":
        """For this many jobs, each with this many processes."""

    def settings(self, overrides: Sequence[str]) -> RunSettings:
        """The settings of one job."""
        refuse_lists(overrides)
        try:
            composed = self.loader.load_sweep_config(self.config, list(overrides))
        except COMPOSING as error:
            raise explain_composition(error, overrides) from None
        with open_dict(composed):
            del composed["hydra"]
        return read_composed(composed)

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        from ..stopping import explain_failures
        from .launch import launch_jobs

        with explain_failures():
            settings = [self.settings(overrides) for overrides in job_overrides]
            launch_jobs(settings, job_overrides, initial_job_idx, self)
        return [_returned(overrides) for overrides in job_overrides]


class ProcessLauncher(SweepLauncher):
    """Each job is a process on this machine."""

    def __init__(self, n_jobs: int | None) -> None:
        self.n_jobs = n_jobs

    def place(self, total: int, processes: int) -> "JobPlace":
        from .processes import Processes

        return Processes(self.n_jobs, total, processes)


class SlurmLauncher(SweepLauncher):
    """Each job is a SLURM job, through submitit; takes submitit's options."""

    def __init__(self, max_num_timeout: int, **resources: object) -> None:
        self.max_num_timeout = max_num_timeout
        self.resources = resources

    def place(self, total: int, processes: int) -> "JobPlace":
        from .cluster import Cluster

        return Cluster(self.folder / "slurm", self.max_num_timeout, self.resources)


def _returned(overrides: Sequence[str]) -> JobReturn:
    """For sweepers that ask; a job's numbers are in its run's folder."""
    done = JobReturn(overrides=overrides, status=JobStatus.COMPLETED)
    done.return_value = None
    return done
