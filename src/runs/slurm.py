"""A run inside a SLURM job: back into the queue when its time is up."""

import os
import shutil
import signal
import subprocess
import sys

from .ranks import is_first


def requeue(number: int) -> None:
    """Ask for the same job again, if this signal was SLURM's warning (`--signal=USR1@120`).

    The run has saved by now. Not for SIGTERM, which is how a job is cancelled (and how SLURM preempts, which requeues by itself),
    and not below submitit, which does it for its jobs.
    """
    job = os.environ.get("SLURM_JOB_ID")
    if number != signal.SIGUSR1 or job is None or "SUBMITIT_EXECUTOR" in os.environ or not is_first():
        return
    asked = subprocess.run(  # noqa: S603
        [shutil.which("scontrol") or "scontrol", "requeue", job], capture_output=True, text=True, check=False
    )
    said = "requeued; it resumes by itself" if asked.returncode == 0 else f"cannot be requeued: {asked.stderr.strip()}"
    print(f"SLURM job {job} {said}", file=sys.stderr)
