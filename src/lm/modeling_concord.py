"""A language model of Concord for transformers: `AutoModelForCausalLM.from_pretrained(FOLDER, trust_remote_code=True)`.

This file lies beside the weights and needs torch and transformers, nothing else. A sentence begins after `<eos>`, with nothing
remembered; the logits are log-probabilities. Every call reads its whole input: there is no cache between the steps of `generate`.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F
from transformers import PretrainedConfig, PreTrainedModel
from transformers.generation import GenerationMixin
from transformers.modeling_outputs import CausalLMOutput


class ConcordConfig(PretrainedConfig):
    """The architecture, and what else a checkpoint says of itself."""

    model_type = "concord"

    def __init__(self, architecture=None, about=None, **rest):
        self.architecture = architecture or {}
        self.about = about or {}
        network = self.architecture.get("network", {})
        self.vocab_size = self.architecture.get("vocabulary_size", 0)
        self.hidden_size = self.architecture.get("embedding", 0)
        self.num_hidden_layers = network.get("layers", 0)
        self.num_attention_heads = network.get("heads", 1)
        same = {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0, "use_cache": False}
        super().__init__(**same | {"tie_word_embeddings": bool(self.architecture.get("tied"))} | rest)


class RecurrentNetwork(nn.Module):
    """Stacked LSTM layers."""

    def __init__(self, width, hidden, layers, dropout):
        super().__init__()
        self.hidden = hidden
        self.layers = nn.LSTM(width, hidden, layers, batch_first=True, dropout=dropout if layers > 1 else 0.0)

    def forward(self, x):
        return self.layers(x)[0]


class TransformerBlock(nn.Module):
    """Self-attention to the left and feed-forward, each added to its input."""

    def __init__(self, width, heads, feedforward, dropout, norm_first):
        super().__init__()
        self.heads, self.dropout, self.norm_first = heads, dropout, norm_first
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up = nn.Linear(width, feedforward)
        self.down = nn.Linear(feedforward, width)
        self.norm_attention = nn.LayerNorm(width)
        self.norm_feedforward = nn.LayerNorm(width)

    def forward(self, x):
        if self.norm_first:
            x = x + self.drop(self.attend(self.norm_attention(x)))
            return x + self.drop(self.feed(self.norm_feedforward(x)))
        x = self.norm_attention(x + self.drop(self.attend(x)))
        return self.norm_feedforward(x + self.drop(self.feed(x)))

    def attend(self, x):
        B, T, D = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, D // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout if self.training else 0.0, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(B, T, D))

    def feed(self, x):
        return self.down(self.drop(F.relu(self.up(x))))

    def drop(self, x):
        return F.dropout(x, self.dropout, self.training)


class TransformerNetwork(nn.Module):
    """Blocks over embeddings weighted by √D, to which sines and cosines of the position are added."""

    def __init__(self, width, layers, heads, feedforward, dropout, norm_first, final_norm):
        super().__init__()
        self.hidden, self.dropout = width, dropout
        self.blocks = nn.ModuleList(TransformerBlock(width, heads, feedforward, dropout, norm_first) for _ in range(layers))
        self.norm = nn.LayerNorm(width) if final_norm else nn.Identity()

    def forward(self, x):
        T, D = x.shape[1:]
        x = F.dropout(x * math.sqrt(D) + sinusoids(T, D).to(x), self.dropout, self.training)
        for block in self.blocks:
            x = block(x)
        return self.norm(x)


def sinusoids(length, width):
    """Position t, dimension 2i: sin(t / 10000^(2i/D)); dimension 2i + 1: the cosine."""
    angles = torch.arange(length)[:, None] / 10_000 ** (torch.arange(0, width, 2) / width)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :width]


NETWORKS = {"lstm": RecurrentNetwork, "transformer": TransformerNetwork}


class LanguageModel(nn.Module):
    """W embeds the words, a network reads them, and Wᵀ with a bias (or a matrix of its own) predicts the next one."""

    def __init__(self, architecture):
        super().__init__()
        V, D, tied = (architecture[name] for name in ("vocabulary_size", "embedding", "tied"))
        settings = dict(architecture["network"])
        self.dropout = architecture["dropout"]
        self.embedding = nn.Embedding(V, D)
        self.network = NETWORKS[settings.pop("name")](D, **settings)
        H = self.network.hidden
        self.projection = nn.Linear(H, D) if tied and H != D else nn.Identity()
        self.decoder = nn.Linear(D if tied else H, V)
        if tied:
            self.decoder.weight = self.embedding.weight

    def forward(self, ids):
        x = F.dropout(self.embedding(ids), self.dropout, self.training)
        y = self.projection(F.dropout(self.network(x), self.dropout, self.training))
        return F.log_softmax(self.decoder(y).float(), dim=-1)


class ConcordForCausalLM(PreTrainedModel, GenerationMixin):
    """`logits[:, t]` are the log-probabilities of the word after `input_ids[:, : t + 1]`."""

    config_class = ConcordConfig
    base_model_prefix = ""
    # A mapping for transformers 5; version 4 goes over its keys.
    _tied_weights_keys = {"model.decoder.weight": "model.embedding.weight"}  # noqa: RUF012 - their way to say it

    def __init__(self, config):
        super().__init__(config)
        self.model = LanguageModel(config.architecture)
        self.post_init()

    def get_input_embeddings(self):
        return self.model.embedding

    def set_input_embeddings(self, value):
        self.model.embedding = value

    def get_output_embeddings(self):
        return self.model.decoder

    def set_output_embeddings(self, value):
        self.model.decoder = value

    def _init_weights(self, module):
        """All weights are in the file."""

    def forward(self, input_ids, attention_mask=None, labels=None, **_):
        """Padding may stand on either side: what is on the left is moved out of the way, what is on the right is never seen."""
        shift = None
        if attention_mask is not None and attention_mask.shape == input_ids.shape and bool((attention_mask[:, 0] == 0).any()):
            shift = (attention_mask.cumsum(-1) == 0).sum(-1, keepdim=True)
            input_ids = input_ids.gather(1, _turned(input_ids, shift))
        logits = self.model(input_ids)
        if shift is not None:
            input_ids = input_ids.gather(1, _turned(input_ids, -shift))
            logits = logits.gather(1, _turned(input_ids, -shift)[..., None].expand_as(logits))
        loss = None
        if labels is not None:
            loss = F.nll_loss(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100)
        return CausalLMOutput(loss=loss, logits=logits)

    def prepare_inputs_for_generation(self, input_ids, attention_mask=None, **_):
        """The whole text so far, at every step."""
        return {"input_ids": input_ids, "attention_mask": attention_mask}


def _turned(ids, shift):
    """(B, T): from where each place is filled, if every row is moved to the left by its own `shift`."""
    return (torch.arange(ids.shape[1], device=ids.device) + shift) % ids.shape[1]
