"""Watching transformers' Trainer: a callback that probes its model and passes it the results."""

import difflib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch import Tensor, nn
from transformers import Trainer, TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from transformers.trainer_callback import ExportableState
from transformers.trainer_utils import IntervalStrategy

from ..errors import UserError
from ..metric_names import PROBE
from ..probes.probe_series import rank_and_world, sum_over_ranks
from ..probes.sets import Sets
from ..settings.checkpoint_names import checkpoint_name
from .moments import AtWords, read_moments
from .watcher import ProbeTable, Watcher
from .words_seen import WordCount, WordCounter

# The trainer looks for `metric_for_best_model` among names with this prefix.
EVALUATED = "eval_"
# Training settings that say where and how, not what: they do not distinguish recipes.
MACHINE: tuple[str, ...] = (
    "output_dir",
    "logging",
    "report_to",
    "run_name",
    "hub",
    "push",
    "save",
    "eval_on",
    "dataloader_num",
    "seed",
    "log_",
)
MACHINE += ("data_seed", "disable_tqdm", "local_rank", "use_cpu", "resume", "do_", "project", "trackio", "load_best", "deepspeed")


class WordsSeen(TrainerCallback, ExportableState):
    """How many words training has read; the trainer keeps it in its checkpoints (`trainer_state.json`)."""

    def __init__(self, words: int = 0) -> None:
        self.words = words

    def state(self) -> dict[str, dict[str, int]]:
        return {"args": {"words": self.words}, "attributes": {}}


