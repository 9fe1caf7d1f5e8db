"""Training as Lightning sees it: what happens in a step, what is measured, and what a checkpoint must store."""

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from pytorch_lightning import Callback
from torch import Tensor
from torch.optim import Optimizer

from .. import metric_names
from ..data.batches import Batch, Loader
from ..errors import UserError
from ..metric_names import EPOCH, LEARNING_RATE, TRAIN_LOSS, WORDS_PER_SECOND, WORDS_SEEN
from .loss import summed_nll
from .model import LanguageModel
from .networks import State, map_tensors
from .optimisation import Schedule, optimizer
from .perplexity import Tally, word_mask, words_among
from .precision import full_precision


class NotFinite(UserError):
    """The loss or the weights are no longer finite."""


class Training(pl.LightningModule):
    """Trains a model. `about` is what the checkpoint records about it besides the weights, in plain values.

    The randomness of a step (dropout) depends only on the seed, the epoch, the batch and the rank. So none of it has to be
    saved, and whatever else draws random numbers in between changes nothing.
    """

    def __init__(
        self,
        model: LanguageModel,
        schedule: Schedule,
        optimizer_settings: dict[str, Any],
        seed: int,
        about: dict[str, object],
        loader: Loader,
        languages: Sequence[str] = (),
        begins: Sequence[bool] | None = None,
    ) -> None:
        super().__init__()
        self.model = model
        self.schedule = schedule
        self.optimizer_settings = optimizer_settings
        self.seed = seed
        self.about = about
        self.loader = loader
        self.contexts = model.contexts
        self.state: State = None  # of the network at the end of the last window, if windows follow each other
        self.words_seen = 0
        self.since_log = Tally()
        self.in_epoch = Tally()  # for display
        # With several languages, each has its own evaluation loader, in this order.
        self.languages = tuple(languages)
        self.word_mask: Tensor | None
        self.register_buffer("word_mask", word_mask(begins), persistent=False)
        self.evaluated = [Tally()]
        self.row: dict[str, float] = {}
        self.clock = (time.perf_counter(), 0)

    # ------------------------------------------------------------------ steps

    def configure_optimizers(self) -> Optimizer:
        return optimizer(self.model.parameters(), **self.optimizer_settings)

    def on_train_start(self) -> None:
        self.clock = (time.perf_counter(), self.words_seen)

    def on_train_batch_start(self, batch: Batch, batch_idx: int) -> None:
        place = [self.seed, self.current_epoch, batch_idx, self.global_rank]
        seed = int(np.random.SeedSequence(place).generate_state(1, np.uint64)[0] >> 1)
        # Not torch.manual_seed, which keeps a stack trace for every kind of missing accelerator: 2 ms per step.
        torch.default_generator.manual_seed(seed)
        if self.device.type == "cuda":
            torch.cuda.manual_seed(seed)
        factor = self.schedule.factor(self.global_step)
        for group in self.trainer.optimizers[0].param_groups:
            group["lr"] = self.optimizer_settings["lr"] * factor

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        state = None if batch.fresh else map_tensors(lambda part: part.to(batch.inputs.device), self.state)
        contexts, state = self.contexts(batch.inputs, state)
        nll, tokens = summed_nll(contexts, batch.targets, self.model.decoder)
        self.state = map_tensors(Tensor.detach, state) if self.loader.shape.window else None
        self.words_seen += batch.words
        self.since_log.add(nll, tokens)
        self.in_epoch.add(nll, tokens)
        if self.device.type == "cpu":
            self.check_finite()
        return nll * batch.share

    def log_if_due(self, batch_idx: int) -> None:
        """After every N optimiser steps."""
        done = batch_idx + 1
        stepped = done % self.trainer.accumulate_grad_batches == 0 or done == self.trainer.num_training_batches
        if stepped and self.global_step % self.trainer.log_every_n_steps == 0:  # type: ignore[attr-defined]
            self._log_training()

    def _log_training(self) -> None:
        self.check_finite()
        now, words = time.perf_counter(), self.words_seen
        speed = (words - self.clock[1]) / max(now - self.clock[0], 1e-9)
        self.clock = (now, words)
        self.record(
            {
                TRAIN_LOSS: self._take_loss(),
                LEARNING_RATE: self.trainer.optimizers[0].param_groups[0]["lr"],
                WORDS_PER_SECOND: speed,
            }
        )

    def _take_loss(self) -> float:
        """Nats per token since the last call, over all ranks."""
        total = self.since_log.over_all_ranks(self.device)
        self.since_log = Tally()
        return total.loss

    def _trained_since_log(self) -> bool:
        """The same answer on every rank: whether training has continued since the last logged step."""
        return self.global_step % self.trainer.log_every_n_steps != 0  # type: ignore[attr-defined]

    def check_finite(self) -> None:
        """A NaN loss stays in the sum, so checking now and then is enough."""
        if not math.isfinite(float(self.since_log.nll)):
            raise NotFinite(
                f"the loss is {float(self.since_log.nll)} at step {self.global_step:,} (epoch {self.current_epoch}); "
                "lower model.optimizer.lr or trainer.gradient_clip_val"
            )

    # ------------------------------------------------------------- evaluation

    def on_validation_epoch_start(self) -> None:
        self.evaluated = [Tally() for _ in self.languages or ("",)]

    on_test_epoch_start = on_validation_epoch_start

    def validation_step(self, batch: Batch, batch_idx: int, dataloader_idx: int = 0) -> None:
        # In 32 bits whatever training uses: a perplexity must not depend on the precision.
        with full_precision(self.device.type):
            contexts, _ = self.contexts(batch.inputs, None)
            nll, tokens = summed_nll(contexts, batch.targets, self.model.decoder)
        self.evaluated[dataloader_idx].add(nll, tokens, words_among(batch.targets, self.word_mask))

    test_step = validation_step

    def _collect_metrics(self, split: str) -> tuple[Tally, dict[str, float]]:
        """Over everything, and for each language separately."""
        each = [tally.over_all_ranks(self.device) for tally in self.evaluated]
        total = Tally()
        for tally in each:
            total.add(tally.nll, tally.tokens, tally.words)
        metrics = {metric_names.loss(split): total.loss, **self._perplexities(metric_names.perplexity(split), total)}
        for language, tally in zip(self.languages, each, strict=False):
            metrics |= self._perplexities(metric_names.perplexity(split, language), tally)
        return total, metrics

    def _perplexities(self, name: str, tally: Tally) -> dict[str, float]:
        per_word = {} if self.word_mask is None else {metric_names.per_word(name): tally.perplexity_word}
        return {name: tally.perplexity} | per_word

    def on_validation_epoch_end(self) -> None:
        total, metrics = self._collect_metrics("valid")
        self.schedule.after_validation(total.loss)
        # Training since the last row is reported here, so that even a short run has a training loss.
        rest = {TRAIN_LOSS: self._take_loss()} if self._trained_since_log() else {}
        self.publish(rest | metrics)

    def on_test_epoch_end(self) -> None:
        self.publish(self._collect_metrics("test")[1])

    def publish(self, metrics: dict[str, float]) -> None:
        """Add to the row of this evaluation; callbacks can monitor the same names (`monitor`)."""
        self.row |= metrics
        self.log_dict({name: torch.tensor(value, dtype=torch.float64) for name, value in metrics.items()}, logger=False)

    def on_validation_end(self) -> None:
        self.record(self.row)
        self.row = {}
        self.clock = (time.perf_counter(), self.words_seen)

    on_test_end = on_validation_end

    def record(self, metrics: dict[str, float]) -> None:
        """One row for every logger, on the axis of words seen."""
        row = metrics | {EPOCH: self.current_epoch, WORDS_SEEN: self.words_seen}
        for logger in self.loggers:
            logger.log_metrics(row, step=self.global_step)

    # ------------------------------------------------------------ checkpoints

    def on_save_checkpoint(self, checkpoint: dict[str, object]) -> None:
        for name, value in self.model.state_dict().items():
            if value.is_floating_point() and not bool(torch.isfinite(value).all()):
                raise NotFinite(f"{name} is no longer finite at step {self.global_step:,}; the last checkpoint is kept")
        checkpoint["concord"] = self.about | {"architecture": self.model.architecture.plain()}
        checkpoint["training"] = {
            "words_seen": self.words_seen,
            "since_log": self.since_log.of_each_rank(self.device),
            "in_epoch": self.in_epoch.of_each_rank(self.device),
            "schedule": self.schedule.state_dict(),
            "state": _gather_ranks(self.state),
            "place": self.loader.place(),
        }

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        saved = checkpoint["training"]
        self.loader.go_to(saved["place"])
        self.words_seen = saved["words_seen"]
        self.schedule.load_state_dict(saved["schedule"])
        self.since_log = Tally.of(saved["since_log"][self.global_rank])
        # Checkpoints of older versions do not have it: their epoch is counted from where it was stopped.
        self.in_epoch = Tally.of(saved["in_epoch"][self.global_rank]) if "in_epoch" in saved else Tally()
        self.state = _rows_of_rank(saved["state"], self.global_rank, self.trainer.world_size)


class TrainingLog(Callback):
    """Lets the module log. A callback, because callbacks run before the module itself, and a checkpoint must know of the row."""

    def on_train_batch_end(
        self, trainer: pl.Trainer, module: pl.LightningModule, outputs: object, batch: object, batch_idx: int
    ) -> None:
        assert isinstance(module, Training)
        module.log_if_due(batch_idx)


def _gather_ranks(state: State) -> State:
    """The states of all ranks side by side, in the order of the stream's columns: rank r has columns r, r + world, …"""
    if not torch.distributed.is_initialized():
        return state
    world = torch.distributed.get_world_size()

    def gather(part: Tensor) -> Tensor:  # (L, B, …)
        pieces = [torch.empty_like(part) for _ in range(world)]
        torch.distributed.all_gather(pieces, part.contiguous())
        return torch.stack(pieces, dim=2).flatten(1, 2)

    return map_tensors(gather, state)


def _rows_of_rank(state: State, rank: int, world: int) -> State:
    return map_tensors(lambda part: part[:, rank::world].contiguous(), state)
