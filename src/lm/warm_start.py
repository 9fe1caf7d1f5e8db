"""A warm start: the weights of another run's checkpoint, with words matched by spelling, not by id."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from ..data.vocabulary import Tokenizer
from .checkpoints import CheckpointError, load_model
from .model import LanguageModel


@dataclass(frozen=True)
class WarmStart:
    """How many of a model's words were known to the one whose weights it got; the others keep their initial weights."""

    file: Path
    known: int
    new: int
    missing: int  # words that only the other model knew

    def __str__(self) -> str:
        return (
            f"weights of {self.file}: {self.known:,} words known there, {self.new:,} new (with initial weights), "
            f"{self.missing:,} known there but not here; optimiser, schedule and counts start afresh"
        )


def take_weights(model: LanguageModel, tokenizer: Tokenizer, file: Path, allow: Sequence[str] = ()) -> WarmStart:
    """Everything the other model has learnt and this one can use. Both have the same shape, apart from their vocabularies."""
    other, words, _ = load_model(file, allow)
    ours, theirs = model.architecture.plain(), other.architecture.plain()
    free = ("vocabulary_size", "init", "dropout")
    if differing := [
        f"{key} {theirs[key]} there, {ours[key]} here" for key in ours if key not in free and not _alike(ours, theirs, key)
    ]:
        raise CheckpointError(
            f"init_from={file}: a model with a different shape: {'; '.join(differing)}. Use that run's settings"
        )
    if (words.begins() is None) != (tokenizer.begins() is None):
        raise CheckpointError(f"init_from={file}: one model predicts words, the other pieces of words; use that run's tokenizer")
    number = {word: i for i, word in enumerate(words.words)}
    pairs = [(i, number[word]) for i, word in enumerate(tokenizer.words) if word in number]
    here, there = (torch.tensor(side, dtype=torch.long) for side in zip(*pairs, strict=True))
    weights = model.state_dict()
    for name, value in other.state_dict().items():
        if name in ("embedding.weight", "decoder.weight", "decoder.bias"):
            weights[name][here] = value[there]
        else:
            weights[name].copy_(value)
    return WarmStart(file, len(pairs), len(tokenizer) - len(pairs), len(words) - len(pairs))


def _alike(ours: dict[str, object], theirs: dict[str, object], key: str) -> bool:
    """Dropout has no weights, and may differ inside a network too."""
    one, two = ours[key], theirs[key]
    if isinstance(one, dict) and isinstance(two, dict):
        return {**one, "dropout": 0} == {**two, "dropout": 0}
    return one == two
