"""The one softmax of training and perplexity: summed negative log-likelihood of the tokens to be predicted, in nats."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..data.batches import NO_TARGET

# Rows of logits that exist at one time. Without a bound, 4,096 tokens and 50,000 words take 2.3 GB; 256 rows are also quickest.
ROWS = 256
# Below this many logits everything fits into the cache anyway and one call is quicker.
SMALL = 4_000_000


def summed_nll(contexts: Tensor, targets: Tensor, decoder: nn.Linear) -> tuple[Tensor, int]:
    """Contexts (B, T, D) and targets (B, T) → the sum over all tokens, and their number. Always in 32 bits."""
    y, t = contexts.flatten(0, 1).float(), targets.flatten()  # (N, D), (N,)
    wanted = t != NO_TARGET
    with torch.autocast(y.device.type, enabled=False):
        if y.shape[0] * decoder.out_features <= SMALL:
            # Batches are of like lengths: computing the little padding costs less than picking the rest out.
            nll = F.cross_entropy(decoder(y), t, reduction="sum", ignore_index=NO_TARGET)
        else:
            nll = _large(y[wanted], t[wanted], decoder)
    return nll, int(wanted.sum())


def _large(y: Tensor, t: Tensor, decoder: nn.Linear) -> Tensor:
    if not torch.is_grad_enabled():
        return _in_rows(y, t, decoder)
    # Computes the gradient along with the loss, a few rows at a time.
    options = nn.LinearCrossEntropyOptions(batch_chunk_size=ROWS)
    return F.linear_cross_entropy(y, decoder.weight, t, linear_bias=decoder.bias, reduction="sum", options=options)


def _in_rows(y: Tensor, t: Tensor, decoder: nn.Linear) -> Tensor:
    total = y.new_zeros((), dtype=torch.float32)
    for rows, wanted in zip(y.split(ROWS), t.split(ROWS), strict=True):
        total += F.cross_entropy(decoder(rows), wanted, reduction="sum")
    return total
