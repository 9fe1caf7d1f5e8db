"""What this machine has."""

import ctypes
import math
import os
from pathlib import Path

MEMORY = Path("/proc/meminfo")
GROUP = Path("/sys/fs/cgroup")
COMPILED = "ONEDNN_PRIMITIVE_CACHE_CAPACITY", "16"


def cores() -> list[int]:
    """The CPU cores this process may use, by number; all of them on systems that cannot say."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))


def free_memory() -> float:
    """Bytes a process can still allocate: what the machine has, or what a container's or cluster job's limit leaves."""
    return min(_free_in_machine(), _free_in_group())


def give_memory_back() -> None:
    """Return freed memory to the system: GNU's C library keeps it until asked."""
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)


def keep_few_shapes() -> None:
    """Bound what is compiled for the shapes of batches; call it before the first batch.

    On a CPU, oneDNN compiles an LSTM for every shape it meets and keeps the last 1,024: with batches of sentences, a gigabyte or
    two. Compiling anew costs no time that we could measure. A value in the environment is left alone.
    """
    os.environ.setdefault(*COMPILED)


def _free_in_machine() -> float:
    if not MEMORY.exists():  # not Linux: the total, in use or not
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) if hasattr(os, "sysconf") else math.inf
    lines = dict(line.split(":", 1) for line in MEMORY.read_text(encoding="ascii").splitlines() if ":" in line)
    return 1024.0 * int(lines["MemAvailable"].split()[0])


def _free_in_group() -> float:
    """Cached file pages do not count: they can be reclaimed."""
    try:
        limit, used, stat = (
            (GROUP / f"memory.{name}").read_text(encoding="ascii").strip() for name in ("max", "current", "stat")
        )
    except OSError:
        return math.inf
    if not (limit.isdecimal() and used.isdecimal()):
        return math.inf
    return float(limit) - float(used) + float(dict(line.split() for line in stat.splitlines()).get("file", 0))
