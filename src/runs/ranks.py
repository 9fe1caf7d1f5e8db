"""Which of several processes this one is, before Lightning has started."""

import os

# Set by torchrun, by Lightning for the processes it starts itself, and by SLURM's srun. Lightning's before SLURM's: the processes
# it starts from within an interactive job all inherit that job's SLURM_PROCID.
VARIABLES = ("RANK", "LOCAL_RANK", "SLURM_PROCID")


def is_first() -> bool:
    """Whether it is the first or only one, which alone writes and shows."""
    return next((int(os.environ[name]) for name in VARIABLES if name in os.environ), 0) == 0
