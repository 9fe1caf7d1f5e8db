"""Log-probabilities from a model: only at the requested positions and for the requested pieces.

The head of a language model, a matrix over all pieces, often costs more than everything below it, and its output fills the
memory. So the hidden states that matter are picked out between body and head, some at a time. Whether a model allows this is
tried once, on its first batch; if not, the whole model is used unchanged.
"""

import logging
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers.utils.generic import ModelOutput

from .loading import Pretrained

log = logging.getLogger(__name__)
LOGITS = 2**24  # at most this many numbers at once: 64 MiB
ALIKE = 1e-4  # nats


class Forward:
    """A model as a function from pieces to log-probabilities."""

    def __init__(self, pretrained: Pretrained) -> None:
        self.model = pretrained.model
        self.device = next(self.model.parameters()).device
        self.settings = {"use_cache": False} if pretrained.kind == "causal" else {}
        pad = pretrained.tokenizer.pad_token_id or 0
        self.pad = pad if pad < self.model.config.vocab_size else 0  # a pad token may have been added without an embedding
        body = self.model.base_model
        self.body: nn.Module | None = body if body is not self.model else None
        self.tried = False

    @torch.no_grad()  # not inference_mode: what a model in training keeps of it must be usable for training
    def __call__(self, inputs: Mapping[str, Tensor], places: Tensor, asked: Tensor, pieces: Tensor) -> NDArray[np.float32]:
        """Inputs (B, T), places (N,) in the flattened B·T; the log-probability of pieces[q] at place number asked[q] → (Q,)."""
        inputs = {key: value.to(self.device) for key, value in inputs.items()}
        places, asked, pieces = (tensor.to(self.device) for tensor in (places, asked, pieces))
        if not self.tried:
            self._try(inputs, places)
        answers = torch.empty(len(asked), dtype=torch.float32, device=self.device)
        first = 0
        for logits in self._logits(inputs, places):  # (n, V)
            here = (asked >= first) & (asked < first + len(logits))
            answers[here] = logits.log_softmax(-1)[asked[here] - first, pieces[here]]
            first += len(logits)
        return answers.cpu().numpy()

    def _logits(self, inputs: dict[str, Tensor], places: Tensor) -> Iterator[Tensor]:
        return self._whole(inputs, places) if self.body is None else self._picked(inputs, places)

    def _whole(self, inputs: dict[str, Tensor], places: Tensor) -> Iterator[Tensor]:
        yield self.model(**inputs, **self.settings).logits.float().flatten(0, 1)[places]

    def _picked(self, inputs: dict[str, Tensor], places: Tensor) -> Iterator[Tensor]:
        """The body reads once; the model is then called again for each part, with a body that only returns its states."""
        body = self.body
        assert body is not None
        kept: dict[str, Any] = {}

        def pick(module: nn.Module, arguments: object, output: ModelOutput) -> ModelOutput:
            kept["output"] = kept.get("output", output)
            kept["states"] = kept.get("states", output["last_hidden_state"].flatten(0, 1))  # (B·T, H)
            output["last_hidden_state"] = kept["states"][kept["part"]][None]  # (1, n, H)
            return output

        handle = body.register_forward_hook(pick)
        read = body.forward
        try:
            for part in places.split(max(1, LOGITS // self.model.config.vocab_size)):
                kept["part"] = part
                yield self.model(**inputs, **self.settings).logits[0].float()
                body.forward = lambda *_, **__: kept["output"]
        finally:
            handle.remove()
            body.forward = read

    def _try(self, inputs: dict[str, Tensor], places: Tensor) -> None:
        """Picking is used if it gives the same results as the whole model."""
        self.tried = True
        if self.body is None:
            return
        few, some = {key: value[:2] for key, value in inputs.items()}, places[places < 2 * inputs["input_ids"].shape[1]][:8]
        try:
            picked, whole = (torch.cat(list(way(few, some))) for way in (self._picked, self._whole))
            alike = picked.shape == whole.shape and torch.allclose(picked, whole, rtol=0, atol=ALIKE)
        except (TypeError, KeyError, RuntimeError, IndexError, AttributeError):
            alike = False
        if not alike:
            log.info("the head of %s cannot be used separately; its whole output is computed", type(self.model).__name__)
            self.body = None
