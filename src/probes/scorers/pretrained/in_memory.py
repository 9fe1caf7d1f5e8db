"""A transformers model in memory, possibly in mid-training: scored as if it had been saved and loaded."""

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from ....errors import UserError
from .. import ProbeSentence, Reading, SharedScorer, WordScores
from ..logits import LogitsScorer, left_to_right
from ..scoring_mode import scoring_mode
from . import default_scoring, scorer
from .causal import Causal, start_pieces
from .forward import Forward
from .loading import CAUSAL_HEADS, MASKED_HEADS, Kind, Pretrained, longest_input, tokenizer_digest
from .masked import Masked
from .options import Options
from .pretrained_error import PretrainedError
from .unmasked import Unmasked
from .word_pieces import tokenise, unknown_token


def wrap(model: Any, tokenizer: object, kind: Kind | None = None) -> Pretrained:
    """The model itself, or what an adapter turns it into; nothing is copied."""
    name = type(model).__name__
    ready = fast_tokenizer(tokenizer)
    found = kind or _kind_of(name)
    if found == "masked" and ready.mask_token_id is None:
        raise PretrainedError(name, "its tokenizer has no mask token, so nothing can be masked")
    return Pretrained(name, found, model, ready, tokenizer_digest(ready), longest_input(model, ready))


def _kind_of(name: str) -> Kind:
    if name.endswith(MASKED_HEADS):
        return "masked"
    if name.endswith(CAUSAL_HEADS):
        return "causal"
    raise UserError(
        f'{name}: its name does not tell whether it is a masked or a causal language model; set kind="masked" or kind="causal"'
    )


def fast_tokenizer(tokenizer: object) -> PreTrainedTokenizerBase:
    """A tokenizer that maps pieces to characters; a bare `tokenizers.Tokenizer` will do."""
    if isinstance(tokenizer, Tokenizer):
        return PreTrainedTokenizerFast(tokenizer_object=tokenizer)
    if not (isinstance(tokenizer, PreTrainedTokenizerBase) and tokenizer.is_fast):
        raise UserError(f"{type(tokenizer).__name__}: must be a fast tokenizer, which maps pieces to characters")
    return tokenizer


def wrap_module(name: str, module: nn.Module, tokenizer: PreTrainedTokenizerBase, start: str) -> LogitsScorer:
    """A user's module that reads the pieces of such a tokenizer."""
    first = next(iter(start_pieces(name, tokenizer, start)), None)
    opening = "" if first is None else str(tokenizer.convert_ids_to_tokens(first))
    reading = left_to_right(opening, unknown_token(tokenizer), pieces=True)
    return LogitsScorer(name, module, lambda some: tokenise(tokenizer, some, "written", marks=False), first, reading)


class InMemoryScorer:
    """Scores with the current weights, in float32 whatever their training precision, and leaves no trace in them."""

    def __init__(self, pretrained: Pretrained, scoring: str | None, options: Options) -> None:
        made = scorer(scoring or default_scoring(pretrained), pretrained, options)
        assert isinstance(made, Causal | Masked | Unmasked)
        self.scorer: Causal | Masked | Unmasked = made
        self.pretrained = pretrained
        self.name = made.name

    @property
    def reading(self) -> Reading:
        return self.scorer.reading

    def score(self, sentences: Sequence[ProbeSentence]) -> WordScores:
        prepared = self.prepare(sentences)
        return self.scores(prepared, self.logprobs(prepared))

    def prepare(self, sentences: Sequence[ProbeSentence]) -> object:
        return self.scorer.prepare(sentences)

    def logprobs(self, prepared: object, rank: int = 0, world: int = 1) -> NDArray[np.float32]:
        model = self.pretrained.model
        shared: SharedScorer = self.scorer
        with scoring_mode(model), _without_autocast(model):
            self.scorer.forward = Forward(replace(self.pretrained, model=_in_float32(model)))
            try:
                return shared.logprobs(prepared, rank, world)
            finally:
                self.scorer.forward = Forward(self.pretrained)  # releases the copy, if there was one

    def scores(self, prepared: object, logprobs: NDArray[np.float32]) -> WordScores:
        shared: SharedScorer = self.scorer
        return shared.scores(prepared, logprobs)


def _in_float32(model: PreTrainedModel) -> PreTrainedModel:
    """Half precision creates ties; weights trained in it are read as they would be from a file."""
    whole = all(each.dtype == torch.float32 for each in model.parameters() if each.is_floating_point())
    return model if whole else copy.deepcopy(model).float()


@contextmanager
def _without_autocast(model: PreTrainedModel) -> Iterator[None]:
    """Under mixed precision accelerate gives the model its own `forward`, which casts regardless of context."""
    patched = model.__dict__.pop("forward", None) if "_original_forward" in model.__dict__ else None
    try:
        yield
    finally:
        if patched is not None:
            model.forward = patched
