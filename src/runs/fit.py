"""A training run from start to finish, in plain values: what `train` does once the settings are known."""

import difflib
import inspect
import logging
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from lightning_fabric.utilities.exceptions import MisconfigurationException
from pytorch_lightning import Callback
from pytorch_lightning.callbacks import EarlyStopping
from pytorch_lightning.loggers.logger import Logger

from .. import metric_names
from ..data.batches import BatchPlan, EvaluationLoader, Loader, Shape
from ..data.corpus import Corpus
from ..errors import UserError
from ..lm import networks
from ..lm.checkpoints import load_model
from ..lm.model import Architecture, LanguageModel
from ..lm.optimisation import Horizon, check_schedule
from ..lm.optimisation import optimizer as make_optimizer
from ..lm.optimisation import schedule as make_schedule
from ..lm.training import Training, TrainingLog
from ..machine import give_memory_back
from ..metric_names import VALID_PERPLEXITY
from ..probes.callback import ProbeCallback
from ..probes.lexicon.choice import count_words
from ..probes.probe_series import shards_weights
from ..settings.reading import Plain, check_arguments, read
from ..settings.recipe import complete_batches, complete_model
from ..settings.run import RunSettings
from ..settings.training_settings import CheckpointSettings, EarlyStoppingSettings, ModelSettings, TrainerSettings
from .checkpointing import Checkpoints, CheckpointWriter, Interruption
from .metrics_file import MetricsFile
from .progress_report import ProgressReport, profiler, show_profile, unreached
from .run_folder import RunFolder

log = logging.getLogger(__name__)
# What a run measures at every validation, and can be monitored.
METRICS = (VALID_PERPLEXITY, metric_names.loss("valid"))
# Our checkpoints and samplers are exact: they resume in mid-epoch and never repeat an example.
OURS: dict[str, Any] = {
    "enable_checkpointing": False,
    "use_distributed_sampler": False,
    "enable_progress_bar": False,
    "enable_model_summary": False,
    "num_sanity_val_steps": 0,
}
RECIPE = "recipe"  # in a checkpoint: what `auto` stood for
# Settings of Lightning that would cut epochs short: where an epoch ends, the next one, the schedule and a resumed run begin.
WHOLE_EPOCHS: dict[str, Plain] = {"limit_train_batches": 1.0, "overfit_batches": 0.0, "fast_dev_run": False}
# Settings of Lightning that would leave epochs without a validation, and their usual values.
EVERY_EPOCH: dict[str, Plain] = {"check_val_every_n_epoch": 1, "val_check_interval": 1.0, "max_steps": -1}
PRECISIONS = ("32", "32-true", "16-mixed", "bf16-mixed")  # the loss is computed in 32 bits, from weights in 32 bits


