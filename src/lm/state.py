"""What a network carries from one position to the next: a tensor, or tuples, lists and dicts of such states, nested as it likes.

Every tensor has B in second place, so that rows can be picked, joined, and sent to another device without knowing the network.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import torch
from torch import Tensor

from ..errors import UserError

State: TypeAlias = "Tensor | tuple[State, ...] | list[State] | dict[str, State] | None"


def map_tensors(function: Callable[..., Tensor], first: State, *others: Any) -> State:
    """The same structure with the function applied to each tensor, of one state or of several that are alike."""
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
    """The rows of several states, one after the other."""
    return map_tensors(lambda *parts: torch.cat(parts, dim=1), *states)


def check_rows(state: State, rows: int) -> None:
    """Whether a network keeps to what every state must be."""
    for part in tensors_in(state):
        if part.dim() < 2 or part.shape[1] != rows:
            shape = tuple(part.shape)
            raise UserError(
                f"a network's state has a tensor of shape {shape}; the rows of the batch ({rows}) come second in each"
            )
