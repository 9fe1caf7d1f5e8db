"""The LSTM: its state carries everything it has read."""

from torch import Tensor, nn

from ...machine import keep_few_shapes
from ...settings.reading import Count, Share
from . import Network

State = tuple[Tensor, Tensor]  # hidden and cell, (L, B, H) each


class LSTM(Network):
    """Stacked LSTM layers with dropout between them."""

    def __init__(self, width: int, hidden: int, layers: int, dropout: float) -> None:
        super().__init__()
        keep_few_shapes()
        self.hidden = hidden
        # torch applies dropout only between layers, and warns if there is no such place.
        self.layers = nn.LSTM(width, hidden, layers, batch_first=True, dropout=dropout if layers > 1 else 0.0)

    def forward(self, x: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        y, state = self.layers(x, state)  # (B, T, D) → (B, T, H)
        return y, state

    read = forward


def build(width: int, *, hidden: Count, layers: Count, dropout: Share) -> LSTM:
    return LSTM(width, hidden, layers, dropout)