@dataclass(frozen=True)
class Recipe:
    """How to train: everything a run does with its corpus, including on which machines and how often it saves."""

    model: ModelSettings
    shape: Shape
    evaluation_tokens: int
    seed: int
    checkpoints: CheckpointSettings
    early_stopping: EarlyStoppingSettings
    trainer: TrainerSettings
    allow: tuple[str, ...] = ()  # user packages that the network may come from
    overfit: float | None = None  # the training loss that a debugging run must get below

    def settled(self) -> dict[str, Plain]:
        """What `auto` can stand for, in values: they belong to a run from its beginning."""
        model = self.model
        return {
            "batch_tokens": self.shape.tokens,
            "bias": model.bias,
            "optimizer": dict(model.optimizer),
            "scheduler": dict(model.scheduler),
        }

    def optimizer(self) -> dict[str, Plain]:
        """Its settings. On a CPU, AdamW goes over all weights in one pass, in an eighth of the time; batches by sentences are
        trained as they always were, to the last bit. Lightning clips no gradients of such an optimiser in mixed precision.
        """
        settings = dict(self.model.optimizer)
        lightning = _lightning(self.trainer)
        quick = self.shape.tokens and settings["name"] in ("adam", "adamw") and "mixed" not in str(lightning["precision"])
        return {"fused": True} | settings if quick and lightning["accelerator"] == "cpu" else settings

    def as_begun(self, settled: Mapping[str, Any] | None) -> "Recipe":
        """With the values that a checkpoint records; older ones record none."""
        if not settled:
            return self
        given = {name: settled[name] for name in ("bias", "optimizer", "scheduler")}
        shape = replace(self.shape, tokens=settled["batch_tokens"])
        return replace(self, model=replace(self.model, **given), shape=shape)

    def check(self, probe_metrics: Sequence[str] = ()) -> None:
        """Find errors before a corpus is prepared or a folder touched. `probe_metrics` can be monitored too."""
        model = self.model
        build = networks.builder(model.network, self.allow)
        check_arguments(build, networks.settings_of(model.network), "model.network", taken=("width",))
        check_arguments(make_optimizer, model.optimizer, "model.optimizer", taken=("parameters",))
        check_schedule(model.scheduler)
        try:
            with torch.device("meta"):
                network = networks.build(model.network, model.embedding, self.allow)
            make_optimizer(network.parameters(), **model.optimizer)
            make_schedule(Horizon(total=1, first_epoch=1), **model.scheduler)
        except (TypeError, RuntimeError, ValueError, LookupError) as error:  # a mapping or a short list in place of two numbers
            raise error if isinstance(error, UserError) else UserError(f"model: {error}; see conf/model") from None
        for where, monitored in (("checkpoints", self.checkpoints), ("early_stopping", self.early_stopping)):
            _check_monitor(f"callbacks.{where}", monitored.monitor, [*METRICS, *probe_metrics])
        _check_trainer(self.trainer.lightning())

    def check_trainer(self) -> None:
        """Let Lightning check its own settings before any work is done."""
        _quieten()
        try:
            pl.Trainer(**_lightning(self.trainer) | OURS | {"logger": False})
        except (MisconfigurationException, ValueError, TypeError, RuntimeError, ImportError) as error:
            raise UserError(f"trainer: {' '.join(str(error).split())[:300]}; see conf/trainer") from None


def read_recipe(settings: RunSettings, words: int = 0) -> Recipe:
    """How a run trains on a corpus of this many words; before it is known, as on a small one."""
    data, trainer = settings.data, settings.trainer
    tokens = None if data.batch_size else complete_batches(data.batch_tokens, words)
    model = settings.model
    if tokens:
        completed = complete_model(asdict(model), tokens * settings.processes * trainer.accumulate_grad_batches)
        model = read(ModelSettings, completed, "model")
    return Recipe(
        model=model,
        shape=Shape(data.batch_size, data.window, data.warmup_batch_size, tokens),
        evaluation_tokens=data.evaluation_tokens,
        seed=settings.seed,
        checkpoints=settings.callbacks.checkpoints,
        early_stopping=settings.callbacks.early_stopping,
        trainer=trainer,
        allow=settings.allow,
        overfit=settings.overfit,
    )


def architecture(model: ModelSettings, vocabulary_size: int) -> Architecture:
    """The architecture of a model that knows this many words."""
    return Architecture(vocabulary_size, model.embedding, model.tied, model.dropout, model.init, model.network)


def _check_monitor(where: str, monitor: str, metrics: Sequence[str]) -> None:
    if monitor not in metrics:
        near = difflib.get_close_matches(monitor, metrics, n=4, cutoff=0.3)
        named = ", ".join(dict.fromkeys([*METRICS, *near]))
        raise UserError(f"{where}.monitor={monitor}: not a metric that every validation has; available: {named}")


def _lightning(trainer: TrainerSettings) -> dict[str, Plain]:
    """`auto` is CUDA or the CPU; others, such as Apple's GPUs, on request."""
    given = trainer.lightning()
    automatic = trainer.accelerator == "auto" and not torch.cuda.is_available()
    return given | {"accelerator": "cpu"} if automatic else given


