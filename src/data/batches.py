"""Batches of token ids, in an order that depends only on the seed and the epoch; each rank takes its own part.

`Sentences`: whole sentences of similar length, each alone after `<eos>`, a fixed number per batch or as many as fit a number of
tokens. `Stream`: all sentences as one text, cut into columns that are read side by side in windows. In both, every token is
predicted exactly once per epoch.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from ..errors import UserError
from .block_store import gather
from .corpus import Split
from .vocabulary import EOS_ID

# The target of a position without a token; torch's losses recognise this number.
NO_TARGET = -100


@dataclass(frozen=True)
class Batch:
    """What one rank computes. `share` turns the rank's summed loss into its part of the step's mean (see `BatchPlan`)."""

    inputs: Tensor  # (B, T)
    targets: Tensor  # (B, T), NO_TARGET where there is nothing to predict
    fresh: bool  # whether the sentences start with a zero state
    words: int  # words predicted, without <eos>, over all ranks
    share: float

    def to(self, device: torch.device | str, non_blocking: bool = False) -> "Batch":
        """The same batch on another device; Lightning calls it."""
        inputs, targets = (t.to(device, non_blocking=non_blocking) for t in (self.inputs, self.targets))
        return replace(self, inputs=inputs, targets=targets)


@dataclass(frozen=True)
class BatchPlan:
    """Which part of the work is ours: rank of `world` processes; `accumulate` batches make one optimiser step."""

    rank: int = 0
    world: int = 1
    accumulate: int = 1


class Batches(Protocol):
    """All batches of an epoch; `tokens[i]` is the number of tokens in batch i over all ranks."""

    tokens: list[int]

    def __len__(self) -> int: ...

    def batch(self, index: int) -> tuple[Tensor, Tensor, bool, int]:
        """Our rank's inputs and targets, whether the state is fresh, and the words of all ranks."""


class Sentences:
    """The sentences of an epoch, shuffled, then sorted by length within pools to reduce padding, then cut into batches."""

    def __init__(
        self, split: Split, shape: "Shape", epoch: int, random: np.random.Generator, plan: BatchPlan, begins: np.ndarray | None
    ) -> None:
        self.split = split
        self.plan = plan
        self.begins = begins
        lengths, order = split.lengths(), random.permutation(len(split))
        size = shape.size_in(epoch)
        batches = [*(cut_by_number(lengths, order, size * plan.world) if size else cut_by_tokens(lengths, order, shape, plan))]
        self.batches = [batches[i] for i in random.permutation(len(batches))]
        self.tokens = [int(lengths[batch].sum()) for batch in self.batches]

    def __len__(self) -> int:
        return len(self.batches)

    def batch(self, index: int) -> tuple[Tensor, Tensor, bool, int]:
        chosen = self.batches[index]
        inputs, targets = pad_sentences(self.split, chosen[self.plan.rank :: self.plan.world])
        return inputs, targets, True, self._words(index)

    def _words(self, index: int) -> int:
        chosen = self.batches[index]
        if self.begins is None:
            return self.tokens[index] - len(chosen)
        return sum(words_in(self.split.ids[self.split.offsets[i] : self.split.offsets[i + 1]], self.begins) for i in chosen)


POOL = 50  # batches in a pool of `cut_by_number`: enough to sort, few enough that an epoch stays shuffled
TOKEN_POOL = 100  # the same for `cut_by_tokens`, whose batches are smaller; less than 2 % of novels is padding then


