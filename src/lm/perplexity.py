"""Perplexity: exp of the total negative log-likelihood over the total number of predicted tokens, `<eos>` among them.

If tokens are pieces of words, perplexity per word divides by words and sentence ends instead, so that models compare.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from ..data.batches import NO_TARGET, BatchPlan, EvaluationLoader
from ..data.corpus import Split
from ..data.vocabulary import EOS_ID
from .loss import summed_nll
from .model import LanguageModel
from .precision import full_precision


class Tally:
    """Sums over batches and ranks; the mean is taken once, at the end."""

    def __init__(self) -> None:
        self.nll = torch.zeros((), dtype=torch.float64)
        self.tokens = 0
        self.words = 0  # and sentence ends; equal to tokens if tokens are words

    @classmethod
    def of(cls, sums: tuple[float, int, int]) -> "Tally":
        """A tally that continues from saved sums (`of_each_rank`)."""
        tally = cls()
        tally.add(torch.tensor(sums[0], dtype=torch.float64), *sums[1:])
        return tally

    def add(self, nll: Tensor, tokens: int, words: int | None = None) -> None:
        nll = nll.detach().cpu() if nll.device.type == "mps" else nll.detach()  # Apple's GPUs have no 64-bit numbers
        self.nll = self.nll.to(nll.device) + nll.double()
        self.tokens += tokens
        self.words += tokens if words is None else words

    def over_all_ranks(self, device: torch.device) -> "Tally":
        """The same sums for all processes together."""
        total = Tally()
        for nll, tokens, words in self.of_each_rank(device):
            total.add(torch.tensor(nll, dtype=torch.float64), tokens, words)
        return total

    def of_each_rank(self, device: torch.device) -> list[tuple[float, int, int]]:
        """The sums of every process, in rank order; the message uses the device's own channel."""
        if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
            return [(float(self.nll), self.tokens, self.words)]
        ours = torch.tensor([float(self.nll), self.tokens, self.words], dtype=torch.float64, device=device)
        each = [torch.empty_like(ours) for _ in range(torch.distributed.get_world_size())]
        torch.distributed.all_gather(each, ours)
        return [(float(nll), int(tokens), int(words)) for nll, tokens, words in each]

    @property
    def loss(self) -> float:
        """Nats per token."""
        return float(self.nll) / self.tokens if self.tokens else math.nan

    @property
    def perplexity(self) -> float:
        return _exp(self.loss)

    @property
    def perplexity_word(self) -> float:
        return _exp(float(self.nll) / self.words if self.words else math.nan)


def word_mask(begins: Sequence[bool] | None) -> Tensor | None:
    """Which tokens count as a word or a sentence end, (V,), from those that begin a word; None if all do."""
    return None if begins is None else torch.tensor(begins) | (torch.arange(len(begins)) == EOS_ID)


def words_among(targets: Tensor, counts: Tensor | None) -> int | None:
    """Words and sentence ends, if tokens are pieces of words."""
    return None if counts is None else int(counts[targets[targets != NO_TARGET]].sum())


def evaluate_split(model: LanguageModel, split: Split, begins: Sequence[bool] | None = None, tokens: int = 8192) -> Tally:
    """A model on a split, measured like validation."""
    tally, counts = Tally(), word_mask(begins)
    device = model.embedding.weight.device
    training = model.training
    model.eval()
    with torch.no_grad(), full_precision(device.type):
        for batch in EvaluationLoader(split, tokens, BatchPlan()):
            contexts, _ = model.contexts(batch.inputs.to(device))
            nll, predicted = summed_nll(contexts, batch.targets.to(device), model.decoder)
            tally.add(nll, predicted, words_among(batch.targets, counts))
    model.train(training)
    return tally


def _exp(loss: float) -> float:
    return math.inf if loss >= 700 else math.exp(loss)
