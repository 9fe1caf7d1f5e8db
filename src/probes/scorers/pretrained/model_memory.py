"""Check whether a model fits in memory before it is loaded."""

from collections.abc import Mapping, Sequence

import torch

from ....machine import free_memory
from .pretrained_error import PretrainedError

# Scores are computed in float32, whatever the weights' storage format.
GROWTH = {"float64": 0.5, "float32": 1, "float16": 2, "bfloat16": 2, "int8": 4, "uint8": 4}
ROOM = 1.2  # overhead for what is computed with them
GIB = 2**30


def check_fits(name: str, sizes: Mapping[str, int], weights: Sequence[str], config: Mapping[str, object], device: str) -> None:
    """Fail at once, instead of freezing the machine."""
    stored = str(config.get("dtype") or config.get("torch_dtype") or "float32").removeprefix("torch.")
    need = ROOM * sum(sizes[file] for file in weights) * GROWTH.get(stored, 1)
    free = available(device)
    if need > free:
        raise PretrainedError(
            name,
            f"too large for this machine: it needs about {need / GIB:,.1f} GiB in float32, but {free / GIB:,.1f} GiB are free "
            f"({'GPU' if device == 'cuda' else 'main'} memory); use a smaller model or a larger machine",
        )


def available(device: str) -> float:
    """Free bytes where the model would go."""
    return float(torch.cuda.mem_get_info()[0]) if device == "cuda" else free_memory()