class TrainerWatch(TrainerCallback):
    """See `concord.watch`. `watcher` has the tables, `words` the count so far."""

    def __init__(
        self,
        trainer: Trainer,
        sets: Sets | str,
        *,
        every: int | None = None,
        at_words: AtWords = None,
        words: WordCount | None = None,
        folder: str | Path | None = None,
        tokenizer: object = None,
        **options: object,
    ) -> None:
        """Probe every `every` steps and `at_words`, where a checkpoint is kept too (`chck_1M`); by default, at every evaluation.

        `folder` defaults to the trainer's `output_dir`, `tokenizer` to its `processing_class`; `words` counts the words of a
        batch. The other options are those of `Watcher`: sample, scoring, start, protocol, overwrite …
        """
        _must_be_whole(trainer)
        self.trainer = trainer
        self.moments = read_moments(every, at_words)
        tokenizer = tokenizer if tokenizer is not None else trainer.processing_class
        if tokenizer is None:
            raise UserError("the trainer has no tokenizer; give Trainer(processing_class=tokenizer), or watch(…, tokenizer=)")
        self.count: WordCount = words or WordCounter(tokenizer)
        self.counted = WordsSeen()
        self.before = 0
        self.trains = False
        self.tokenizer, self.sets = tokenizer, sets
        self.folder = Path(folder or trainer.args.output_dir or ".")
        told: dict[str, object] = {
            "watched": "transformers",
            "seed": trainer.args.seed,
            "recipe": _recipe(trainer),
            "name": self.folder.name,
            "every": every,
        }
        self.options = told | options
        self.watcher = self._make_watcher(resume=True)  # whether it resumes or starts is known only once training starts
        self._check_metric()
        self.step_is_due = every is None and trainer.args.eval_strategy == IntervalStrategy.NO

    def _make_watcher(self, resume: bool) -> Watcher:
        told: dict[str, Any] = self.options | ({"resume": True} if resume else {})
        return Watcher(self.trainer.model, self.tokenizer, self.sets, self.folder, **told)

    @property
    def words(self) -> int:
        return self.counted.words

    # ---------------------------------------------------------------- moments

    def on_train_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object) -> None:
        self.trains = True
        known: object = state.stateful_callbacks  # a dict by now, whatever its annotation says
        kept = known.get(WordsSeen.__name__) if isinstance(known, dict) else None
        if state.global_step:
            told = kept[0] if isinstance(kept, list) else kept
            self.counted.words = int((told or {}).get("args", {}).get("words", 0))
        else:
            self.watcher = self._make_watcher(resume=False)
        self.before = self.counted.words
        self._wrap_training_step()
        if not state.global_step:
            self._log(self._probe(state))

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object) -> None:
        self.counted.words = self.before + sum_over_ranks(self.counted.words - self.before)
        marks = self.moments.reached(self.before, self.counted.words)
        self.before = self.counted.words
        if marks or self.moments.due_by_step(state.global_step):
            self._log(self._probe(state))
        for mark in marks:
            self.trainer.save_model(str(self.folder / checkpoint_name(mark)))

    def on_epoch_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object) -> None:
        if self.step_is_due:  # training that never evaluates
            self._log(self._probe(state))

    def on_evaluate(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        metrics: dict[str, float] | None = None,
        **_: object,
    ) -> None:
        """The trainer has logged its own metrics by now; it picks the best model by what is added to them here.

        With several evaluation sets this is called once for each, but the model is probed only once.
        """
        if metrics is None or not self.trains or (self.moments.every is not None and not self._chosen_by()):
            return
        new = self.watcher.last is None or self.watcher.last.step != state.global_step
        found = self._probe(state, metrics)
        metrics.update(_evaluated(found))
        if new:
            self._log(found)

    def on_train_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object) -> None:
        """The whole sets with the final weights: the best, if the trainer loads them at the end."""
        self._unwrap_training_step()
        self._probe(state)
        self.trains = False
        self.watcher.finish(words=self.counted.words)

    # ----------------------------------------------------------------- probing

    def _probe(self, state: TrainerState, metrics: dict[str, float] | None = None) -> ProbeTable:
        losses = {name: value for name, value in (metrics or {}).items() if name.endswith("loss") and PROBE not in name}
        return self.watcher(state.global_step, self.counted.words, losses)

    def _log(self, found: ProbeTable) -> None:
        self.trainer.log(_evaluated(found) | {"words_seen": self.counted.words})

    def _wrap_training_step(self) -> None:
        """Callbacks do not see batches; the training step does."""
        step: Callable[..., Tensor] = self.trainer.training_step

        def counted(model: nn.Module, inputs: dict[str, object], *rest: object, **named: object) -> Tensor:
            self.counted.words += self.count(inputs)
            return step(model, inputs, *rest, **named)

        self.trainer.training_step = counted  # type: ignore[method-assign]

    def _unwrap_training_step(self) -> None:
        self.trainer.__dict__.pop("training_step", None)

    def _chosen_by(self) -> bool:
        """Whether the trainer picks its best model by a probe."""
        return PROBE in (self.trainer.args.metric_for_best_model or "")

    def _check_metric(self) -> None:
        chosen = (self.trainer.args.metric_for_best_model or "").removeprefix(EVALUATED)
        names = self.watcher.metric_names
        if self._chosen_by() and chosen not in names:
            near = difflib.get_close_matches(chosen, names, n=3, cutoff=0) or names[-1:]
            raise UserError(f"metric_for_best_model={chosen}: no such probe; available: {', '.join(near)} …")


def watch_trainer(trainer: Trainer, lang: str | None, *, sets: Sets | None = None, **options: Any) -> TrainerWatch:
    """A watch registered with the trainer."""
    if (lang is None) == (sets is None):
        raise UserError('watch: give either lang="de" for our sets of a language, or sets=concord.sets(…)')
    made = TrainerWatch(trainer, sets or str(lang), **options)
    trainer.add_callback(made.counted)
    trainer.add_callback(made)
    return made


def _evaluated(found: ProbeTable) -> dict[str, float]:
    return {f"{EVALUATED}{name}": value for name, value in found.accuracies.items()}


def _recipe(trainer: Trainer) -> dict[str, object]:
    """What makes the model: its configuration and the training settings, except those about the machine."""
    settings = {name: value for name, value in trainer.args.to_dict().items() if not name.startswith(MACHINE)}
    config = getattr(trainer.model, "config", None)
    return {"model": config.to_diff_dict() if config is not None else {}, "training": settings}


def _must_be_whole(trainer: Trainer) -> None:
    for name, what in (("is_fsdp_enabled", "FSDP"), ("is_deepspeed_enabled", "DeepSpeed")):
        if getattr(trainer, name, False):
            raise UserError(f"watch: {what} shards the weights, which cannot be probed in place; train with DDP")
    if rank_and_world()[1] > 1 and trainer.args.world_size != rank_and_world()[1]:
        raise UserError("watch: the trainer's processes are not those of torch.distributed")
