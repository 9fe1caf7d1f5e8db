"""What this machine has."""

import os


def cores() -> list[int]:
    """The processor cores that this process may use, by number; not every system can say which, then all of them."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))