def cut_by_number(lengths: np.ndarray, order: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """Batches of this many sentences."""
    for pool in _sorted_pools(lengths, order, size * POOL):
        for at in range(0, len(pool), size):
            yield pool[at : at + size]


def cut_by_tokens(lengths: np.ndarray, order: np.ndarray, shape: "Shape", plan: BatchPlan) -> Iterator[np.ndarray]:
    """Batches in which a rank has at most this many tokens, padding included; a longer sentence is alone on its rank."""
    assert shape.tokens is not None
    bound, world = shape.tokens, plan.world
    size = max(round(bound * world * TOKEN_POOL / max(float(lengths.mean()), 1)), 1) if len(lengths) else 1
    for pool in _sorted_pools(lengths, order, size):
        widths = lengths[pool].tolist()
        start = 0
        while start < len(pool):
            # Widths increase, and so does the cost of a batch from here to there: bisection finds the last that fits.
            taken = partial(_tokens_of_rank, widths, start, world)
            fits = bisect_right(range(start, len(pool)), bound, key=taken)
            end = min(start + max(fits, world), len(pool))
            yield pool[start:end]
            start = end


def _tokens_of_rank(widths: list[int], start: int, world: int, last: int) -> int:
    """For a batch from `start` to `last`, the widest: the first rank's tokens, padding included."""
    return math.ceil((last - start + 1) / world) * widths[last]


def _sorted_pools(lengths: np.ndarray, order: np.ndarray, size: int) -> Iterator[np.ndarray]:
    for start in range(0, len(order), size):
        pool = order[start : start + size]
        yield pool[np.argsort(lengths[pool], kind="stable")]


def words_in(ids: np.ndarray, begins: np.ndarray | None) -> int:
    """Without <eos> and padding; for pieces, only those that begin a word."""
    tokens = ids[(ids != EOS_ID) & (ids != NO_TARGET)]
    return len(tokens) if begins is None else int(begins[tokens].sum())


def pad_sentences(split: Split, chosen: np.ndarray) -> tuple[Tensor, Tensor]:
    """Sentences side by side, shorter ones padded on the right, where nothing depends on it."""
    if not len(chosen):
        # A rank without a sentence in the last batch still takes part in the step, with nothing to predict.
        return torch.full((1, 1), EOS_ID), torch.full((1, 1), NO_TARGET)
    starts, ends = split.offsets[chosen], split.offsets[chosen + 1]
    width = int((ends - starts).max())
    targets = np.full((len(chosen), width), NO_TARGET, dtype=np.int64)
    inputs = np.full((len(chosen), width), EOS_ID, dtype=np.int64)  # precedes every sentence
    for row, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        sentence = split.ids[start:end]
        targets[row, : end - start] = sentence
        inputs[row, 1 : end - start] = sentence[:-1]
    return torch.from_numpy(inputs), torch.from_numpy(targets)


class Stream:
    """The sentences of an epoch in random order as one text, in columns: rank r reads columns r, r + world, …"""

    def __init__(
        self, split: Split, columns: int, window: int, random: np.random.Generator, plan: BatchPlan, begins: np.ndarray | None
    ) -> None:
        order = random.permutation(len(split))
        tokens = gather(np.asarray(split.ids), split.offsets[order], split.lengths()[order])
        wide = columns * plan.world
        height = math.ceil(len(tokens) / wide)
        # Inputs and targets are two views of one text, one token apart; the very first token follows <eos>.
        text = np.full(height * wide + 1, NO_TARGET, dtype=np.int32)
        text[0] = EOS_ID
        text[1 : len(tokens) + 1] = tokens
        self.inputs = text[:-1].reshape(wide, height)  # a row is a column of the stream
        self.targets = text[1:].reshape(wide, height)
        self.window = window
        self.plan = plan
        windows = [self.targets[:, at : at + window] for at in range(0, height, window)]
        self.tokens = [int((w != NO_TARGET).sum()) for w in windows]
        self.words = [words_in(w, begins) for w in windows]

    def __len__(self) -> int:
        return len(self.tokens)

    def batch(self, index: int) -> tuple[Tensor, Tensor, bool, int]:
        window = slice(index * self.window, (index + 1) * self.window)
        ours = slice(self.plan.rank, None, self.plan.world)
        inputs = np.maximum(self.inputs[ours, window], 0).astype(np.int64)  # past the end: any token, nothing to predict
        targets = self.targets[ours, window].astype(np.int64)
        return torch.from_numpy(inputs), torch.from_numpy(targets), index == 0, self.words[index]


@dataclass(frozen=True)
class Shape:
    """How a text is divided: sentences per batch, or columns and window length; possibly fewer in the first epoch.

    Without a number of sentences, by tokens: as many sentences as fit, padding included.
    """

    batch_size: int | None
    window: int | None = None
    first_epoch: int | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        assert (self.batch_size is None) != (self.tokens is None), "a batch is cut by sentences or by tokens"
        assert self.batch_size is not None or self.window is None, "a stream has columns"

    def size_in(self, epoch: int) -> int | None:
        """Sentences or columns; None if tokens decide."""
        return self.first_epoch if epoch == 0 and self.first_epoch else self.batch_size

    @property
    def varies(self) -> bool:
        """Whether epochs differ in their number of batches."""
        return self.first_epoch is not None or self.tokens is not None


class Loader:
    """Endless epochs of training batches: sized, so that Lightning never prefetches, and resumable in mid-epoch.

    Its place is the same on every rank. The checkpoint keeps it with the rest of the training state; Lightning would forget
    a loader's state at the end of an epoch.
    """

    def __init__(self, split: Split, shape: Shape, seed: int, plan: BatchPlan, begins: Sequence[bool] | None = None) -> None:
        self.split = split
        self.shape = shape
        self.seed = seed
        self.plan = plan
        self.begins = None if begins is None else np.asarray(begins)  # which tokens begin a word, (V,); None if all do
        self.epoch = -1
        self.position = 0
        self.resumed = False
        self.counted: tuple[int, int] | None = None  # an epoch and its number of batches

    def _epoch(self, epoch: int) -> Batches:
        random = np.random.Generator(np.random.PCG64(np.random.SeedSequence([self.seed, epoch])))
        size = self.shape.size_in(epoch)
        if size is None or self.shape.window is None:
            return Sentences(self.split, self.shape, epoch, random, self.plan, self.begins)
        return Stream(self.split, size, self.shape.window, random, self.plan, self.begins)

    def batches_in(self, epoch: int) -> int:
        """Batches of an epoch, on every rank."""
        size = self.shape.size_in(epoch)
        if size is None:  # it then depends on which sentences come together; Lightning asks often
            if self.counted is None or self.counted[0] != epoch:
                self.counted = (epoch, len(self._epoch(epoch)))
            return self.counted[1]
        wide = size * self.plan.world
        if self.shape.window is None:
            return math.ceil(len(self.split) / wide)
        height = math.ceil(self.split.tokens / wide)
        return math.ceil(height / self.shape.window)

    def steps_in(self, epoch: int) -> int:
        """Optimiser steps in an epoch; the last may have fewer batches than it accumulates."""
        return math.ceil(self.batches_in(epoch) / self.plan.accumulate)

    def horizon(self, epochs: int) -> tuple[int, int]:
        """Optimiser steps in all epochs, and in the first.

        Cut by tokens, epochs differ by a few steps in a thousand, and the second represents all later ones.
        """
        first = self.steps_in(0)
        return first + self.steps_in(1) * (epochs - 1), first

    def __len__(self) -> int:
        """The length of the next epoch."""
        return self.batches_in(self.epoch if self.resumed else self.epoch + 1)

    def __iter__(self) -> Iterator[Batch]:
        # Lightning leaves a finished epoch's generator unexhausted, so an epoch begins here, not after the last yield.
        if self.resumed:
            self.resumed = False
        else:
            self.epoch += 1
            self.position = 0
        batches = self._epoch(self.epoch)
        while self.position < len(batches):
            index = self.position
            self.position += 1
            inputs, targets, fresh, words = batches.batch(index)
            yield Batch(inputs, targets, fresh, words, self._share(batches, index))

    def _share(self, batches: Batches, index: int) -> float:
        """Lightning divides by `accumulate` and DDP by `world`; what must remain is one over the tokens of the whole step."""
        first = index - index % self.plan.accumulate
        tokens = sum(batches.tokens[first : first + self.plan.accumulate])
        return self.plan.world * self.plan.accumulate / tokens

    def place(self) -> dict[str, int]:
        """Where it is."""
        return {"epoch": self.epoch, "position": self.position, "world": self.plan.world, "accumulate": self.plan.accumulate}

    def go_to(self, place: dict[str, int]) -> None:
        """Resume from there; a different number of processes would mean different batches."""
        for name, now in (("world", self.plan.world), ("accumulate", self.plan.accumulate)):
            if place[name] != now:
                what = "processes (trainer.devices × num_nodes)" if name == "world" else "trainer.accumulate_grad_batches"
                raise UserError(f"the checkpoint was made with {place[name]} {what}, not {now}; resume with the same number")
        self.epoch, self.position = place["epoch"], place["position"]
        # At the end of an epoch nothing is left of it: the next iteration is the next epoch.
        self.resumed = self.position < self.batches_in(self.epoch)


class EvaluationLoader:
    """Every sentence of a split once, in batches of at most this many tokens per rank; rank r takes sentences r, r + world, …"""

    def __init__(self, split: Split, tokens: int, plan: BatchPlan) -> None:
        self.split = split
        self.plan = plan
        order = np.argsort(split.lengths(), kind="stable")
        widths = split.lengths()[order].tolist()
        self.batches: list[np.ndarray] = []
        start = 0
        for at in range(1, len(order) + 1):
            if at == len(order) or _tokens_of_rank(widths, start, plan.world, at) > tokens:
                self.batches.append(order[start:at])
                start = at

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[Batch]:
        for chosen in self.batches:
            inputs, targets = pad_sentences(self.split, chosen[self.plan.rank :: self.plan.world])
            yield Batch(inputs, targets, True, words_in(targets.numpy(), None), 1.0)
