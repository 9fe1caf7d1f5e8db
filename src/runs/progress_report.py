"""What one sees while a model trains: a bar in a terminal, and a line after every epoch."""

import logging
import math
import time
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning import Callback
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from .. import metric_names
from ..lm.perplexity import Tally
from ..lm.training import Training
from ..metric_names import VALID_PERPLEXITY
from ..terminal import console

log = logging.getLogger(__name__)
REFRESH = 0.2  # seconds; asking a GPU for the loss more often would slow it down
LINE = (
    "epoch {epoch}/{epochs}  train loss {train:.3f}  valid perplexity {valid:,.2f}{mark}{words}  "
    "{speed:,.0f} words/s  {seconds:.1f} s"
)


class ProgressReport(Callback):
    """On the first rank only."""

    def __init__(self, every: int = 1) -> None:
        self.every = every  # epochs between two lines
        self.bar: Progress | None = None
        self.best = math.inf
        self.started = (time.perf_counter(), 0)
        self.seconds = self.words_per_second = 0.0
        self.drawn = 0.0

    def state_dict(self) -> dict[str, object]:
        return {"best": self.best}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.best = state["best"]

    def on_train_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        # An epoch that is taken up in the middle has no start of its own.
        self.on_train_epoch_start(trainer, module)
        if trainer.is_global_zero and console.is_terminal:
            columns = [
                TextColumn("{task.description}"),
                BarColumn(bar_width=16),
                TextColumn("{task.percentage:>3.0f}% {task.fields[numbers]}"),
                TimeRemainingColumn(),
                TextColumn("left"),
            ]
            self.bar = Progress(*columns, console=console, transient=True)
            self.bar.start()
            total = trainer.num_training_batches * (trainer.max_epochs or 1)
            done = trainer.fit_loop.epoch_loop.total_batch_idx + 1
            self.task = self.bar.add_task("training", total=total, completed=max(done, 0), numbers="")

    def on_train_epoch_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        assert isinstance(module, Training)
        self.started = (time.perf_counter(), module.words_seen)
        module.in_epoch = Tally()

    def on_train_batch_end(
        self, trainer: pl.Trainer, module: pl.LightningModule, outputs: object, batch: object, batch_idx: int
    ) -> None:
        assert isinstance(module, Training)
        if self.bar is not None and time.perf_counter() - self.drawn > REFRESH:
            self.drawn = time.perf_counter()
            loss = module.in_epoch.loss
            numbers = f"loss {loss:.3f}  perplexity {math.exp(min(loss, 50)):,.1f}  {self._speed(module):,.0f} words/s"
            epoch = f"epoch {trainer.current_epoch + 1}/{trainer.max_epochs}"
            done = trainer.fit_loop.epoch_loop.total_batch_idx + 1
            self.bar.update(self.task, completed=done, numbers=numbers, description=epoch)

    def _speed(self, module: Training) -> float:
        return (module.words_seen - self.started[1]) / max(time.perf_counter() - self.started[0], 1e-9)

    def on_validation_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        assert isinstance(module, Training)
        self.seconds, self.words_per_second = time.perf_counter() - self.started[0], self._speed(module)

    def on_train_epoch_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        assert isinstance(module, Training)
        valid = float(trainer.callback_metrics[VALID_PERPLEXITY])
        per_word = trainer.callback_metrics.get(metric_names.per_word(VALID_PERPLEXITY))
        mark = " ↓" if valid < self.best else ""
        self.best = min(valid, self.best)
        epoch = trainer.current_epoch + 1
        if trainer.is_global_zero and (epoch % self.every == 0 or epoch in (1, trainer.max_epochs)):
            log.info(
                LINE.format(
                    epoch=epoch,
                    epochs=trainer.max_epochs,
                    train=module.in_epoch.loss,
                    valid=valid,
                    mark=mark,
                    words=f"  per word {float(per_word):,.2f}" if per_word is not None else "",
                    speed=self.words_per_second,
                    seconds=self.seconds,
                )
            )

    def teardown(self, trainer: pl.Trainer, module: pl.LightningModule, stage: str) -> None:
        if self.bar is not None:
            self.bar.stop()
            self.bar = None
