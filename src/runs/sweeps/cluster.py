"""Jobs on a SLURM cluster, through submitit, which submits them as an array and requeues them when their time is up.

A preempted job goes back into the queue after its run has saved, and then resumes in the same folder. On its own, submitit
would request the next start first and end the run in the middle of a batch.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from ...errors import UserError
from .job import Job
from .loop import Running

if TYPE_CHECKING:
    from submitit import AutoExecutor
    from submitit.helpers import DelayedSubmission

SignalHandler = Callable[[int, FrameType | None], object] | int | None  # as returned by signal.getsignal
# What submitit calls the same on every kind of cluster.
GENERAL = ("name", "timeout_min", "mem_gb", "nodes", "cpus_per_task", "gpus_per_node", "tasks_per_node", "stderr_to_stdout")
ASK = 5.0  # seconds between two requests to SLURM
PATIENCE = 15.0  # seconds that a message from a node may take over a shared disk


class Cluster:
    """All jobs at once; how many run is up to the queue."""

    def __init__(self, folder: Path, max_num_timeout: int, resources: Mapping[str, object]) -> None:
        self.slots = sys.maxsize
        self.queue = Queue()
        self.executor = _executor(folder, max_num_timeout, resources)

    def start(self, jobs: Sequence[Job]) -> list[Running]:
        for job in jobs:
            _exit_file(job).unlink(missing_ok=True)
        submitted = self.executor.submit_array([Task(job) for job in jobs])
        return [SlurmJob(job, str(one.job_id), self.queue) for job, one in zip(jobs, submitted, strict=True)]


def _executor(folder: Path, max_num_timeout: int, resources: Mapping[str, object]) -> "AutoExecutor":
    try:
        from submitit import AutoExecutor  # noqa: PLC0415 - an extra
    except ImportError:
        raise UserError("hydra/launcher=submitit_slurm needs submitit: pip install 'concord-lm[cluster]'") from None
    if not shutil.which("sbatch"):
        raise UserError("hydra/launcher=submitit_slurm: no sbatch here; start it on a machine of the cluster")
    executor = AutoExecutor(folder.resolve(), cluster="slurm", slurm_max_num_timeout=max_num_timeout)
    wanted = {name: value for name, value in resources.items() if value is not None}
    try:
        executor.update_parameters(**{name if name in GENERAL else f"slurm_{name}": value for name, value in wanted.items()})
    except (TypeError, ValueError) as error:
        raise UserError(f"hydra.launcher: {error}") from None
    return executor


class Queue:
    """Our jobs in SLURM, queried rarely and for all jobs together."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self.asked = -ASK

    def has(self, job_id: str) -> bool:
        """Waiting, running or waiting again. While SLURM does not answer, nothing has changed."""
        if time.monotonic() - self.asked >= ASK:
            self.asked = time.monotonic()
            command = [shutil.which("squeue") or "squeue", "--me", "--noheader", "--array", "--format=%i"]
            answer = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
            if answer.returncode == 0:
                self.ids = set(answer.stdout.split())
        return job_id in self.ids

    def forget(self) -> None:
        """Query again next time."""
        self.asked = -ASK


@dataclass
class SlurmJob:
    job: Job
    job_id: str
    queue: Queue
    missed: float = 0.0  # since when it has been in no queue

    def __post_init__(self) -> None:
        self.queue.ids.add(self.job_id)

    def status(self) -> int | None:
        said = _exit_status(self.job)
        if said == 0:
            return 0
        if self.queue.has(self.job_id):
            self.missed = 0.0
            return None
        self.missed = self.missed or time.monotonic()
        if said is None and time.monotonic() - self.missed < PATIENCE:
            return None
        return 1 if said is None else said

    def stop(self) -> None:
        """SLURM sends SIGTERM and waits (`KillWait`, 30 seconds by default)."""
        subprocess.run([shutil.which("scancel") or "scancel", self.job_id], check=False)  # noqa: S603
        self.queue.forget()

    def kill(self) -> None:
        subprocess.run([shutil.which("scancel") or "scancel", "--signal=KILL", self.job_id], check=False)  # noqa: S603
        self.stop()


def _exit_file(job: Job) -> Path:
    return job.config.with_suffix(".exit")


def _exit_status(job: Job) -> int | None:
    try:
        return int(_exit_file(job).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None


class Task:
    """What runs on the node, once per task of the job: training as a separate process, watched."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.warnings: list[int] = []

    def __call__(self) -> None:
        first = os.environ.get("SLURM_PROCID", "0") == "0"
        if first:
            _exit_file(self.job).unlink(missing_ok=True)
        submitits = {number: signal.getsignal(number) for number in (signal.SIGUSR1, signal.SIGUSR2)}
        status = self._train(first)
        if self.warnings and status != 0:
            _queue_again(submitits)
        elif first:
            _exit_file(self.job).write_text(str(status), encoding="utf-8")

    def _train(self, first: bool) -> int:
        """Its exit status. SLURM's warning is forwarded and remembered."""
        with self.job.log.open("ab") if first else nullcontext() as log:
            process = subprocess.Popen(self.job.command(), stdout=log, stderr=subprocess.STDOUT)  # noqa: S603

            def warn(number: int, frame: FrameType | None) -> None:
                self.warnings.append(number)
                with suppress(ProcessLookupError):
                    os.kill(process.pid, number)

            for number in (signal.SIGUSR1, signal.SIGUSR2):
                signal.signal(number, warn)
            code = process.wait()
        return code if code >= 0 else 128 - code

    def checkpoint(self) -> "DelayedSubmission":
        """Submitit asks what to do at the next start: the same, since the run's folder knows how far it has got."""
        from submitit.helpers import DelayedSubmission  # noqa: PLC0415 - an extra

        return DelayedSubmission(Task(self.job))


def _queue_again(handlers: Mapping[signal.Signals, SignalHandler]) -> None:
    """As submitit does, which exits by raising SystemExit; on tasks other than the first it does nothing."""
    for number, handler in handlers.items():
        if callable(handler):
            handler(number, None)
