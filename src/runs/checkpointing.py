"""Checkpoints while a run trains: the best, the last, and some by words seen; written whole or not at all."""

import errno
import io
import math
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
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

BEST, LAST = "best.ckpt", "last.ckpt"


class CheckpointWriter(TorchCheckpointIO):
    """Writes beside the target and to the disk. Lightning's own way leads through TMPDIR, which may be full or left littered."""

    def save_checkpoint(self, checkpoint: dict[str, object], path: str | Path, storage_options: object = None) -> None:
        whole = io.BytesIO()  # torch, writing to a full disk, says nothing of it
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
        # A run that had decided to stop early when it was interrupted has nothing left to train.
        trainer.should_stop = self.stopped

    def on_train_batch_end(
        self, trainer: pl.Trainer, module: pl.LightningModule, outputs: object, batch: object, batch_idx: int
    ) -> None:
        assert isinstance(module, Training)
        done = batch_idx + 1
        stepped = done % trainer.accumulate_grad_batches == 0
        # The end of an epoch saves after its validation; in the middle of an accumulated step there is nothing to resume from.
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
        """One file for every number of words that has been reached since the last look."""
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
                f"{file}: cannot be written: {reason}. The checkpoint before it is kept; free some space, "
                "then resume with ckpt_path=auto"
            ) from error


def rows_known_to(checkpoint: Mapping[str, Any]) -> int:
    """How many rows metrics.csv had when this checkpoint was written."""
    return int(checkpoint.get("callbacks", {}).get(Checkpoints.__qualname__, {}).get("rows", 0))
