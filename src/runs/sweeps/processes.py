"""Jobs as processes on this machine: a fixed number at a time, sharing cores and GPUs fairly."""

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ...errors import UserError
from ...machine import cores
from .job import Job
from .loop import Running

# What a parent under SLURM, torchrun or Lightning would pass down, and a job would mistake for its own.
RANKS = ("RANK", "LOCAL_RANK", "NODE_RANK", "GROUP_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


class Processes:
    """`n_jobs` at a time; by default one per GPU, or per core if there is none."""

    def __init__(self, n_jobs: int | None, total: int, needed: int) -> None:
        """For `total` jobs of `needed` processes each."""
        if n_jobs is not None and n_jobs < 1:
            raise UserError(f"hydra.launcher.n_jobs={n_jobs}: must be a whole number of at least 1, or null")
        if "WORLD_SIZE" in os.environ:
            raise UserError("a sweep starts its own processes: call it with python, not with torchrun")
        self.cores, self.gpus = cores(), gpus()
        self.slots = n_jobs or max(1, min(len(self.gpus or self.cores) // needed, total))
        self.threads = max(1, len(self.cores) // (self.slots * needed))
        self.used: dict[int, Process] = {}

    def start(self, jobs: Sequence[Job]) -> list[Running]:
        return [self._start(job) for job in jobs]

    def _start(self, job: Job) -> "Process":
        self.used = {slot: process for slot, process in self.used.items() if process.ended is None}
        slot = next(slot for slot in range(self.slots) if slot not in self.used)
        self.used[slot] = Process(job, self.environment(slot))
        return self.used[slot]

    def environment(self, slot: int) -> dict[str, str]:
        """A job's share of the machine."""
        kept = {name: value for name, value in os.environ.items() if name not in RANKS and not name.startswith("SLURM_")}
        outside = kept.get("OMP_NUM_THREADS", "")
        # Values set outside are an upper bound.
        kept["OMP_NUM_THREADS"] = str(min(self.threads, int(outside)) if outside.isdecimal() else self.threads)
        if self.gpus:
            kept["CUDA_VISIBLE_DEVICES"] = ",".join(share(self.gpus, slot, self.slots))
        return kept


class Process:
    """A job in its own session, so that Ctrl-C reaches only the sweep and everything the job starts can be ended with it."""

    def __init__(self, job: Job, environment: dict[str, str]) -> None:
        self.ended: int | None = None
        with job.log.open("ab") as log:
            self.process = subprocess.Popen(  # noqa: S603
                job.command(),
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def status(self) -> int | None:
        if self.ended is None and self._over():
            # Until its exit status is collected, no other process can have its id.
            self._signal(signal.SIGKILL)
            code = self.process.wait()
            self.ended = code if code >= 0 else 128 - code
        return self.ended

    def _over(self) -> bool:
        if not hasattr(os, "waitid"):  # macOS before Python 3.13
            return self.process.poll() is not None
        looked = os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return looked is not None

    def stop(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        if self.ended is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)


def gpus() -> list[str]:
    """By their CUDA names; found without loading torch."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return [name for name in visible.split(",") if name.strip() not in ("", "-1")]
    found = Path("/proc/driver/nvidia/gpus")
    return [str(number) for number, _ in enumerate(found.iterdir())] if found.is_dir() else []


def share(devices: Sequence[str], slot: int, slots: int) -> list[str]:
    """The devices of one slot: an equal share; if there are more slots than devices, some are shared."""
    if slots >= len(devices):
        return [devices[slot % len(devices)]]
    each = len(devices) // slots
    return list(devices[slot * each : (slot + 1) * each])
