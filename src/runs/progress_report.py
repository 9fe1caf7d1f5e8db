"""Progress during training: a bar, a line after every epoch, whether it learns at all, where the time goes."""

import logging
import math
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytorch_lightning as pl
from pytorch_lightning import Callback
from pytorch_lightning.profilers import AdvancedProfiler, Profiler, SimpleProfiler
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from .. import metric_names
from ..data.corpus import Corpus
from ..lm.kneser_ney import KneserNey
from ..lm.perplexity import Tally
from ..lm.training import Training
from ..metric_names import VALID_PERPLEXITY
from ..probes.callback import ProbeSchedule
from ..terminal import console
from .run_folder import RunFolder

log = logging.getLogger(__name__)
REFRESH = 0.2  # seconds; fetching the loss from a GPU more often would slow it down
LINE = (
    "epoch {epoch}/{epochs}  train loss {train:.3f}  valid perplexity {valid:,.2f}{mark}{words}  "
    "{speed:,.0f} words/s  {seconds:.1f} s"
)
COUNTED = 200_000  # sentences counted: a few million words, so that counting a large corpus takes no memory
REMEDY = (
    "it has hardly begun to learn; use more and smaller steps (a smaller data.batch_tokens or data.batch_size), a higher "
    "model.optimizer.lr, or more epochs (trainer.max_epochs)"
)
DIVERGED = "its training has diverged; lower model.optimizer.lr or trainer.gradient_clip_val"
WORSE = 2  # times a perplexity: more than initial weights or smoothing account for
LINES = 40  # lines shown; the file has all
PROFILERS: dict[str, type[SimpleProfiler | AdvancedProfiler]] = {"simple": SimpleProfiler, "advanced": AdvancedProfiler}


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
        # An epoch resumed in the middle has no start of its own, and keeps the loss of its first part.
        assert isinstance(module, Training)
        self.started = (time.perf_counter(), module.words_seen)
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


class LearningCheck(Callback):
    """One line after the first epoch; a warning if the model is less than halfway from single words to pairs.

    `bias`: what the training began with, the frequencies of words or nothing.
    """

    def __init__(self, corpus: Corpus, bias: str) -> None:
        self.corpus = corpus
        self.bias = bias

    def on_train_epoch_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        if trainer.current_epoch == 0 and trainer.is_global_zero:
            words, pairs = counted_perplexities(self.corpus)
            first = words if self.bias == "frequency" else float(len(self.corpus.vocabulary))
            told = tell_learning(float(trainer.callback_metrics[VALID_PERPLEXITY]), words, pairs, first)
            learns = REMEDY not in told and DIVERGED not in told
            log.log(logging.INFO if learns else logging.WARNING, "%s", told)


def counted_perplexities(corpus: Corpus) -> tuple[float, float]:
    """Perplexity of the valid part by word and word-pair frequencies of the training part."""
    train, valid = corpus.train.first(COUNTED), corpus.valid
    counted = KneserNey(np.asarray(train.ids), train.offsets, len(corpus.vocabulary), order=2)
    words, pairs = counted.perplexity(np.asarray(valid.ids), valid.offsets)
    return words, pairs


def tell_learning(model: float, words: float, pairs: float, first: float) -> str:
    """How a model's perplexity compares with counting, and with about what it was before the first step."""
    figures = f"valid perplexity {model:,.1f}; by counting alone: words {words:,.1f}, pairs of words {pairs:,.1f}"
    if not model < WORSE * first:  # or not a number
        return f"after one epoch the model is worse than before the first step: {figures}; {DIVERGED}"
    if math.log(model) > (math.log(words) + math.log(pairs)) / 2:
        standing = "close to" if model < WORSE * words else "worse than"
        return f"after one epoch the model is still {standing} word frequencies: {figures}; {REMEDY}"
    return f"learning   {figures}"


def unreached(at_words: Sequence[int], schedule: ProbeSchedule | None, words: int, steps: int, epochs: int) -> Iterator[str]:
    """One line per kind of moment, with the run's total."""
    asked: list[tuple[str, Sequence[float], int, str]] = [("callbacks.checkpoints.at_words", at_words, words, "words")]
    if schedule is not None:
        asked += [
            ("probes.schedule.words", schedule.words, words, "words"),
            ("probes.schedule.steps", schedule.steps, steps, "steps"),
            ("probes.schedule.epochs", schedule.epochs, epochs, "epochs"),
        ]
    for name, moments, end, unit in asked:
        if late := [f"{moment:,g}" if moment < 1e6 else f"{int(moment):,}" for moment in moments if moment > end]:
            yield f"{name}: {', '.join(late)} will not be reached; this run ends after {end:,} {unit}"


def profiler(name: str | None, folder: RunFolder) -> Profiler | None:
    """A profiler that writes into the run's folder. By name alone, Lightning's would write to a log that is silent here."""
    return PROFILERS[name](dirpath=folder.path, filename="profile") if name else None


def show_profile(folder: RunFolder) -> None:
    """The profile of the training, if one was requested."""
    for file in sorted(folder.path.glob("fit-profile*.txt")):
        lines = [line.rstrip()[:200] for line in file.read_text(encoding="utf-8").splitlines() if line.strip(" -|")]
        log.info("%s", "\n".join(lines[:LINES]))
        log.info("profile    %s", file)
