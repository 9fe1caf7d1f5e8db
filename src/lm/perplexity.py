"""Perplexity: exp of the total negative log-likelihood over the total number of predicted tokens, `<eos>` among them."""

import math

import torch
from torch import Tensor


class Tally:
    """Sums over batches and ranks; the mean is taken once, at the end."""

    def __init__(self) -> None:
        self.nll = torch.zeros((), dtype=torch.float64)
        self.tokens = 0

    def add(self, nll: Tensor, tokens: int) -> None:
        self.nll = self.nll.to(nll.device) + nll.detach().double()
        self.tokens += tokens

    def over_all_ranks(self) -> "Tally":
        """The same sums for all processes together."""
        return Tally.restored(self.of_each_rank(), rank=0, world=1)

    def of_each_rank(self) -> list[tuple[float, int]]:
        """The sums of every process, in the order of ranks."""
        if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
            return [(float(self.nll), self.tokens)]
        ours = torch.stack([self.nll, torch.tensor(self.tokens, dtype=torch.float64, device=self.nll.device)])
        each = [torch.empty_like(ours) for _ in range(torch.distributed.get_world_size())]
        torch.distributed.all_gather(each, ours)
        return [(float(nll), int(tokens)) for nll, tokens in each]

    @classmethod
    def restored(cls, each: list[tuple[float, int]], rank: int, world: int) -> "Tally":
        """The sums of one rank of `world` from those of all; with another number of ranks than before the first takes all."""
        tally = cls()
        ours = [each[rank]] if len(each) == world else each if rank == 0 else []
        for nll, tokens in ours:
            tally.add(torch.tensor(nll, dtype=torch.float64), tokens)
        return tally

    @property
    def loss(self) -> float:
        """Nats per token."""
        return float(self.nll) / self.tokens if self.tokens else math.nan

    @property
    def perplexity(self) -> float:
        return math.exp(self.loss) if self.loss < 700 else math.inf
