"""The incremental Transformer: each position attends to itself and to what is on its left."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...errors import UserError
from ...settings.reading import Count, Share
from . import Network

# For each attention weight: itself, itself after dropout, and what it is computed from.
ATTENTION = 3
State = tuple[Tensor, ...]  # keys and values of each block, (2, B, heads, T, D/heads)


class TransformerBlock(nn.Module):
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

    def forward(self, x: Tensor, past: Tensor | None = None, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """(B, T, D) → (B, T, D), and the keys and values of everything read.

        `mask`, (T, T): what each position may attend to, if not its left context.
        """
        if self.norm_first:
            y, past = self._attend(self.norm_attention(x), past, mask)
            x = x + self._drop(y)
            return x + self._drop(self._feed(self.norm_feedforward(x))), past
        y, past = self._attend(x, past, mask)
        x = self.norm_attention(x + self._drop(y))
        return self.norm_feedforward(x + self._drop(self._feed(x))), past

    def _attend(self, x: Tensor, past: Tensor | None, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        B, T, D = x.shape
        qkv = self.qkv(x).view(B, T, 3, self.heads, D // self.heads).permute(2, 0, 3, 1, 4)  # (3, B, heads, T, D/heads)
        q, kv = qkv[0], qkv[1:]
        if past is not None:
            kv = torch.cat([past, kv], dim=3)
        dropout = self.dropout if self.training else 0.0
        left = mask is None and past is None
        if mask is None and past is not None and T > 1:
            # A single new word may attend to everything; several must be kept from attending to each other's future.
            mask = _not_later(T, kv.shape[3]).to(x.device)
        y = F.scaled_dot_product_attention(q, kv[0], kv[1], attn_mask=mask, dropout_p=dropout, is_causal=left)
        return self.out(y.transpose(1, 2).reshape(B, T, D)), kv

    def _feed(self, x: Tensor) -> Tensor:
        return self.down(self._drop(F.relu(self.up(x))))

    def _drop(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.dropout, self.training)


class Transformer(Network):
    """Blocks over embeddings scaled by √D, with sines and cosines of the position added."""

    def __init__(
        self, width: int, layers: int, heads: int, feedforward: int, dropout: float, norm_first: bool, final_norm: bool
    ) -> None:
        super().__init__()
        if width % heads:
            raise UserError(f"the embedding ({width}) must be a multiple of the number of heads ({heads})")
        self.hidden = width
        self.kept_per_pair = ATTENTION * heads * layers
        self.dropout = dropout
        self.blocks = nn.ModuleList(TransformerBlock(width, heads, feedforward, dropout, norm_first) for _ in range(layers))
        self.norm = nn.LayerNorm(width) if final_norm else nn.Identity()
        self.positions = sinusoids(512, width)  # no buffer: DDP would broadcast it, and processes may need different lengths

    def forward(self, x: Tensor, state: None = None) -> tuple[Tensor, None]:
        """Every sentence or window stands alone: nothing is carried from one to the next."""
        x = self._placed(x, 0)
        for block in self.blocks:
            x, _ = block(x)
        return self.norm(x), None

    def read(self, x: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        pasts = state or [None] * len(self.blocks)
        x = self._placed(x, 0 if pasts[0] is None else pasts[0].shape[3])
        kept = []
        for block, past in zip(self.blocks, pasts, strict=True):
            x, now = block(x, past)
            kept.append(now)
        return self.norm(x), tuple(kept)

    def read_tree(self, x: Tensor, depths: Tensor, mask: Tensor) -> Tensor:
        """Many sentences with shared beginnings, packed into one: (1, N, D) → (1, N, D). Each node is at its depth and attends to
        the nodes on its path from the root, `mask` (N, N), including itself.
        """
        x = self._at(x, self._positions(int(depths.max()) + 1, x)[depths])
        for block in self.blocks:
            x, _ = block(x, mask=mask)
        return self.norm(x)

    def _placed(self, x: Tensor, start: int) -> Tensor:
        """Embeddings with their positions added."""
        end = start + x.shape[1]
        return self._at(x, self._positions(end, x)[start:end])

    def _at(self, x: Tensor, positions: Tensor) -> Tensor:
        return F.dropout(x * math.sqrt(x.shape[-1]) + positions, self.dropout, self.training)

    def _positions(self, length: int, like: Tensor) -> Tensor:
        """At least this many, (length, D), where they are needed."""
        if len(self.positions) < length or self.positions.device != like.device:
            with torch.inference_mode(False):  # made during validation, they serve training too
                self.positions = sinusoids(max(length, len(self.positions)), like.shape[-1]).to(like.device)
        return self.positions


def _not_later(new: int, total: int) -> Tensor:
    """(new, total): which of all positions each of the last `new` may attend to."""
    return torch.ones(new, total, dtype=torch.bool).tril(total - new)


def sinusoids(length: int, width: int) -> Tensor:
    """Position t, dimension 2i: sin(t / 10000^(2i/D)); dimension 2i + 1: the cosine."""
    angles = torch.arange(length)[:, None] / 10_000 ** (torch.arange(0, width, 2) / width)
    table = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    return table[:, :width]  # (T, D)


def build(
    width: int, *, layers: Count, heads: Count, feedforward: Count, dropout: Share, norm_first: bool, final_norm: bool
) -> Transformer:
    return Transformer(width, layers, heads, feedforward, dropout, norm_first, final_norm)
