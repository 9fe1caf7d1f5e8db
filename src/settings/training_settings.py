"""How a model is built and trained: network, optimiser, trainer, checkpoints, and loggers."""

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from ..metric_names import VALID_PERPLEXITY
from .reading import Above, Count, Natural, Plain, Share, added, machine


@dataclass(frozen=True)
class ModelSettings:
    """The network and how it learns. What a network, optimiser or schedule takes is its own business."""

    name: str
    embedding: Count
    tied: bool
    dropout: Share
    init: Annotated[float, Above(0)]
    network: dict[str, Plain]
    optimizer: dict[str, Any]
    scheduler: dict[str, Any]
    compile: bool = False
    bias: Literal["zero", "frequency", "auto"] = added("zero")


@dataclass(frozen=True)
class PretrainedSettings:
    """A model from the Hugging Face hub or a folder; with `revisions`, or several names, checkpoints of one training run."""

    name: tuple[str, ...] | None = None
    revision: str | None = None
    revisions: Literal["all", "log"] | tuple[str, ...] | None = None
    pattern: str | None = None
    places: str | None = None
    keep: Literal["none", "all"] = "none"
    seed: Natural | None = None
    kind: Literal["auto", "masked", "causal"] = "auto"
    safetensors: bool = True
    trust_remote_code: bool = False
    device: str = "auto"
    tokens: Count = 1024
    start: str = "bos"
    spacing: Literal["written", "joined"] = "written"
    skip_multi_piece: bool = False
    equal_pieces: bool = False

    @property
    def asks_training(self) -> bool:
        """Whether this means checkpoints of one training run, not one model: a folder of checkpoints is not itself a model."""
        names = self.name or ()
        if self.revisions is not None or len(names) > 1:
            return True
        folder = Path(names[0]).expanduser() if names else None
        return folder is not None and not (folder / "config.json").exists() and any(folder.glob("*/config.json"))


@dataclass(frozen=True)
class ScoreFileSettings:
    """Scores computed elsewhere."""

    path: str | None = None
    name: str | None = None
    values: Literal["logprob", "surprisal", "loss"] | None = None
    base: str | int | None = None
    column: str | None = None


@dataclass(frozen=True)
class WordTokenizer:
    """The most frequent words."""

    name: Literal["word"]
    vocabulary_size: Annotated[int, Above(1)] | None = 50000
    counted_in: tuple[Literal["train", "valid", "test"], ...] = ("train",)
    rules: Literal["language", "moses"] = "language"
    vocabulary_per_language: bool = added(earlier=False)


@dataclass(frozen=True)
class PieceTokenizer:
    """Pieces of words, learnt by sentencepiece."""

    name: Literal["sentencepiece"]
    kind: Literal["unigram", "bpe"] = "unigram"
    vocabulary_size: Count = 16000
    rules: Literal["language", "moses"] = "language"


TokenizerSettings = WordTokenizer | PieceTokenizer


@dataclass(frozen=True)
class TrainerSettings:
    """Lightning's trainer; `rest` are its further settings, which it checks itself."""

    max_epochs: Count
    accelerator: str = machine("auto")
    devices: int | str = machine(1)
    num_nodes: Count = machine(1)
    strategy: str = machine("auto")
    precision: int | str = 32
    gradient_clip_val: Annotated[float, Above(0)] | None = None
    accumulate_grad_batches: Count = 1
    log_every_n_steps: Count = machine(50)
    profiler: Literal["simple", "advanced"] | None = machine(None)
    threads: Count | None = machine(None)
    rest: dict[str, Plain] = field(default_factory=dict)

    def lightning(self) -> dict[str, Plain]:
        """The arguments of Lightning's trainer."""
        ours = {"threads", "rest"}
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ours} | self.rest


@dataclass(frozen=True)
class CheckpointSettings:
    """Which checkpoints are kept."""

    monitor: str = VALID_PERPLEXITY
    mode: Literal["min", "max"] = "min"
    every_n_steps: Natural = machine(1000)
    at_words: tuple[Natural, ...] = machine(())


@dataclass(frozen=True)
class EarlyStoppingSettings:
    """When to stop a run that no longer improves."""

    monitor: str = VALID_PERPLEXITY
    mode: Literal["min", "max"] = "min"
    patience: Count | None = None


@dataclass(frozen=True)
class CallbackSettings:
    """Ours; `rest` are user-defined callbacks, each with a `_target_`."""

    checkpoints: CheckpointSettings = field(default_factory=CheckpointSettings)
    early_stopping: EarlyStoppingSettings = field(default_factory=EarlyStoppingSettings)
    rest: dict[str, Plain] = field(default_factory=dict)


@dataclass(frozen=True)
class WandbSettings:
    project: str = "concord"


@dataclass(frozen=True)
class TensorboardSettings:
    """Nothing to set: it writes into the run's folder."""


@dataclass(frozen=True)
class LoggerSettings:
    """Where the numbers go besides metrics.csv; `rest` are user-defined loggers, each with a `_target_`."""

    wandb: WandbSettings | None = None
    tensorboard: TensorboardSettings | None = None
    rest: dict[str, Plain] = field(default_factory=dict)
