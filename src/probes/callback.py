"""Watching a model learn: a callback that probes it on schedule and puts what it finds next to perplexity."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from numpy.typing import NDArray
from pytorch_lightning import Callback
from pytorch_lightning.loggers import WandbLogger

from ..lm.model import LanguageModel
from ..lm.training import Training
from ..terminal import show
from . import probe_display as screen
from .accuracy import Table, metrics, tabulate
from .collection import stratified_sample
from .contract_statement import state_contract
from .leakage import Leakage
from .lexicon.word_table import save_choice
from .phases import agree_with_rules, rule_metrics
from .probe import Probe, build_probe
from .region_files import save_regions
from .result_files import save_summary
from .schedule import ProbeSchedule, Progress
from .scorers import WordScores
from .scorers.incremental import Forest, IncrementalScorer
from .verdict_files import save_items, save_verdicts
from .verdicts import Verdicts, judge

log = logging.getLogger(__name__)
# From a model, and the state that sentences begin with (the rule `start`), to a scorer.
MakeScorer = Callable[[LanguageModel, str], IncrementalScorer]


@dataclass(frozen=True)
class SampledProbe:
    """The sets of one language and collection: a sample that is probed while the model learns, and the whole for the end."""

    sample: Probe
    whole: Probe

    @property
    def prefix(self) -> str:
        return f"probe/{self.whole.language}/{self.whole.name}"


@dataclass(frozen=True)
class ProbePlan(SampledProbe):
    """What is asked, and what puts the answers into perspective: all that needs the training text."""

    references: Mapping[str, Table]
    frequencies: Mapping[str, int]  # of the tested forms in the training text
    leaks: Leakage
    rules: Mapping[str, Verdicts]  # what n-grams and surface rules prefer on the sample


def sample_probe(whole: Probe, size: int | None, seed: int) -> Probe:
    """At most `size` items of each set, as many of each combination of subject and attractor number as there are."""
    if size is None or all(len(made) <= size for made in whole.sets):
        return whole
    chosen = []
    for each in whole.collected:
        made = each.challenge_set
        some = made.subset(stratified_sample(made, size, seed)) if size < len(made) else made
        chosen.append(replace(each, challenge_set=some))
    return replace(build_probe(whole.name, whole.language, chosen, whole.groupings), lexicon=whole.lexicon)


class ProbeCallback(Callback):
    """Probes the sample on schedule, and the whole sets with the best weights when the model is tested."""

    def __init__(self, plans: Sequence[ProbePlan], make_scorer: MakeScorer, schedule: ProbeSchedule, folder: Path) -> None:
        self.plans = plans
        self.make_scorer = make_scorer
        self.schedule = schedule
        self.folder = folder
        self.forests: dict[int, Forest] = {}
        self.contracts: dict[int, dict[str, Any]] = {}  # as they are saved
        self.last: dict[str, Table] = {}
        self.final: dict[str, Table] = {}
        # How far training had come at the last look; Lightning's own counters are a batch behind where a checkpoint is written.
        self.before: Progress | None = Progress(0, 0, 0)
        self.due = False
        self.unsaid: list[Any] = []

    @property
    def state_key(self) -> str:
        """What checkpoints of all versions call its state; Lightning would take the name of the class, which may change."""
        return "Watching"

    def state_dict(self) -> dict[str, Any]:
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
        if self.before is None:  # a checkpoint from before it was kept
            self.before = _progress(trainer, module, trainer.fit_loop.epoch_loop.batch_progress.current.completed)
        if trainer.global_step == 0 and self.schedule.at_start():
            module.record(self._probe(trainer, module, "untrained"))
            self._show_unsaid()

    def on_train_batch_end(
        self, trainer: pl.Trainer, module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        assert isinstance(module, Training)
        done = batch_idx + 1
        now = _progress(trainer, module, done)
        self.due = self.due or self.schedule.inside(self.before or now, now)
        self.before = now
        # The end of an epoch is probed with its validation; in the middle of an accumulated step there is no model to probe.
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
        """After the line of the epoch."""
        self._show_unsaid()

    def on_test_epoch_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        """The whole sets, with the weights that were best."""
        assert isinstance(module, Training)
        found: dict[str, float] = {}
        for plan in self.plans:
            scores, verdicts, table = self._score_and_judge(trainer, module, plan.whole)
            self.final[plan.prefix] = table
            found |= {f"test/{name}": value for name, value in metrics(table, plan.whole.language, plan.whole.name).items()}
            if trainer.is_global_zero:
                self._save_final(plan, scores, verdicts, module)
        module.publish(found)

    # ----------------------------------------------------------------- probing

    def _probe(self, trainer: pl.Trainer, module: Training, when: str) -> dict[str, float]:
        """Score the samples; what is found is kept for the screen and returned for the row of metrics."""
        started = time.perf_counter()
        found: dict[str, float] = {}
        for plan in self.plans:
            _, verdicts, table = self._score_and_judge(trainer, module, plan.sample)
            found |= metrics(table, plan.sample.language, plan.sample.name)
            found |= rule_metrics(agree_with_rules(plan.sample, verdicts, plan.rules), plan.prefix)
            title = f"{plan.sample.language} {plan.sample.name}, {when}"
            self.unsaid.append(screen.results_view(title, table, self.last.get(plan.prefix)))
            self.last[plan.prefix] = table
            if trainer.is_global_zero:
                file = self.folder / f"{plan.sample.language}-{plan.sample.name}-step{trainer.global_step:08d}.parquet"
                save_verdicts(file, plan.sample, verdicts, self._about(plan.sample, module))
                _to_wandb(trainer, f"{plan.prefix}/table", table)
        found["time/probe_seconds"] = time.perf_counter() - started
        return found

    def _score_and_judge(self, trainer: pl.Trainer, module: Training, chosen: Probe) -> tuple[WordScores, Verdicts, Table]:
        scorer = self.make_scorer(module.model, chosen.contract.rules.start)
        forest = self.forests.get(id(chosen))
        if forest is None:
            forest = self.forests[id(chosen)] = scorer.plant(chosen.sentences)
            self.contracts[id(chosen)] = state_contract(chosen, scorer)
        logprobs = scorer.logprobs(forest, trainer.global_rank, trainer.world_size)
        scores = scorer.scores(forest, _over_all_ranks(logprobs, module.device))
        verdicts = judge(chosen, scores)
        return scores, verdicts, tabulate(chosen, verdicts)

    def _save_final(self, plan: ProbePlan, scores: WordScores, verdicts: Verdicts, module: Training) -> None:
        whole, about = plan.whole, self._about(plan.whole, module)
        folder = self.folder / f"final-{whole.language}-{whole.name}"
        save_items(folder / "items.parquet", whole, verdicts, scores, about, _frequencies(plan))
        save_regions(folder / "regions.parquet", whole, scores, about)
        save_summary(folder, {"model": self.final[plan.prefix], **plan.references}, about)

    def _about(self, chosen: Probe, module: Training) -> dict[str, Any]:
        """What the numbers come from."""
        return {
            "language": chosen.language,
            "set": chosen.name,
            "digest": chosen.digest,
            "extent": chosen.extent,
            "contract": self.contracts[id(chosen)],
            "step": module.global_step,
            "words_seen": module.words_seen,
            "epoch": module.current_epoch,
        }

    def result(self) -> dict[str, float]:
        """Of the whole sets, with the best weights."""
        return {f"{prefix}/mean/accuracy": table.mean.accuracy for prefix, table in self.final.items()}

    def _show_unsaid(self) -> None:
        for view in self.unsaid:
            show(view)
        self.unsaid.clear()


def _progress(trainer: pl.Trainer, module: Training, done: int) -> Progress:
    batches = max(int(trainer.num_training_batches), 1)
    return Progress(trainer.current_epoch + done / batches, trainer.global_step, module.words_seen)


def _frequencies(plan: ProbePlan) -> dict[str, list[int | None]]:
    """How often the tested forms occur in the training text: preferring the frequent one is not knowing the rule."""
    if not plan.frequencies:
        return {}
    found: dict[str, list[int | None]] = {}
    for side, name in enumerate(("good", "bad")):
        column: list[int | None] = [None] * len(plan.whole.contrasts)
        for row, forms in zip(plan.whole.contrasts.pairs.rows.tolist(), plan.whole.forms(), strict=True):
            column[row] = plan.frequencies.get(forms[side])
        found[f"{name}_frequency"] = column
    return found


def _over_all_ranks(logprobs: NDArray[np.float32], device: torch.device) -> NDArray[np.float32]:
    """Every process has scored some of the pieces and has 0 for the others."""
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return logprobs
    shared = torch.from_numpy(logprobs).to(device)
    torch.distributed.all_reduce(shared)
    return shared.cpu().numpy()


def _to_wandb(trainer: pl.Trainer, key: str, table: Table) -> None:
    """A row for every construction, with the groups of all groupings beside it, and for every group of constructions."""
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
