"""Which of several processes this one is, before Lightning has started."""

import os

# Set by torchrun, by SLURM's srun, and by Lightning for the processes it starts itself.
VARIABLES = ("RANK", "SLURM_PROCID", "LOCAL_RANK")


def rank() -> int:
    """0 for the first or only process."""
    return next((int(os.environ[name]) for name in VARIABLES if name in os.environ), 0)
