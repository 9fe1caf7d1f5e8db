"""Watching one of our models learn: a callback that probes it on a schedule and logs the results next to perplexity."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning import Callback
from pytorch_lightning.loggers import WandbLogger
from rich.console import RenderableType

from ..errors import UserError
from ..lm.training import Training
from ..metric_names import TEST
from ..terminal import show
from .accuracy import Table, metrics
from .lexicon.word_table import save_choice
from .probe_series import MakeScorer, ProbePlan, ProbeScreen, ProbeSeries, TrainingMoment


@dataclass(frozen=True)
class ProbeSchedule:
    """After validation every N epochs and in the last one; at fractions of epochs, 0 being before the first step."""

    every_epochs: int = 1
    epochs: Sequence[float] = ()
    steps: Sequence[int] = ()
    words: Sequence[int] = ()

    def __post_init__(self) -> None:
        if not (isinstance(self.every_epochs, int) and self.every_epochs > 0):
            raise UserError(f"probes.schedule.every_epochs={self.every_epochs}: a whole number above 0 is needed")
        for name in ("epochs", "steps", "words"):
            for value in getattr(self, name):
                if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
                    raise UserError(f"probes.schedule.{name}: {value} is not a number of {name}")

    def at_start(self) -> bool:
        """Before the first step, as the untrained baseline."""
        return 0 in self.epochs or 0 in self.steps or 0 in self.words

    def after_epoch(self, epoch: int, last: bool) -> bool:
        """After this epoch's validation, counted from 1."""
        return last or epoch % self.every_epochs == 0

    def inside(self, before: "Progress", now: "Progress") -> bool:
        """Whether the last step reached a scheduled moment in the middle of an epoch."""
        pairs = (
            (self.epochs, before.epochs, now.epochs),
            (self.steps, before.steps, now.steps),
            (self.words, before.words, now.words),
        )
        return any(was < moment <= done for moments, was, done in pairs for moment in moments if moment > 0)


@dataclass(frozen=True)
class Progress:
    """How far training has got."""

    epochs: float
    steps: int
    words: int


