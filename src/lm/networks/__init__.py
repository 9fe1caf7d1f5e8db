"""Context networks: what stands between the embedding of words and the prediction of the next one.

A network is a file here with a `build(width, **settings)` that returns a module with
    hidden: int                                    its width H
    forward(x, state) -> (y, state)                (B, T, D) → (B, T, H); state is None at the start of a sentence
    read(x, state) -> (y, state)                   the same, but the state remembers all that was read, so that any network can
                                                   read on word by word
A state is a tensor or a structure of tensors, B in second place of each (`lm.state`).
A network whose positions look at each other can have besides
    read_tree(x, depths, mask) -> y                many sentences that begin alike as one row of nodes, (1, N, D) → (1, N, H):
                                                   each stands at its depth and looks at what `mask`, (N, N), shows it
and a YAML in conf/model whose `network.name` is the file's name. A network of the user's own is such a file in a package of
theirs, named by its dotted name (`mypackage.nets.gru`) and allowed on the command line (`allow=[mypackage]`).
"""

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from torch import Tensor, nn

from ...errors import UserError
from ...own_code import import_allowed
from ..state import State

Value = TypeVar("Value")


class Network(nn.Module):
    """What every context network is."""

    hidden: int
    read_tree: Callable[[Tensor, Tensor, Tensor], Tensor] | None = None
    kept_per_pair = 0  # numbers that are kept for the gradient for each pair of positions of a sentence; attention has some

    def forward(self, x: Tensor, state: Any = None) -> tuple[Tensor, State]:
        raise NotImplementedError

    def read(self, x: Tensor, state: Any = None) -> tuple[Tensor, State]:
        raise NotImplementedError


def names() -> list[str]:
    """The networks there are."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def build(described: Mapping[str, object], width: int, allow: Sequence[str] = ()) -> Network:
    """A network by its name and settings: a file of this folder, or a module of a package that the user allows in this call.

    What a checkpoint describes can name other code, but not allow it.
    """
    return builder(described, allow)(width, **settings_of(described))


def settings_of(described: Mapping[str, Value]) -> dict[str, Value]:
    """What a network is built with."""
    return {key: value for key, value in described.items() if key != "name"}


def builder(described: Mapping[str, object], allow: Sequence[str] = ()) -> Callable[..., Network]:
    """The `build` of a network, without building it."""
    name = str(described.get("name"))
    if name in names():
        module = importlib.import_module(f"{__name__}.{name}")
    elif "." in name:
        module = import_allowed(name, allow, "network")
    else:
        raise UserError(f"there is no network {name!r}; there are: {', '.join(names())}; one of your own goes by its dotted name")
    if not hasattr(module, "build"):
        raise UserError(f"network {name}: this module has no build(width, **settings) that makes the network")
    build: Callable[..., Network] = module.build
    return build