def _changed(settings: Mapping[str, Plain], usual: Mapping[str, Plain]) -> list[str]:
    """Settings that are not as usual; to Lightning, 1 is one batch and 1.0 is all of them."""
    given = {name: settings[name] for name in usual if settings.get(name) is not None}
    return [
        name for name, value in given.items() if value != usual[name] or isinstance(value, int) != isinstance(usual[name], int)
    ]


def _check_trainer(settings: dict[str, Plain]) -> None:
    known = inspect.signature(pl.Trainer).parameters
    if unknown := [name for name in settings if name not in known]:
        raise UserError(f"trainer.{unknown[0]}: Lightning's Trainer has no such setting")
    if ours := [name for name in settings if name in (*OURS, "logger", "callbacks", "plugins")]:
        raise UserError(f"trainer.{ours[0]}: Concord sets this itself; for your own callbacks and loggers see docs/own.md")
    if skipped := _changed(settings, EVERY_EPOCH):
        raise UserError(
            f"trainer.{skipped[0]}={settings[skipped[0]]}: every epoch ends with a validation; shorten a run with "
            "trainer.max_epochs= or data.max_tokens="
        )
    if cut := _changed(settings, WHOLE_EPOCHS):
        raise UserError(
            f"trainer.{cut[0]}={settings[cut[0]]}: an epoch reads all of its text; use data.max_tokens= or data.limit= "
            "for less text, debug=fast or debug=overfit to try things out"
        )
    if settings.get("limit_val_batches") == 0:
        raise UserError("trainer.limit_val_batches=0: every epoch ends with a validation; leave it out")
    if shards_weights(str(settings.get("strategy"))):
        raise UserError(f"trainer.strategy={settings['strategy']}: shards the weights, which cannot be probed; use ddp")
    precision = str(settings.get("precision", 32))
    if precision not in PRECISIONS:
        raise UserError(f"trainer.precision={precision}: no such precision; available: {', '.join(PRECISIONS)}")
    on_cpu = settings.get("accelerator") == "cpu" or not torch.cuda.is_available()
    if "16" in precision and on_cpu and not computes_in_16_bits():
        raise UserError(f"trainer.precision={precision}: this CPU has no 16-bit arithmetic; use 32")
    if settings.get("accelerator") in ("gpu", "cuda") and not torch.cuda.is_available():
        raise UserError("trainer.accelerator=gpu: no GPU here; use auto, or trainer=ddp_cpu to try ddp")


def computes_in_16_bits() -> bool:
    """Whether torch can train on this processor with 16-bit numbers: its LSTM has no slower substitute."""
    return torch.backends.mkldnn.is_available() and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


@dataclass(frozen=True)
class PreparedRun:
    """Everything a run needs to start; `probing` are the callbacks that probe the model during training."""

    recipe: Recipe
    corpus: Corpus
    model: LanguageModel
    probing: Sequence[ProbeCallback] = ()
    own: Sequence[Callback] = ()  # user-defined callbacks


