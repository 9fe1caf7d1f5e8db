"""Perplexities and scores are computed in 32 bits on every device. There is no GPU here: what torch is told can be seen."""

import numpy as np
import pytest
import torch
from concord.data.corpus import Split
from concord.lm.model import Architecture, LanguageModel
from concord.lm.perplexity import evaluate_split
from concord.lm.precision import full_precision
from concord.probes.scorers.scoring_mode import scoring_mode
from training_runs import NETWORKS


def told() -> list[str]:
    older = torch.backends.cudnn.allow_tf32  # raises an error if the two names do not agree
    return [torch.backends.cudnn.rnn.fp32_precision, torch.backends.cudnn.conv.fp32_precision, str(older)]


def test_no_products_of_ten_bits_where_a_model_is_measured():
    """torch lets cuDNN compute an LSTM in TF32 unless it is told otherwise."""
    model, usual, seen = LanguageModel(Architecture(5, 8, True, 0.0, 0.1, NETWORKS["lstm"])), told(), []
    model.network.register_forward_hook(lambda *_: seen.append(told()))
    evaluate_split(model, Split(np.array([2, 3, 0]), np.array([0, 3]), 0))
    with scoring_mode(model):
        model.read(torch.zeros((1, 2), dtype=torch.long))
        seen.append(told())
    assert seen == [["ieee", "ieee", "False"]] * 2
    assert told() == usual


def test_afterwards_all_is_as_before_even_after_an_error():
    usual = told()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with pytest.raises(RuntimeError, match="autocast is False"), full_precision("cpu"):
            raise RuntimeError(f"autocast is {torch.is_autocast_enabled('cpu')}")
        assert torch.is_autocast_enabled("cpu")
    assert told() == usual
    assert usual == ["tf32", "tf32", "True"]  # torch's default, the reason for all this
