"""A training run from start to finish, in plain values: what `train.py` does once it has read the configuration."""

import difflib
import inspect
import logging
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning import Callback
from pytorch_lightning.callbacks import EarlyStopping
from pytorch_lightning.loggers.logger import Logger

from ..data.batches import EvaluationLoader, Loader, Plan, Shape
from ..data.corpus import Corpus
from ..errors import UserError
from ..lm.checkpoints import load_model
from ..lm.model import Architecture, LanguageModel
from ..lm.optimisation import Horizon, optimizer, schedule
from ..lm.training import Training, TrainingLog
from .checkpointing import Checkpoints
from .interruption import Interruption
from .metrics_file import MetricsFile
from .progress_report import ProgressReport
from .run_folder import RunFolder

log = logging.getLogger(__name__)
# What a run measures at every validation, and can be watched.
METRICS = ("valid/perplexity", "valid/loss")
PRECISIONS = ("32", "64", "16-mixed", "bf16-mixed", "16-true", "bf16-true", "32-true", "64-true")


@dataclass(frozen=True)
class Recipe:
    """How to train: everything that is not the corpus and not the machine."""

    architecture: Architecture
    optimizer: dict[str, Any]
    scheduler: dict[str, Any]
    shape: Shape
    evaluation_tokens: int
    seed: int
    checkpoints: dict[str, Any]
    early_stopping: dict[str, Any]
    compile: bool
    trainer: dict[str, Any]

    def check(self, probes: Sequence[str] = ()) -> None:
        """Find what is wrong with it before a corpus is prepared or a folder touched. `probes` are further metrics to watch."""
        try:
            with torch.device("meta"):
                model = LanguageModel(replace(self.architecture, vocabulary_size=2))
            optimizer(model.parameters(), **self.optimizer)
            schedule(Horizon(total=1, first_epoch=1), **self.scheduler)
        except (TypeError, RuntimeError, ValueError) as error:
            raise error if isinstance(error, UserError) else UserError(f"model: {error}; see conf/model") from None
        for name, value, least in (
            ("seed", self.seed, 0),
            ("trainer.max_epochs", self.trainer["max_epochs"], 1),
            ("trainer.accumulate_grad_batches", self.trainer.get("accumulate_grad_batches", 1), 1),
            ("data.batch_size", self.shape.batch_size, 1),
            ("data.window", self.shape.window or self.shape.window is None or 0, 1),
            ("data.warmup_batch_size", self.shape.first_epoch or self.shape.first_epoch is None or 0, 1),
            ("data.evaluation_tokens", self.evaluation_tokens, 1),
        ):
            if not (isinstance(value, int) and value >= least):
                raise UserError(f"{name}={value}: a whole number of at least {least} is needed")
        for name, value in (
            ("model.dropout", self.architecture.dropout),
            ("model.network.dropout", self.architecture.network["dropout"]),
        ):
            if not 0 <= value < 1:
                raise UserError(f"{name}={value}: a share from 0 up to 1 is needed")
        for where, settings in (("checkpoints", self.checkpoints), ("early_stopping", self.early_stopping)):
            _check_monitor(f"callbacks.{where}", settings, [*METRICS, *probes])
        _check_trainer(self.trainer)

    def architecture_for(self, vocabulary_size: int) -> Architecture:
        """Of a model that knows so many words."""
        return replace(self.architecture, vocabulary_size=vocabulary_size)


def _check_monitor(where: str, settings: dict[str, Any], metrics: Sequence[str]) -> None:
    if settings["monitor"] not in metrics:
        near = difflib.get_close_matches(settings["monitor"], metrics, n=4, cutoff=0.3)
        named = ", ".join(dict.fromkeys([*METRICS, *near]))
        raise UserError(f"{where}.monitor={settings['monitor']}: no metric that every validation has; there are: {named}")
    if settings["mode"] not in ("min", "max"):
        raise UserError(f"{where}.mode={settings['mode']}: write min or max")


