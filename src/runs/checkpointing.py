"""Checkpoints during training: the best, the last, and some by words seen; written all or nothing.

On a stop signal a run finishes the step and saves; its exit status says that it is not finished.
"""

import errno
import io
import math
import os
import shutil
import signal
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning import Callback
from pytorch_lightning.plugins.io import TorchCheckpointIO

from ..files import replace_atomically
from ..lm.checkpoints import CheckpointError
from ..lm.training import Training
from ..settings.training_settings import CheckpointSettings
from .metrics_file import MetricsFile
from .stopping import SAVED, SIGNALS, Interrupted, stop_now

BEST, LAST = "best.ckpt", "last.ckpt"
# Several processes must agree on the step; asking costs a message, so they ask every N steps.
ASK_EVERY = 10


class CheckpointWriter(TorchCheckpointIO):
    """Writes beside the target and syncs to disk. Lightning goes through TMPDIR, which may fill up or be left littered."""

    def save_checkpoint(self, checkpoint: dict[str, object], path: str | Path, storage_options: object = None) -> None:
        whole = io.BytesIO()  # writing to a full disk, torch does not report it
        torch.save(checkpoint, whole)
        with replace_atomically(Path(path)) as beside:
            beside.write_bytes(whole.getbuffer())


class Checkpoints(Callback):
    """`last` every N steps and after every epoch; `best` by a metric; one more at each of `at_words` words seen."""

    def __init__(self, folder: Path, settings: CheckpointSettings, metrics: MetricsFile) -> None:
        self.folder = folder
        self.monitor = settings.monitor
        self.sign = 1 if settings.mode == "min" else -1
        self.every_n_steps = settings.every_n_steps
        self.at_words = sorted(settings.at_words)
        self.done_words: list[int] = []
        self.metrics = metrics
        self.best = math.inf
        self.best_epoch = -1
        self.stopped = False

    def state_dict(self) -> dict[str, object]:
        return {
            "best": self.best,
            "best_epoch": self.best_epoch,
            "done_words": self.done_words,
            "rows": self.metrics.rows,
            "stopped": self.stopped,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        # A checkpoint of another run knows of a best that is not here.
        if (self.folder / BEST).exists():
            self.best, self.best_epoch = state["best"], state["best_epoch"]
        self.done_words = state["done_words"]
        self.stopped = state["stopped"]
        self.metrics.keep(state["rows"])

    def on_train_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        # A run that had already decided to stop early when it was interrupted has nothing left to train.
        trainer.should_stop = self.stopped

    def on_train_batch_end(
        self, trainer: pl.Trainer, module: pl.LightningModule, outputs: object, batch: object, batch_idx: int
    ) -> None:
        assert isinstance(module, Training)
        done = batch_idx + 1
        stepped = done % trainer.accumulate_grad_batches == 0
        # The end of an epoch saves after its validation; within an accumulated step there is nothing to resume from.
        if done == trainer.num_training_batches or not stepped:
            return
        self._by_words(trainer, module.words_seen)
        if self.every_n_steps and trainer.global_step % self.every_n_steps == 0:
            self.save_last(trainer)

    def on_train_epoch_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        assert isinstance(module, Training)
        self.stopped = trainer.should_stop
        value = self.sign * float(trainer.callback_metrics[self.monitor])
        improved = value < self.best or self.best_epoch < 0
        if improved:
            self.best, self.best_epoch = value, trainer.current_epoch
        self._by_words(trainer, module.words_seen)
        self.save_last(trainer, best_too=improved)

    def _by_words(self, trainer: pl.Trainer, seen: int) -> None:
        """One file for each word count reached since the last check."""
        for words in self.at_words:
            if words <= seen and words not in self.done_words:
                self.done_words.append(words)
                self._save(trainer, self.folder / f"words-{words}.ckpt")

    def save_last(self, trainer: pl.Trainer, best_too: bool = False) -> None:
        """All ranks take part; the first writes. `best` first: a run that dies in between finds the best again."""
        self._save(trainer, self.folder / LAST, *([self.folder / BEST] if best_too else []))

    def _save(self, trainer: pl.Trainer, file: Path, *copies: Path) -> None:
        temporary = file.with_suffix(".new")
        try:
            trainer.save_checkpoint(temporary)
            if trainer.is_global_zero:
                for copy in copies:
                    with replace_atomically(copy) as beside:
                        shutil.copyfile(temporary, beside)
                os.replace(temporary, file)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            reason = "the disk is full" if error.errno == errno.ENOSPC else str(error)
            raise CheckpointError(
                f"{file}: cannot be written: {reason}. The previous checkpoint is kept; free some space, "
                "then resume with ckpt_path=auto"
            ) from error


def rows_known_to(checkpoint: Mapping[str, Any]) -> int:
    """How many rows metrics.csv had when this checkpoint was written."""
    return int(checkpoint.get("callbacks", {}).get(Checkpoints.__qualname__, {}).get("rows", 0))


class Interruption(Callback):
    """SIGTERM, SIGUSR1, SIGUSR2 and Ctrl-C: finish the step, save, and exit with a distinct status."""

    def __init__(self, checkpoints: Checkpoints) -> None:
        self.checkpoints = checkpoints
        self.received = 0

    def on_train_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        # Lightning's own handler, set just before, would exit with status 0; it restores the originals at the end.
        for number in SIGNALS:
            signal.signal(number, self._receive)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        # A second Ctrl-C means now. Not a KeyboardInterrupt, after which Lightning exits with its own status.
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
        """Runs after `Checkpoints`, which has just saved."""
        if number := self._agreed(trainer, now=True):
            raise Interrupted(number, SAVED)

    def on_test_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        """Everything is saved by now, and the final measurements can be repeated."""
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
