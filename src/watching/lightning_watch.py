"""A callback for any LightningModule, from `lightning` or `pytorch_lightning`."""

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Self

import pytorch_lightning as pl
from pytorch_lightning import Callback

from ..errors import UserError
from ..metric_names import PROBE, WORDS_SEEN
from ..probes.probe_series import shards_weights, sum_over_ranks
from ..probes.sets import Sets
from ..settings.checkpoint_names import checkpoint_name
from .moments import AtWords, read_moments
from .watcher import ProbeTable, Watcher
from .words_seen import WordCount, WordCounter

OTHER = "lightning.pytorch"  # the same classes under the other package's name, which accepts only its own


class LightningWatch(Callback):
    """Probes a module before the first step, at every validation, and on a schedule in between.

        trainer = Trainer(callbacks=[concord.LightningWatch("de", tokenizer, "out/mine")])

    `model` says what to evaluate: by default the LightningModule itself, from ids to logits; or the name of the attribute that
    does this (`"network"`); or a function from the module to anything that `Watcher` takes. The module logs the results, so that
    other callbacks can monitor them (`probe/de/agreement/mean/accuracy`), and the folder keeps them.
    """

    def __new__(cls, *_: object, **__: object) -> Self:
        return super().__new__(_with_other_base(cls) if OTHER in sys.modules else cls)  # type: ignore[arg-type, return-value]

    def __init__(
        self,
        sets: Sets | str,
        tokenizer: object,
        folder: str | Path,
        model: str | Callable[[object], object] | None = None,
        *,
        every: int | None = None,
        at_words: AtWords = None,
        words: WordCount | None = None,
        **options: object,
    ) -> None:
        """Also probe every `every` steps and `at_words`; at these word counts a checkpoint is kept too (`chck_1M.ckpt`).

        `words` counts the words of a batch, if its ids do not show them. The other options are those of `Watcher`.
        """
        super().__init__()
        self.sets, self.tokenizer, self.folder, self.model = sets, tokenizer, Path(folder), model
        self.moments = read_moments(every, at_words)
        self.count: WordCount | None = words
        self.options = options
        self.watcher: Watcher | None = None
        self.words_seen = 0
        self.last_step = -1

    @property
    def state_key(self) -> str:
        return "concord.LightningWatch"

    def state_dict(self) -> dict[str, object]:
        return {"words_seen": self.words_seen, "last_step": self.last_step}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.words_seen, self.last_step = state["words_seen"], state["last_step"]

    # ---------------------------------------------------------------- moments

    def on_fit_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Catch errors before the first step."""
        if self.watcher is not None:
            return
        if shards_weights(strategy := type(trainer.strategy).__name__):
            raise UserError(f"LightningWatch: {strategy} shards the weights, which cannot be probed in place; train with DDP")
        resumed = self.last_step >= 0
        self.count = self.count or WordCounter(self.tokenizer)
        told: dict[str, Any] = {
            "watched": "lightning",
            "name": self.folder.name,
            "recipe": dict(pl_module.hparams),
            "every": self.moments.every,
        } | self.options
        told |= {"resume": True} if resumed else {}
        self.watcher = Watcher(_asked(pl_module, self.model), self.tokenizer, self.sets, self.folder, **told)

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if trainer.global_step == 0:
            self._probe(trainer, pl_module)

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: object, batch: object, batch_idx: int
    ) -> None:
        assert self.count is not None
        before = self.words_seen
        self.words_seen += sum_over_ranks(self.count(batch))
        marks = self.moments.reached(before, self.words_seen)
        stepped = trainer.global_step > self.last_step
        self.last_step = trainer.global_step
        if marks or (stepped and self.moments.due_by_step(trainer.global_step)):
            self._probe(trainer, pl_module)
        for mark in marks:
            trainer.save_checkpoint(self.folder / "checkpoints" / f"{checkpoint_name(mark)}.ckpt")

    def on_validation_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if not trainer.sanity_checking and trainer.state.fn == "fit":
            found = self._ask(trainer, measured=True)
            pl_module.log_dict(found.accuracies, rank_zero_only=False)

    def on_fit_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """The whole sets, with the last weights."""
        if self.watcher is not None and not trainer.interrupted:
            self._ask(trainer)
            self.watcher.finish()

    # ----------------------------------------------------------------- probing

    def _probe(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """In the middle of an epoch, so the loggers are told at once."""
        found = self._ask(trainer).accuracies
        for logger in trainer.loggers:
            logger.log_metrics(found | {WORDS_SEEN: self.words_seen}, step=trainer.global_step)

    def _ask(self, trainer: pl.Trainer, measured: bool = False) -> ProbeTable:
        """`measured`: right after a validation. Later, Lightning still has its numbers, which are then those of older weights."""
        assert self.watcher is not None
        found = trainer.callback_metrics if measured else {}
        numbers = {name: float(value) for name, value in found.items() if not name.startswith(PROBE)}
        return self.watcher(trainer.global_step, self.words_seen, numbers)


def _asked(module: pl.LightningModule, model: str | Callable[[object], object] | None) -> object:
    """The part of a module that is evaluated."""
    if model is None:
        return module
    if not isinstance(model, str):
        return model(module)
    if not hasattr(module, model):
        raise UserError(f"model={model!r}: {type(module).__name__} has no such attribute")
    return getattr(module, model)


@cache
def _with_other_base(cls: type[LightningWatch]) -> type[LightningWatch]:
    """A callback that belongs to both packages, if training uses the other one."""
    return type(cls.__name__, (cls, sys.modules[OTHER].Callback), {"__new__": lambda cls, *_, **__: object.__new__(cls)})