def _check_trainer(settings: dict[str, Any]) -> None:
    known = inspect.signature(pl.Trainer).parameters
    if unknown := [name for name in settings if name not in known]:
        raise UserError(f"trainer.{unknown[0]}: Lightning's Trainer has no such setting")
    precision = str(settings.get("precision", 32))
    if precision not in PRECISIONS:
        raise UserError(f"trainer.precision={precision}: there is no such precision; there are: {', '.join(PRECISIONS)}")
    on_cpu = settings.get("accelerator") == "cpu" or not torch.cuda.is_available()
    if "16" in precision and on_cpu and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        raise UserError(f"trainer.precision={precision}: this CPU has no 16-bit arithmetic; use 32")
    if settings.get("accelerator") in ("gpu", "cuda") and not torch.cuda.is_available():
        raise UserError("trainer.accelerator=gpu: there is no GPU here; use auto, or trainer=ddp_cpu to try ddp")


def fit(
    recipe: Recipe,
    model: LanguageModel,
    corpus: Corpus,
    about: dict[str, Any],
    folder: RunFolder,
    loggers: Sequence[Logger],
    watching: Sequence[Callback],
    resume: Path | None,
) -> dict[str, Any]:
    """Train, then measure the best model on the test split; returns the result of the run."""
    _quieten()
    metrics = MetricsFile(folder.metrics)
    if resume is None:
        metrics.keep(0)
    checkpoints = Checkpoints(folder.checkpoints, metrics=metrics, **recipe.checkpoints)
    early = _early_stopping(recipe.early_stopping)
    callbacks: list[Callback] = [TrainingLog(), ProgressReport(), *watching, *early, checkpoints, Interruption(checkpoints)]
    trainer = pl.Trainer(
        **recipe.trainer,
        logger=[metrics, *loggers],
        callbacks=callbacks,
        default_root_dir=folder.path,
        # Ours are exact: they go on in the middle of an epoch and never hand out an example twice.
        enable_checkpointing=False,
        use_distributed_sampler=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        reload_dataloaders_every_n_epochs=1 if recipe.shape.first_epoch else 0,
    )
    plan = Plan(trainer.global_rank, trainer.world_size, trainer.accumulate_grad_batches)
    loader = Loader(corpus.train, recipe.shape, recipe.seed, plan, corpus.vocabulary.begins())
    horizon = loader.horizon(trainer.max_epochs or 1)
    module = Training(
        model,
        schedule(Horizon(*horizon), **recipe.scheduler),
        recipe.optimizer,
        recipe.seed,
        about | corpus.vocabulary.plain(),
        loader,
        corpus.languages,
        corpus.vocabulary.begins(),
    )
    if recipe.compile:
        module.contexts = torch.compile(model.contexts)
    valid, test = (
        [EvaluationLoader(part, recipe.evaluation_tokens, plan) for part in corpus.by_language(split).values() or [split]]
        for split in (corpus.valid, corpus.test)
    )
    if resume is not None:
        log.info("going on from %s", resume)
    trainer.fit(module, loader, valid, ckpt_path=resume)
    return _tested(trainer, module, test, folder, checkpoints)


def _early_stopping(settings: dict[str, Any]) -> list[Callback]:
    """Decides right after the validation, so that the checkpoint that follows knows of it."""
    return [] if settings["patience"] is None else [EarlyStopping(**settings, check_on_train_epoch_end=False)]


def _tested(
    trainer: pl.Trainer, module: Training, test: list[EvaluationLoader], folder: RunFolder, checkpoints: Checkpoints
) -> dict[str, Any]:
    """Test perplexity of the best weights."""
    best, _, _ = load_model(folder.best)
    module.model.load_state_dict(best.state_dict())
    trainer.test(module, test, verbose=False)
    perplexities = [name for name in trainer.callback_metrics if name.startswith("test/") and "perplexity" in name]
    return {name: float(trainer.callback_metrics[name]) for name in perplexities} | {
        f"best {checkpoints.monitor}": checkpoints.sign * checkpoints.best,
        "best epoch": checkpoints.best_epoch + 1,
        "epochs": trainer.current_epoch,
        "words seen": module.words_seen,
    }


def _quieten() -> None:
    """Lightning's notes on matters that are settled here."""
    for name in ("pytorch_lightning", "lightning_fabric", "pytorch_lightning.utilities.rank_zero"):
        logging.getLogger(name).setLevel(logging.ERROR)
    for message in (
        ".*does not have many workers.*",
        ".*Trying to infer the `batch_size`.*",
        ".*your dataloader is not resumable.*",
        ".*is smaller than the logging interval.*",
        ".*`srun` command is available.*",
        ".*it is recommended to use `Trainer\\(devices=1.*",
        ".*LeafSpec.*",
    ):
        warnings.filterwarnings("ignore", message)
