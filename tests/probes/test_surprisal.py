"""Perplexity as other programs compute it."""

import math

import numpy as np
import pytest
import torch
from concord.data.corpus import Split
from concord.data.vocabulary import EOS_ID
from concord.lm.model import Architecture, initialise_model
from concord.probes import surprisal
from concord.probes.surprisal import macro_perplexity
from training_runs import NETWORKS

SENTENCES = [[2, 3, 4], [5, 2], [6, 6, 6, 3, 2], [4]]


@pytest.mark.parametrize("tokens", [4, 8192])
def test_the_macro_average_is_over_sentences_and_without_their_ends(tokens, monkeypatch):
    monkeypatch.setattr(surprisal, "TOKENS", tokens)
    model = initialise_model(Architecture(7, 8, True, 0.0, 1.0, NETWORKS["lstm"]), seed=1).eval()
    flat = [token for sentence in SENTENCES for token in (*sentence, EOS_ID)]
    split = Split(np.array(flat), np.cumsum([0, *(len(sentence) + 1 for sentence in SENTENCES)]), 0)
    means = []
    with torch.no_grad():
        for sentence in SENTENCES:
            logprobs, _ = model(torch.tensor([[EOS_ID, *sentence]]))
            means.append(-np.mean([float(logprobs[0, at, word]) for at, word in enumerate(sentence)]))
    assert macro_perplexity(model, split) == pytest.approx(math.exp(np.mean(means)), rel=1e-5)