class ProbeCallback(Callback):
    """Probes the sample on a schedule, and the whole sets with the best weights when the model is tested."""

    def __init__(
        self,
        plans: Sequence[ProbePlan],
        make_scorer: MakeScorer,
        schedule: ProbeSchedule,
        folder: Path,
        screen: ProbeScreen | None = None,
    ) -> None:
        self.plans = plans
        self.make_scorer = make_scorer
        self.schedule = schedule
        self.folder = folder
        self.series = ProbeSeries(plans, folder, screen)
        self.final: dict[str, Table] = {}
        # How far training had got at the last check; Lightning's own counters lag a batch when a checkpoint is written.
        self.before: Progress | None = Progress(0, 0, 0)
        self.due = False
        self.unsaid: list[RenderableType] = []

    @property
    def state_key(self) -> str:
        """The name of its state in checkpoints of all versions; Lightning would use the class name, which may change."""
        return "Watching"

    def state_dict(self) -> dict[str, object]:
        return {"due": self.due} | ({"before": [*astuple(self.before)]} if self.before else {})

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.due = state["due"]
        self.before = Progress(*state["before"]) if "before" in state else None

    def on_fit_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        for plan in self.plans:
            if trainer.is_global_zero:
                self.folder.mkdir(parents=True, exist_ok=True)
                plan.leaks.save(self.folder / f"leakage-{plan.whole.language}-{plan.whole.name}.tsv")
                if plan.whole.lexicon:
                    save_choice(self.folder / f"lexicon-{plan.whole.language}-{plan.whole.name}.tsv", plan.whole.lexicon)

    # ---------------------------------------------------------------- moments

    def on_train_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        assert isinstance(module, Training)
        if self.before is None:  # a checkpoint from before it was stored
            self.before = _progress(trainer, module, trainer.fit_loop.epoch_loop.batch_progress.current.completed)
        if trainer.global_step == 0 and self.schedule.at_start():
            module.record(self._probe(trainer, module, "untrained"))
            self._show_unsaid()

    def on_train_batch_end(
        self, trainer: pl.Trainer, module: pl.LightningModule, outputs: object, batch: object, batch_idx: int
    ) -> None:
        assert isinstance(module, Training)
        done = batch_idx + 1
        now = _progress(trainer, module, done)
        self.due = self.due or self.schedule.inside(self.before or now, now)
        self.before = now
        # The end of an epoch is probed with its validation; within an accumulated step there is no model to probe.
        if self.due and done < trainer.num_training_batches and done % trainer.accumulate_grad_batches == 0:
            self.due = False
            module.record(self._probe(trainer, module, f"epoch {now.epochs:.2f}, {now.words:,} words seen"))
            self._show_unsaid()

    def on_validation_epoch_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        assert isinstance(module, Training)
        epoch = trainer.current_epoch + 1
        if self.due or self.schedule.after_epoch(epoch, last=epoch == trainer.max_epochs):
            self.due = False
            module.publish(self._probe(trainer, module, f"after epoch {epoch}, {module.words_seen:,} words seen"))

    def on_train_epoch_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        """After the epoch's line."""
        self._show_unsaid()

    def on_test_epoch_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        """The whole sets, with the best weights."""
        assert isinstance(module, Training)
        found: dict[str, float] = {}
        for plan in self.plans:
            scorer = self.make_scorer(module.model, plan.whole.contract.rules.start)
            table = self.final[plan.prefix] = self.series.probe_whole(plan, scorer, _moment(module))
            found |= {TEST + name: value for name, value in metrics(table, plan.whole.language, plan.whole.name).items()}
        module.publish(found)

    def _probe(self, trainer: pl.Trainer, module: Training, when: str) -> dict[str, float]:
        """Score the samples; keep the results for the screen and return them for the metrics row."""
        found = self.series.probe_samples(partial(self.make_scorer, module.model), when, _moment(module))
        self.unsaid += found.views
        if trainer.is_global_zero:
            for prefix, answer in found.answers.items():
                _to_wandb(trainer, f"{prefix}/table", answer.table)
        return found.metrics

    def result(self) -> dict[str, float]:
        """The result on the whole sets, with the best weights."""
        return {f"{prefix}/mean/accuracy": table.mean.accuracy for prefix, table in self.final.items()}

    def _show_unsaid(self) -> None:
        for view in self.unsaid:
            show(view)
        self.unsaid.clear()


def _progress(trainer: pl.Trainer, module: Training, done: int) -> Progress:
    batches = max(int(trainer.num_training_batches), 1)
    return Progress(trainer.current_epoch + done / batches, trainer.global_step, module.words_seen)


def _moment(module: Training) -> TrainingMoment:
    return TrainingMoment(module.global_step, module.words_seen, {"epoch": module.current_epoch})


def _to_wandb(trainer: pl.Trainer, key: str, table: Table) -> None:
    """One row per construction, beside the groups of all groupings, and one per group of constructions."""
    parts = [name for grouping in table.groupings for name in table.parts_of(grouping)]
    columns = ["construction", "accuracy", "low", "high", "chance", *parts, "n", "ties", "uncovered", "unknown_context"]
    rows = []
    for row in table.rows:
        shares = [row.parts[name].accuracy if name in row.parts else None for name in parts]
        counts = (row.all.n, row.all.ties, row.all.uncovered, row.all.unknown_context)
        rows.append([row.construction, row.all.accuracy, *row.all.interval, row.all.chance, *shares, *counts])
    for group in table.groups:
        shares = [group.accuracy, *group.interval, group.chance, *[None] * len(parts)]
        rows.append([group.key, *shares, group.n, group.ties, group.uncovered, None])
    for logger in trainer.loggers:
        if isinstance(logger, WandbLogger):
            logger.log_table(key, columns=columns, data=rows, step=trainer.global_step)