def fit(
    run: PreparedRun, facts: Mapping[str, Any], folder: RunFolder, loggers: Sequence[Logger], resume: Path | None
) -> dict[str, float]:
    """Train, then measure the best model on the test split; return the run's result. `facts` go into the checkpoints."""
    _quieten()
    recipe, corpus, model = run.recipe, run.corpus, run.model
    metrics = MetricsFile(folder.metrics)
    if resume is None:
        metrics.keep(0)
    checkpoints = Checkpoints(folder.checkpoints, recipe.checkpoints, metrics)
    early = _early_stopping(recipe.early_stopping)
    progress = ProgressReport(every=max((recipe.trainer.max_epochs or 1) // 15, 1) if recipe.overfit else 1)
    saving = [checkpoints, Interruption(checkpoints)]
    callbacks: list[Callback] = [TrainingLog(), progress, *run.probing, *run.own, *early, *saving]
    trainer = pl.Trainer(
        **_lightning(recipe.trainer) | {"profiler": profiler(recipe.trainer.profiler, folder)},  # type: ignore[arg-type]
        plugins=[CheckpointWriter()],
        logger=[metrics, *loggers],
        callbacks=callbacks,
        default_root_dir=folder.path,
        **OURS,
        reload_dataloaders_every_n_epochs=1 if recipe.shape.varies else 0,
    )
    plan = BatchPlan(trainer.global_rank, trainer.world_size, trainer.accumulate_grad_batches)
    loader = Loader(corpus.train, recipe.shape, recipe.seed, plan, corpus.vocabulary.begins())
    horizon = loader.horizon(trainer.max_epochs or 1)
    schedule = run.probing[0].schedule if run.probing else None
    epochs = trainer.max_epochs or 1
    for line in unreached(
        recipe.checkpoints.at_words, schedule, (corpus.train.spelled or corpus.train.words) * epochs, horizon[0], epochs
    ):
        log.warning("%s", line)
    spoken = {code: known["clitics"] for code, known in facts.get("languages", {}).items()}
    module = Training(
        model,
        make_schedule(Horizon(*horizon), **recipe.model.scheduler),
        recipe.optimizer(),
        recipe.seed,
        {
            **facts,
            RECIPE: recipe.settled(),
            "warm": corpus.warm(),
            "capitals": corpus.capitals(),
            **corpus.vocabulary.plain(),
            **count_words(corpus, spoken, [plan.whole.lexicon for each in run.probing for plan in each.plans]),
        },
        loader,
        corpus.languages,
        corpus.vocabulary.begins(),
    )
    if recipe.model.compile:
        module.contexts = torch.compile(model.contexts)
    valid, test = (
        [EvaluationLoader(part, recipe.evaluation_tokens, plan) for part in corpus.by_language(split).values() or [split]]
        for split in (corpus.valid, corpus.test)
    )
    if resume is not None:
        log.info("resuming from %s", resume)
    trainer.fit(module, loader, valid, ckpt_path=resume)
    if recipe.overfit is not None:
        log.info("%s", overfitting(module.in_epoch.loss, recipe.overfit, epochs))
    _free_training(trainer, module)
    module.model.load_state_dict(load_model(folder.best, recipe.allow)[0].state_dict())
    result = _test(trainer, module, test, checkpoints)
    show_profile(folder)
    return result | {name: value for each in run.probing for name, value in each.result().items()}


def overfitting(loss: float, goal: float, epochs: int) -> str:
    """The verdict of a debugging run: a network that cannot memorise a few sentences has a bug."""
    if loss < goal:
        return f"overfitted: after {epochs:,} epochs the training loss is {loss:.3f}, below {goal:g}; the network learns"
    return f"NOT overfitted: after {epochs:,} epochs the training loss is still {loss:.3f}, not below {goal:g}; look for a bug"


def _early_stopping(settings: EarlyStoppingSettings) -> list[Callback]:
    """Decides right after validation, so that the checkpoint that follows knows about it."""
    if settings.patience is None:
        return []
    return [EarlyStopping(settings.monitor, mode=settings.mode, patience=settings.patience, check_on_train_epoch_end=False)]


def _free_training(trainer: pl.Trainer, module: Training) -> None:
    """Gradients and the optimiser's moments take three times the memory of the weights, and nobody needs them any more."""
    module.zero_grad(set_to_none=True)
    trainer.strategy.optimizers = []
    give_memory_back()


def _test(trainer: pl.Trainer, module: Training, test: list[EvaluationLoader], checkpoints: Checkpoints) -> dict[str, float]:
    """Test perplexity of the module's weights."""
    trainer.test(module, test, verbose=False)
    perplexities = [name for name in trainer.callback_metrics if metric_names.is_perplexity(name, "test")]
    return {name: float(trainer.callback_metrics[name]) for name in perplexities} | {
        f"best {checkpoints.monitor}": checkpoints.sign * checkpoints.best,
        "best epoch": checkpoints.best_epoch + 1,
        "epochs": trainer.current_epoch,
        "words seen": module.words_seen,
    }


def _quieten() -> None:
    """Silence Lightning's remarks on matters settled here."""
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
        ".*sync_dist=True.*",  # sums are taken over all processes before they are logged
    ):
        warnings.filterwarnings("ignore", message)
