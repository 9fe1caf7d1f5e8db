"""Context networks: what is between the embedding of words and the prediction of the next one.

A network is a file here with a `build(width, **settings)` that returns a module with
    hidden: int                                    its width H
    forward(x, state) -> (y, state)                (B, T, D) → (B, T, H); state is None at the start of a sentence
    read(x, state) -> (y, state)                   the same, but the state remembers everything read, so that any network can
                                                   continue word by word
A state is what a network carries from one position to the next: a tensor, or nested tuples, lists and dicts of such states.
Every tensor has B in second place, so that rows can be selected, joined and moved to another device whatever the network is.
A network whose positions attend to each other can also have
    read_tree(x, depths, mask) -> y                many sentences with shared beginnings as one row of nodes, (1, N, D) →
                                                   (1, N, H): each is at its depth and attends to what `mask`, (N, N), shows
and a YAML in conf/model whose `network.name` is the file's name. A user-defined network is such a file in the user's own
package, given by its dotted name (`mypackage.nets.gru`) and allowed on the command line (`allow=[mypackage]`).
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import torch
from torch import Tensor, nn

from ...errors import UserError
from ...own_code import import_allowed

Value = TypeVar("Value")
State: TypeAlias = "Tensor | tuple[State, ...] | list[State] | dict[str, State] | None"


class Network(nn.Module):
    """What every context network is."""

    hidden: int
    read_tree: Callable[[Tensor, Tensor, Tensor], Tensor] | None = None
    kept_per_pair = 0  # numbers kept for the gradient for each pair of positions of a sentence; attention has some

    def forward(self, x: Tensor, state: Any = None) -> tuple[Tensor, State]:
        raise NotImplementedError

    def read(self, x: Tensor, state: Any = None) -> tuple[Tensor, State]:
        raise NotImplementedError


def names() -> list[str]:
    """The available networks."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def build(described: Mapping[str, object], width: int, allow: Sequence[str] = ()) -> Network:
    """A network by its name and settings: a file in this folder, or a module of a package that the user allows in this call.

    A checkpoint's description can name other code, but not allow it.
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
        raise UserError(f"no network {name!r}; available: {', '.join(names())}; give your own by its dotted name")
    if not hasattr(module, "build"):
        raise UserError(f"network {name}: this module has no build(width, **settings) to make the network")
    build: Callable[..., Network] = module.build
    return build


def map_tensors(function: Callable[..., Tensor], first: State, *others: Any) -> State:
    """The same structure with the function applied to each tensor, of one state or of several alike."""
    if first is None:
        return None
    if isinstance(first, Tensor):
        return function(first, *others)
    if type(first) is dict:
        return {key: map_tensors(function, value, *(other[key] for other in others)) for key, value in first.items()}
    if type(first) is tuple or type(first) is list:
        mapped = (map_tensors(function, *each) for each in zip(first, *others, strict=True))
        return tuple(mapped) if type(first) is tuple else list(mapped)
    raise UserError(f"a network's state holds a {type(first).__name__}; it may hold tensors in tuples, lists and dicts")


def tensors_in(state: State) -> Iterator[Tensor]:
    """All tensors of a state."""
    found: list[Tensor] = []
    map_tensors(lambda part: found.append(part) or part, state)  # type: ignore[func-returns-value]
    yield from found


def pick_rows(state: State, rows: Tensor | slice) -> State:
    """The states of some rows of the batch."""
    return map_tensors(lambda part: part[:, rows], state)


def join_rows(states: list[State]) -> State:
    """The rows of several states, one after another."""
    return map_tensors(lambda *parts: torch.cat(parts, dim=1), *states)


def check_rows(state: State, rows: int) -> None:
    """Check that a network's state is what every state must be."""
    for part in tensors_in(state):
        if part.dim() < 2 or part.shape[1] != rows:
            shape = tuple(part.shape)
            raise UserError(
                f"a network's state has a tensor of shape {shape}; the batch dimension ({rows}) must come second in each"
            )
