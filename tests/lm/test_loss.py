"""One softmax for training and perplexity, in rows or at once."""

import math

import pytest
import torch
from concord.data.batches import NO_TARGET
from concord.lm import loss
from concord.lm.loss import summed_nll, token_nll
from concord.lm.perplexity import Tally
from torch import nn
from torch.nn import functional as F


@pytest.fixture
def batch():
    torch.manual_seed(0)
    targets = torch.randint(50, (6, 11))
    targets[2, 4:] = NO_TARGET
    return torch.randn(6, 11, 8, requires_grad=True), targets, nn.Linear(8, 50)


@pytest.mark.parametrize("small", [0, 10**9])
@pytest.mark.parametrize(("rows", "words"), [(7, 2048), (7, 13), (256, 50), (256, 7)])
def test_the_sum_and_its_gradient_are_those_of_cross_entropy(batch, monkeypatch, small, rows, words):
    contexts, targets, decoder = batch
    monkeypatch.setattr(loss, "SMALL", small)
    monkeypatch.setattr(loss, "ROWS", rows)
    monkeypatch.setattr(loss, "WORDS", words)
    nll, tokens = summed_nll(contexts, targets, decoder)
    gradients = torch.autograd.grad(nll * 3, [contexts, decoder.weight, decoder.bias])
    expected = F.cross_entropy(decoder(contexts).flatten(0, 1), targets.flatten(), reduction="sum", ignore_index=NO_TARGET)
    wanted = torch.autograd.grad(expected * 3, [contexts, decoder.weight, decoder.bias])
    assert tokens == 6 * 11 - 7
    torch.testing.assert_close(nll, expected)
    for ours, theirs in zip(gradients, wanted, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    with torch.no_grad():
        torch.testing.assert_close(summed_nll(contexts, targets, decoder)[0], expected)


@pytest.mark.parametrize(("rows", "words"), [(7, 13), (256, 2048)])
def test_each_token_by_itself_has_its_cross_entropy(batch, monkeypatch, rows, words):
    contexts, targets, decoder = batch
    monkeypatch.setattr(loss, "ROWS", rows)
    monkeypatch.setattr(loss, "WORDS", words)
    y, t = contexts[targets != NO_TARGET], targets[targets != NO_TARGET]
    with torch.no_grad():
        torch.testing.assert_close(token_nll(y, t, decoder), F.cross_entropy(decoder(y), t, reduction="none"))
        assert token_nll(y[:0], t[:0], decoder).shape == (0,)


def test_nothing_to_predict_costs_nothing(batch, monkeypatch):
    contexts, targets, decoder = batch
    nll, tokens = summed_nll(contexts, torch.full_like(targets, NO_TARGET), decoder)
    nll.backward()
    assert (nll.item(), tokens) == (0.0, 0)
    assert not contexts.grad.any()
    monkeypatch.setattr(loss, "SMALL", 0)
    monkeypatch.setattr(loss, "WORDS", 13)
    with torch.no_grad():
        assert summed_nll(contexts, torch.full_like(targets, NO_TARGET), decoder)[0].item() == 0.0


def test_perplexity_is_over_tokens_never_a_mean_of_means():
    tally = Tally()
    tally.add(torch.tensor(math.log(2.0) * 30), 30)
    tally.add(torch.tensor(math.log(8.0) * 10), 10)
    assert tally.perplexity == pytest.approx(2 ** ((30 + 3 * 10) / 40))
    assert tally.over_all_ranks(torch.device("cpu")).perplexity == tally.perplexity


@pytest.mark.parametrize("rows", [7, 256])
def test_in_mixed_training_products_are_short_and_sums_are_not(batch, monkeypatch, rows):
    contexts, targets, decoder = batch
    monkeypatch.setattr(loss, "ROWS", rows)
    wanted = [contexts, decoder.weight, decoder.bias]
    exact = summed_nll(contexts, targets, decoder)[0]
    gradients = torch.autograd.grad(exact, wanted)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed, tokens = summed_nll(contexts.to(torch.bfloat16), targets, decoder)
        assert mixed.dtype == torch.float32
        assert tokens == 6 * 11 - 7
        assert mixed != exact  # it is another arithmetic …
        assert mixed.item() == pytest.approx(exact.item(), rel=5e-3)  # … of the same number
        for ours, theirs in zip(torch.autograd.grad(mixed, wanted), gradients, strict=True):
            assert ours.dtype == torch.float32
            assert F.cosine_similarity(ours.flatten(), theirs.flatten(), dim=0) > 0.999
    with torch.no_grad():  # validation and whatever else only looks
        looked = summed_nll(contexts, targets, decoder)[0]
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        assert summed_nll(contexts, targets, decoder)[0] == looked


def test_a_scaled_loss_has_a_scaled_gradient_in_mixed_training(batch):
    contexts, targets, decoder = batch
    with torch.autocast("cpu", dtype=torch.bfloat16):
        nll, _ = summed_nll(contexts, targets, decoder)
    plain, scaled = (torch.autograd.grad(nll * scale, decoder.weight, retain_graph=True)[0] for scale in (1.0, 65536.0))
    torch.testing.assert_close(plain * 65536.0, scaled)
