"""Context networks: what stands between the embedding of words and the prediction of the next one.

A network is a file here with a `build(width, **settings)` that returns a module with
    hidden: int                                    its width H
    forward(x, state) -> (y, state)                (B, T, D) → (B, T, H); state is None at the start of a sentence
    read(x, state) -> (y, state)                   the same, but the state remembers all that was read, so that any network can
                                                   read on word by word
A state is a tensor or a structure of tensors, B in second place of each (`lm.state`).
and a YAML in conf/model whose `network.name` is the file's name.
"""

import importlib
import pkgutil
from typing import Any

from torch import Tensor, nn

from ...errors import UserError


class Network(nn.Module):
    """What every context network is."""

    hidden: int

    def forward(self, x: Tensor, state: Any = None) -> tuple[Tensor, Any]:
        raise NotImplementedError

    def read(self, x: Tensor, state: Any = None) -> tuple[Tensor, Any]:
        raise NotImplementedError


def names() -> list[str]:
    """The networks there are."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def build(name: str, width: int, **settings: Any) -> Network:
    """A network by name. Only files of this folder can be named, so a checkpoint cannot call anything else."""
    if name not in names():
        raise UserError(f"there is no network {name!r}; there are: {', '.join(names())}")
    network: Network = importlib.import_module(f"{__name__}.{name}").build(width, **settings)
    return network
