"""Whether a model fits, asked before it is loaded."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from .pretrained_error import PretrainedError

# Scores are computed in float32, whatever the weights were stored in.
GROWTH = {"float64": 0.5, "float32": 1, "float16": 2, "bfloat16": 2, "int8": 4, "uint8": 4}
ROOM = 1.2  # for what is computed with them
GIB = 2**30
CGROUP = Path("/sys/fs/cgroup")


def check_fits(name: str, sizes: Mapping[str, int], weights: Sequence[str], config: Mapping[str, Any], device: str) -> None:
    """An error at once, instead of a machine that stops answering."""
    stored = str(config.get("dtype") or config.get("torch_dtype") or "float32").removeprefix("torch.")
    need = ROOM * sum(sizes[file] for file in weights) * GROWTH.get(stored, 1)
    free = available(device)
    if need > free:
        raise PretrainedError(
            name,
            f"too large for this machine: about {need / GIB:,.1f} GiB in float32, of which {free / GIB:,.1f} GiB are free "
            f"({'GPU' if device == 'cuda' else 'main'} memory); take a smaller model or a larger machine",
        )


def available(device: str) -> float:
    """Free bytes; in a container, at most what its limit leaves."""
    if device == "cuda":
        return float(torch.cuda.mem_get_info()[0])
    return min(_free(), _limit())


def _free() -> float:
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        lines = dict(line.split(":", 1) for line in meminfo.read_text(encoding="utf-8").splitlines() if ":" in line)
        return 1024.0 * int(lines["MemAvailable"].split()[0])
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def _limit() -> float:
    """Of the container, where there is one; pages of files that were read do not count, they are given back."""
    most, used, stat = (CGROUP / f"memory.{name}" for name in ("max", "current", "stat"))
    if not (most.exists() and used.exists() and stat.exists()) or most.read_text(encoding="utf-8").strip() == "max":
        return float("inf")
    files = dict(line.split() for line in stat.read_text(encoding="utf-8").splitlines()).get("file", 0)
    return float(most.read_text(encoding="utf-8")) - float(used.read_text(encoding="utf-8")) + float(files)
