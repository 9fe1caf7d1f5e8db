"""Questions to a model: in this input, at this position, how probable is this piece? Equal inputs are read once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Ids = NDArray[np.int64]
Advance = Callable[[float], None]


def no_progress(share: float) -> None:
    """For work whose progress nobody follows."""


class AskedModel(Protocol):
    """A model as a function from pieces to log-probabilities; `pad` fills up inputs."""

    pad: int

    def __call__(self, inputs: Mapping[str, Tensor], places: Tensor, asked: Tensor, pieces: Tensor) -> NDArray[np.float32]: ...


class Questions:
    """Distinct inputs, each with its questions; equal questions share a number."""

    def __init__(self) -> None:
        self.rows: dict[bytes, int] = {}
        self.inputs: list[Ids] = []
        self.asked: list[dict[tuple[int, int], int]] = []  # for each input: (place, piece) → question number
        self.count = 0

    def ask(self, ids: Ids, place: int, piece: int) -> int:
        row = self.rows.setdefault(ids.tobytes(), len(self.inputs))
        if row == len(self.inputs):
            self.inputs.append(ids)
            self.asked.append({})
        number = self.asked[row].setdefault((place, piece), self.count)
        self.count += number == self.count
        return number

    def answers(
        self, forward: AskedModel, tokens: int, advance: Advance = no_progress, rank: int = 0, world: int = 1
    ) -> NDArray[np.float32]:
        """The log-probability for each question; with several processes, each reads every `world`-th batch (0 elsewhere)."""
        found = np.zeros(self.count, np.float32)
        for rows in list(batches([len(ids) for ids in self.inputs], tokens))[rank::world]:
            inputs = pad([self.inputs[row] for row in rows], forward.pad)
            length = inputs["input_ids"].shape[1]
            places: dict[int, int] = {}
            asked, pieces, numbers = [], [], []
            for b, row in enumerate(rows):
                for (place, piece), number in self.asked[row].items():
                    asked.append(places.setdefault(b * length + place, len(places)))
                    pieces.append(piece)
                    numbers.append(number)
            found[numbers] = forward(inputs, torch.tensor(list(places)), torch.tensor(asked), torch.tensor(pieces))
            advance(len(rows) * world / len(self.inputs))
        return found


def batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Rows of similar length, at most this many tokens at a time (at least one row)."""
    # The longest first, so that a lack of memory shows at once.
    order = sorted(range(len(lengths)), key=lambda row: -lengths[row])
    first = 0
    while first < len(order):
        size = max(1, tokens // max(lengths[order[first]], 1))
        yield order[first : first + size]
        first += size


def pad(rows: Sequence[Ids], pad: int) -> dict[str, torch.Tensor]:
    """Padded on the right, which no model sees."""
    longest = max(map(len, rows))
    ids = torch.full((len(rows), longest), pad)
    mask = torch.zeros((len(rows), longest), dtype=torch.long)
    for b, row in enumerate(rows):
        ids[b, : len(row)] = torch.from_numpy(row)
        mask[b, : len(row)] = 1
    return {"input_ids": ids, "attention_mask": mask}
