"""Checkpoints: the best, the last, and some by words seen; written whole or not at all."""

import errno
import math
import os
import shutil
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning import Callback

from data.errors import UserError
from data.tokenizer import Tokenizer, restored

from .metrics_file import MetricsFile
from .model import Architecture, LanguageModel
from .training import Training

BEST, LAST = "best.ckpt", "last.ckpt"


class CheckpointError(UserError):
    """A checkpoint that cannot be used, or cannot be written."""


class Checkpoints(Callback):
    """`last` every so many steps and after every epoch; `best` by a metric; one more at each of `at_words` words seen."""

    def __init__(
        self, folder: Path, monitor: str, mode: str, every_n_steps: int, at_words: list[int], metrics: MetricsFile
    ) -> None:
        if mode not in ("min", "max"):
            raise UserError(f"callbacks.checkpoints.mode={mode}: write min or max")
        self.folder = folder
        self.monitor = monitor
        self.sign = 1 if mode == "min" else -1
        self.every_n_steps = every_n_steps
        self.at_words = sorted(at_words)
        self.done_words: list[int] = []
        self.metrics = metrics
        self.best = math.inf
        self.best_epoch = -1
        self.stopped = False

    def state_dict(self) -> dict[str, Any]:
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
        self, trainer: pl.Trainer, module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        assert isinstance(module, Training)
        done = batch_idx + 1
        stepped = done % trainer.accumulate_grad_batches == 0
        # The end of an epoch saves after its validation; in the middle of an accumulated step there is nothing to go on from.
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
                    shutil.copyfile(temporary, copy.with_suffix(".copy"))
                    os.replace(copy.with_suffix(".copy"), copy)
                os.replace(temporary, file)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            reason = "the disk is full" if error.errno == errno.ENOSPC else str(error)
            raise CheckpointError(
                f"{file}: cannot be written: {reason}. The checkpoint before it is kept; make room and go on with ckpt_path=auto"
            ) from error


def read(file: Path | str) -> dict[str, Any]:
    """Everything in a checkpoint of ours. Nothing in the file can run."""
    file = Path(file)
    if not file.is_file():
        raise CheckpointError(f"{file}: there is no such checkpoint")
    try:
        saved = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many kinds for a file that is not one of its own
        kind = type(error).__name__
        raise CheckpointError(f"{file}: cannot be read as a checkpoint ({kind}); it is damaged or another program's") from None
    if not isinstance(saved, dict) or "concord" not in saved:
        raise CheckpointError(f"{file}: this is not a checkpoint of train.py")
    return saved


def load(file: Path | str) -> tuple[LanguageModel, Tokenizer, dict[str, Any]]:
    """The model with its weights, its words or pieces of words, and what else the checkpoint says of it."""
    saved = read(file)
    about = saved["concord"]
    model = LanguageModel(Architecture(**about["architecture"]))
    weights = {name.removeprefix("model."): value for name, value in saved["state_dict"].items() if name.startswith("model.")}
    model.load_state_dict(weights)
    return model.eval(), restored(about), about


def check_fits(file: Path, model: LanguageModel, tokenizer: Tokenizer) -> None:
    """Before any work: whether training can go on from this file with this model."""
    about = read(file)["concord"]
    wanted, found = model.architecture.plain(), about["architecture"]
    differing = [f"{key} {found.get(key)} there, {wanted[key]} here" for key in wanted if found.get(key) != wanted[key]]
    if differing:
        what = "; ".join(differing)
        raise CheckpointError(f"{file}: a checkpoint of another shape: {what}. Use the settings it was trained with")
    if restored(about).digest() != tokenizer.digest():
        raise CheckpointError(f"{file}: its vocabulary is not that of this corpus; use the data it was trained with")
