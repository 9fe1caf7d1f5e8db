"""The one softmax of training and perplexity: summed negative log-likelihood of the predicted tokens, in nats.

Softmax and sums are always in 32 bits. So is the product of contexts and words, except in mixed-precision training: there it
is in 16, which for 50,000 words is most of a step. Validation and probes never use that mode.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..data.batches import NO_TARGET

# Rows of logits that exist at once. Unbounded, 4,096 tokens and 50,000 words take 2.3 GB; 256 rows are also fastest.
ROWS = 256
# The same in mixed precision on a GPU, which wants more work at once.
ROWS_ON_GPU = 2048
# Below this many logits everything fits into the cache anyway and one call is faster.
SMALL = 4_000_000
WORDS = 2048  # whose logits are computed at once where nothing is learned from them


def rows_at_once(device: str, mixed: bool) -> int:
    """Rows of logits that exist at once in training on this type of device."""
    return ROWS_ON_GPU if mixed and device != "cpu" else ROWS


def summed_nll(contexts: Tensor, targets: Tensor, decoder: nn.Linear) -> tuple[Tensor, int]:
    """Contexts (B, T, D) and targets (B, T) → the sum over all tokens, in 32 bits, and their number."""
    y, t = contexts.flatten(0, 1).float(), targets.flatten()  # (N, D), (N,)
    wanted = t != NO_TARGET
    device = y.device.type
    mixed = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) and torch.is_grad_enabled() else None
    with torch.autocast(device, enabled=False):
        if mixed is not None:
            rows = rows_at_once(device, mixed=True)
            return MixedNLL.apply(y[wanted], t[wanted], decoder.weight, decoder.bias, mixed, rows), int(wanted.sum())
        if y.shape[0] * decoder.out_features <= SMALL:
            # Batches have similar lengths: computing the little padding costs less than selecting the rest.
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
    place = make_room(min(ROWS, len(y)), decoder)
    for rows, wanted in zip(y.split(ROWS), t.split(ROWS), strict=True):
        if decoder.out_features > WORDS:
            total -= score_tokens(decoder, rows, torch.arange(len(rows), device=y.device), wanted, place).sum()
        else:
            total += F.cross_entropy(decoder(rows), wanted, reduction="sum")
    return total


def token_nll(y: Tensor, t: Tensor, decoder: nn.Linear) -> Tensor:
    """Contexts (N, D) and targets (N,) → the negative log-likelihood of each target (N,); nothing is learned from it."""
    place = make_room(min(ROWS, len(y)), decoder)
    blocks = zip(y.split(ROWS), t.split(ROWS), strict=True)
    return -torch.cat([score_tokens(decoder, rows, torch.arange(len(rows), device=y.device), own, place) for rows, own in blocks])


def make_room(contexts: int, decoder: nn.Linear) -> Tensor:
    """A place for the logits of this many contexts and some words."""
    return decoder.weight.new_empty(contexts * min(WORDS, decoder.out_features), dtype=torch.float32)


def score_tokens(decoder: nn.Linear, contexts: Tensor, rows: Tensor, tokens: Tensor, place: Tensor) -> Tensor:
    """The log-probability of each token after the context in its row. Logits are computed for some words at a time, in the
    same place (`make_room`): they stay in the processor's cache, and no matrix is so wide that its product is slow.
    """
    size = decoder.out_features
    ordered, order = tokens.sort()
    ends = torch.searchsorted(ordered, torch.arange(0, size + WORDS, WORDS, device=tokens.device)).tolist()
    picked = torch.empty(len(rows), device=rows.device)
    totals = []
    for number, start in enumerate(range(0, size, WORDS)):
        weight, bias = decoder.weight[start : start + WORDS], decoder.bias[start : start + WORDS]
        logits = place[: len(contexts) * len(weight)].view(len(contexts), len(weight))
        torch.addmm(bias, contexts, weight.T, out=logits)
        own = order[ends[number] : ends[number + 1]]
        picked[own] = logits[rows[own], tokens[own] - start]
        largest = logits.amax(dim=-1, keepdim=True)
        totals.append(largest[:, 0] + logits.sub_(largest).exp_().sum(dim=-1).log())
    return picked - torch.stack(totals).logsumexp(dim=0)[rows]


class MixedNLL(torch.autograd.Function):
    """Products in a 16-bit type, softmax and sums in 32, a few rows at a time; the gradient is computed along with the loss.

    The factors lie between -1 and 1, so 16 bits hold them without a scale; the scale of mixed training comes later.
    """

    @staticmethod
    def forward(ctx: Any, y: Tensor, t: Tensor, weight: Tensor, bias: Tensor, kind: torch.dtype, rows: int) -> Tensor:
        words, total = weight.to(kind), y.new_zeros(())  # (V, D)
        of_contexts, of_words, of_bias = (torch.zeros_like(each, dtype=torch.float32) for each in (y, weight, bias))
        for at in range(0, len(y), rows):
            some, wanted = y[at : at + rows].to(kind), t[at : at + rows, None]
            logits = (some @ words.T).float() + bias  # (rows, V)
            logs = F.log_softmax(logits, dim=-1)
            total -= logs.gather(1, wanted).sum()
            errors = logs.exp_().scatter_add_(1, wanted, logs.new_full(wanted.shape, -1.0))
            of_bias += errors.sum(dim=0)
            short = errors.to(kind)
            of_contexts[at : at + rows] = (short @ words).float()
            of_words += (short.T @ some).float()
        ctx.save_for_backward(of_contexts, of_words, of_bias)
        return total

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor) -> tuple[Tensor | None, ...]:
        of_contexts, of_words, of_bias = (each * outputs[0] for each in ctx.saved_tensors)
        return of_contexts, None, of_words, of_bias, None, None
