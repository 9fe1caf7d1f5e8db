"""SIGTERM, SIGUSR1, SIGUSR2 and Ctrl-C: finish the step, save, and leave with a status that says the run is not finished."""

import signal
from types import FrameType

import pytorch_lightning as pl
import torch
from pytorch_lightning import Callback

from .checkpointing import Checkpoints
from .signals import SAVED, SIGNALS, Interrupted, stop_now

# With several processes they must agree on the step; asking costs a message, so they ask every N steps.
ASK_EVERY = 10


class Interruption(Callback):
    def __init__(self, checkpoints: Checkpoints) -> None:
        self.checkpoints = checkpoints
        self.received = 0

    def on_train_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        # Lightning's own handler, set just before, would leave with status 0; it puts the original ones back at the end.
        for number in SIGNALS:
            signal.signal(number, self._receive)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        # A second Ctrl-C means now. Not a KeyboardInterrupt, after which Lightning leaves with a status of its own.
        if number == self.received == signal.SIGINT:
            raise Interrupted(number)
        self.received = number

    def on_train_batch_end(
        self, trainer: pl.Trainer, module: pl.LightningModule, outputs: object, batch: object, batch_idx: int
    ) -> None:
        done = batch_idx + 1
        if done == trainer.num_training_batches or done % trainer.accumulate_grad_batches:
            return
        if number := self._agreed(trainer):
            self.checkpoints.save_last(trainer)
            raise Interrupted(number, SAVED)

    def on_train_epoch_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        """Comes after `Checkpoints`, which has just saved."""
        if number := self._agreed(trainer, now=True):
            raise Interrupted(number, SAVED)

    def on_test_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        """Everything is saved by now, and what is measured at the end is measured again."""
        for number in SIGNALS:
            signal.signal(number, stop_now)

    def _agreed(self, trainer: pl.Trainer, now: bool = False) -> int:
        if trainer.world_size == 1:
            return self.received
        if not now and trainer.global_step % ASK_EVERY:
            return 0
        answer = torch.tensor(self.received, device=trainer.strategy.root_device)
        torch.distributed.all_reduce(answer, torch.distributed.ReduceOp.MAX)
        return int(answer)
