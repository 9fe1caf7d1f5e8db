"""What measures a model computes in 32 bits, whatever its training uses."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch


@contextmanager
def full_precision(device: str) -> Iterator[None]:
    """On this type of device: no autocast, and no TF32, torch's default for LSTMs on a GPU, whose products have 10 bits."""
    kinds = (torch.backends.cudnn.rnn, torch.backends.cudnn.conv)  # type: ignore[attr-defined] # set when torch is imported
    before = [kind.fp32_precision for kind in kinds]
    try:
        _set(kinds, ["ieee"] * len(kinds))
        with torch.autocast(device, enabled=False):
            yield
    finally:
        _set(kinds, before)


def _set(kinds: Sequence[Any], values: Sequence[str]) -> None:
    """By both of torch's names for it: where they differ, torch raises an error for anyone who asks by the older one."""
    torch.backends.cudnn.allow_tf32 = "tf32" in values
    for kind, value in zip(kinds, values, strict=True):
        kind.fp32_precision = value
