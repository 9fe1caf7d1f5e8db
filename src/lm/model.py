"""The language model: one template for every network (Li, Wisniewski and Crabbé 2021, equations 2 to 4)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from . import networks
from .networks import State, check_rows


@dataclass(frozen=True)
class Architecture:
    """Everything needed to rebuild a model, in plain values."""

    vocabulary_size: int
    embedding: int
    tied: bool
    dropout: float
    init: float  # words start uniform in ±init
    network: Mapping[str, object] = field(default_factory=dict)

    def plain(self) -> dict[str, object]:
        return asdict(self)


class LanguageModel(nn.Module):
    """W embeds the words, a network reads them, and Wᵀ with a bias predicts the next one.

    Untied, the prediction has its own matrix. If the network is wider than the embedding, a projection joins them.
    """

    def __init__(self, architecture: Architecture, allow: Sequence[str] = ()) -> None:
        """`allow`: user packages that the network may come from; see `networks`."""
        super().__init__()
        self.architecture = architecture
        V, D = architecture.vocabulary_size, architecture.embedding
        self.embedding = nn.Embedding(V, D)
        self.network = networks.build(architecture.network, D, allow)
        H = self.network.hidden
        tied = architecture.tied
        self.projection = nn.Linear(H, D) if tied and H != D else nn.Identity()
        self.decoder = nn.Linear(D if tied else H, V)
        nn.init.uniform_(self.embedding.weight, -architecture.init, architecture.init)
        nn.init.uniform_(self.decoder.weight, -architecture.init, architecture.init)
        nn.init.zeros_(self.decoder.bias)
        if tied:
            self.decoder.weight = self.embedding.weight

    def contexts(self, inputs: Tensor, state: State = None) -> tuple[Tensor, State]:
        """What the model makes of each position and its left context: (B, T) → (B, T, D), to be compared with every word."""
        dropout = self.architecture.dropout
        x = F.dropout(self.embedding(inputs), dropout, self.training)  # (B, T, D)
        y, state = self.network(x, state)  # (B, T, H)
        return self.projection(F.dropout(y, dropout, self.training)), state

    def read(self, inputs: Tensor, state: State = None) -> tuple[Tensor, State]:
        """Contexts in evaluation mode, and a state from which any network can continue reading; see `networks`."""
        y, state = self.network.read(self.embedding(inputs), state)
        check_rows(state, len(inputs))
        return self.projection(y), state

    @property
    def reads_trees(self) -> bool:
        """Whether its network can read many sentences with shared beginnings as one tree."""
        return getattr(self.network, "read_tree", None) is not None

    def read_tree(self, inputs: Tensor, depths: Tensor, mask: Tensor) -> Tensor:
        """Contexts of a tree's nodes in evaluation mode, (N,) → (N, D); see `networks`."""
        assert self.network.read_tree is not None
        return self.projection(self.network.read_tree(self.embedding(inputs[None]), depths, mask))[0]

    def forward(self, inputs: Tensor, state: State = None) -> tuple[Tensor, State]:
        """Log-probabilities of every next word: (B, T) → (B, T, V)."""
        y, state = self.contexts(inputs, state)
        return F.log_softmax(self.decoder(y).float(), dim=-1), state

    def parameter_count(self) -> int:
        """Each tied parameter once."""
        return sum(p.numel() for p in self.parameters())

    @torch.no_grad()
    def expect_frequencies(self, counts: Tensor) -> None:
        """Initialise the bias to the log of each word's share, as if every word had been seen once more, (V,): what a model
        learns first, and slowly if there are many words.
        """
        shares = (counts + 1).double()
        self.decoder.bias.copy_((shares / shares.sum()).log())


def initialise_model(architecture: Architecture, seed: int, allow: Sequence[str] = ()) -> LanguageModel:
    """A model whose initial weights depend only on the seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return LanguageModel(architecture, allow)
