"""The incremental Transformer: each position attends to itself and to what is on its left."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from data.errors import UserError

from . import Network


class Block(nn.Module):
    """Self-attention and feed-forward, each added to its input; normalised after (as published in 2017) or before."""

    def __init__(self, width: int, heads: int, feedforward: int, dropout: float, norm_first: bool) -> None:
        super().__init__()
        self.heads = heads
        self.norm_first = norm_first
        self.dropout = dropout
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up = nn.Linear(width, feedforward)
        self.down = nn.Linear(feedforward, width)
        self.norm_attention = nn.LayerNorm(width)
        self.norm_feedforward = nn.LayerNorm(width)
        nn.init.xavier_uniform_(self.qkv.weight)
        nn.init.zeros_(self.qkv.bias)
        nn.init.zeros_(self.out.bias)

    def forward(self, x: Tensor) -> Tensor:  # (B, T, D) → (B, T, D)
        if self.norm_first:
            x = x + self._drop(self._attend(self.norm_attention(x)))
            return x + self._drop(self._feed(self.norm_feedforward(x)))
        x = self.norm_attention(x + self._drop(self._attend(x)))
        return self.norm_feedforward(x + self._drop(self._feed(x)))

    def _attend(self, x: Tensor) -> Tensor:
        B, T, D = x.shape
        qkv = self.qkv(x).view(B, T, 3, self.heads, D // self.heads).permute(2, 0, 3, 1, 4)  # (3, B, heads, T, D/heads)
        q, k, v = qkv.unbind(0)
        dropout = self.dropout if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(B, T, D))

    def _feed(self, x: Tensor) -> Tensor:
        return self.down(self._drop(F.relu(self.up(x))))

    def _drop(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.dropout, self.training)


class Transformer(Network):
    """Blocks over embeddings weighted by √D to which sines and cosines of the position are added."""

    def __init__(
        self, width: int, layers: int, heads: int, feedforward: int, dropout: float, norm_first: bool, final_norm: bool
    ) -> None:
        super().__init__()
        if width % heads:
            raise UserError(f"the embedding ({width}) must be a multiple of the number of heads ({heads})")
        self.hidden = width
        self.dropout = dropout
        self.blocks = nn.ModuleList(Block(width, heads, feedforward, dropout, norm_first) for _ in range(layers))
        self.norm = nn.LayerNorm(width) if final_norm else nn.Identity()
        self.positions: Tensor
        self.register_buffer("positions", sinusoids(512, width), persistent=False)

    def forward(self, x: Tensor, state: None = None) -> tuple[Tensor, None]:
        T, D = x.shape[1:]
        if len(self.positions) < T:
            self.positions = sinusoids(max(T, 2 * len(self.positions)), D).to(x)
        x = F.dropout(x * math.sqrt(D) + self.positions[:T], self.dropout, self.training)
        for block in self.blocks:
            x = block(x)
        return self.norm(x), None


def sinusoids(length: int, width: int) -> Tensor:
    """Position t, dimension 2i: sin(t / 10000^(2i/D)); dimension 2i + 1: the cosine."""
    angles = torch.arange(length)[:, None] / 10_000 ** (torch.arange(0, width, 2) / width)
    table = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    return table[:, :width]  # (T, D)


def build(
    width: int, *, layers: int, heads: int, feedforward: int, dropout: float, norm_first: bool, final_norm: bool
) -> Transformer:
    return Transformer(width, layers, heads, feedforward, dropout, norm_first, final_norm)
