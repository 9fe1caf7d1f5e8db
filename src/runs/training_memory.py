"""How much memory training will take, before anything of that size is built; the system would kill it without warning."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch

from ..data.batches import Shape
from ..errors import UserError
from ..lm.loss import ROWS, SMALL
from ..lm.model import Architecture, LanguageModel
from ..machine import free_memory

BYTES = 4  # weights, gradients and optimiser state are 32 bits wide
# Numbers that an optimiser keeps per weight.
REMEMBERED = {"adam": 2, "adamw": 2, "sgd": 0}
LONG = 500  # words; anyone with such sentences will want to know
Allow = Sequence[str]


class BatchSize(NamedTuple):
    sentences: int
    length: int


@dataclass(frozen=True)
class MemoryNeed:
    """In bytes. `states` is roughly what the network keeps of every position for the gradient."""

    weights: int
    gradients: int
    optimiser: int
    logits: int
    states: int

    @property
    def total(self) -> int:
        return self.weights + self.gradients + self.optimiser + self.logits + self.states

    def __str__(self) -> str:
        parts = ("weights", "gradients", "optimiser", "logits", "states")
        return f"{_size(self.total)} ({', '.join(f'{name} {_size(getattr(self, name))}' for name in parts)})"


def estimate_memory(
    architecture: Architecture, optimizer: Mapping[str, object], batch: BatchSize, allow: Allow = (), rows_at_once: int = ROWS
) -> MemoryNeed:
    """For batches of this size; `rows_at_once`: of logits.

    The network is inspected without being built, so that any network can be.
    """
    with torch.device("meta"):
        model = LanguageModel(architecture, allow)
    parameters = model.parameter_count() * BYTES
    remembered = 1 if optimizer.get("momentum") else REMEMBERED.get(str(optimizer.get("name")), 2)
    # Each matrix produces as many numbers per position as it has rows; they are kept before and after the next operation.
    rows = sum(value.shape[0] for value in model.network.parameters() if value.dim() > 1)
    vocabulary, tokens = architecture.vocabulary_size, batch.sentences * batch.length
    pairs = batch.sentences * batch.length**2 * model.network.kept_per_pair
    return MemoryNeed(
        weights=parameters,
        gradients=parameters,
        optimiser=remembered * parameters,
        logits=3 * BYTES * min(max(rows_at_once * vocabulary, SMALL), tokens * vocabulary),
        states=BYTES * (tokens * (2 * rows + 3 * architecture.embedding) + pairs),
    )


def must_fit(need: MemoryNeed, accelerator: str, processes: int, batch: BatchSize) -> None:
    """Refuse what cannot work, with the numbers. `processes` share this machine."""
    free, where = available_memory(accelerator)
    share = free // max(processes, 1) if where == "this machine" else free
    if need.total > share:
        beside = f" for each of {processes} processes" if share != free else ""
        longest = f" for sentences of {batch.length:,} words (the longest)" if batch.length > LONG else ""
        remedy = (
            "split such sentences, data.window=35" if longest else "model.embedding, model.network, tokenizer.vocabulary_size"
        )
        raise UserError(
            f"training would take about {need}{longest}, but {where} has {_size(share)} free{beside}; make it smaller "
            f"({remedy}, data.batch_tokens, data.batch_size), or try it with force=true"
        )


def largest_batch(shape: Shape, longest: int) -> BatchSize:
    """For a stream, as long as its window; by tokens, as many of the longest sentences as fit, at least one; otherwise a full
    batch of sentences of the greatest length.
    """
    if shape.tokens:
        return BatchSize(max(shape.tokens // longest, 1), longest)
    return BatchSize(shape.batch_size or 1, shape.window or longest)


def available_memory(accelerator: str) -> tuple[float, str]:
    """In bytes, and of what: the GPU if training uses one, otherwise this machine or a job's share of it."""
    return (torch.cuda.mem_get_info()[0], "the GPU") if device_type(accelerator) == "cuda" else (free_memory(), "this machine")


def device_type(accelerator: str) -> str:
    """Where training keeps its tensors; Apple's GPUs share the machine's memory."""
    return "cuda" if accelerator != "cpu" and torch.cuda.is_available() else "cpu"


def _size(size: float) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e8 else f"{size / 1e6:,.1f} MB"
