"""Networks: the published sizes, torch's own modules as oracles, and no look into the future."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from concord.lm import networks
from concord.lm.model import Architecture, LanguageModel, initialise_model
from concord.lm.networks.transformer import sinusoids
from concord.machine import COMPILED
from torch import nn
from training_runs import clean

LSTM = {"name": "lstm", "hidden": 24, "layers": 2, "dropout": 0.0}
TRANSFORMER = {
    "name": "transformer",
    "layers": 2,
    "heads": 4,
    "feedforward": 32,
    "dropout": 0.0,
    "norm_first": False,
    "final_norm": False,
}


def architecture(network, **changes):
    return Architecture(
        **({"vocabulary_size": 11, "embedding": 16, "tied": True, "dropout": 0.0, "init": 0.1, "network": network} | changes)
    )


def test_the_two_published_parameter_counts():
    """Li, Wisniewski and Crabbé (2021)."""
    lstm = {"name": "lstm", "hidden": 768, "layers": 2, "dropout": 0.2}
    transformer = TRANSFORMER | {"layers": 16, "heads": 16, "feedforward": 2048}
    with torch.device("meta"):
        counts = [
            LanguageModel(architecture(network, vocabulary_size=50_001, embedding=768)).parameter_count()
            for network in (lstm, transformer)
        ]
    assert counts == [47_900_241, 126_674_513]


def test_our_lstm_is_torchs_lstm_between_tied_words():
    model = initialise_model(architecture(LSTM, embedding=24), seed=0).eval()
    reference = nn.LSTM(24, 24, 2, batch_first=True)
    reference.load_state_dict(model.network.layers.state_dict())
    x = torch.randint(11, (3, 7))
    hidden, _ = reference(model.embedding.weight[x])
    expected = torch.log_softmax(hidden @ model.embedding.weight.T + model.decoder.bias, dim=-1)
    torch.testing.assert_close(model(x)[0], expected)


@pytest.mark.parametrize("norm_first", [False, True])
def test_our_transformer_is_torchs_encoder_with_a_causal_mask(norm_first):
    model = initialise_model(architecture(TRANSFORMER | {"norm_first": norm_first}), seed=0).eval()
    layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True, norm_first=norm_first)
    reference = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    for theirs, ours in zip(reference.layers, model.network.blocks, strict=True):
        pairs = {
            theirs.self_attn.in_proj_weight: ours.qkv.weight,
            theirs.self_attn.in_proj_bias: ours.qkv.bias,
            theirs.self_attn.out_proj.weight: ours.out.weight,
            theirs.self_attn.out_proj.bias: ours.out.bias,
            theirs.linear1.weight: ours.up.weight,
            theirs.linear1.bias: ours.up.bias,
            theirs.linear2.weight: ours.down.weight,
            theirs.linear2.bias: ours.down.bias,
        }
        for target, source in pairs.items():
            target.data.copy_(source.data)
    x = torch.randint(11, (3, 7))
    embedded = model.embedding(x) * 4 + sinusoids(7, 16)  # √16
    mask = nn.Transformer.generate_square_subsequent_mask(7)
    torch.testing.assert_close(model.network(model.embedding(x))[0], reference(embedded, mask=mask, is_causal=True))


def test_positions_are_the_sines_and_cosines_of_2017():
    table = sinusoids(5, 6)
    assert table[3, 2].item() == pytest.approx(torch.sin(torch.tensor(3 / 10_000 ** (2 / 6))).item())
    assert table[3, 3].item() == pytest.approx(torch.cos(torch.tensor(3 / 10_000 ** (2 / 6))).item())


@pytest.mark.parametrize("network", [LSTM, TRANSFORMER, TRANSFORMER | {"norm_first": True, "final_norm": True}])
def test_the_future_never_changes_the_past(network):
    model = initialise_model(architecture(network), seed=1).eval()
    x = torch.randint(11, (2, 9))
    changed = x.clone()
    changed[:, 5:] = torch.randint(11, (2, 4))
    torch.testing.assert_close(model(x)[0][:, :5], model(changed)[0][:, :5])


def test_a_carried_state_is_the_same_as_one_long_text():
    model = initialise_model(architecture(LSTM), seed=1).eval()
    x = torch.randint(11, (2, 12))
    first, state = model(x[:, :5])
    second, _ = model(x[:, 5:], state)
    torch.testing.assert_close(torch.cat([first, second], dim=1), model(x)[0])


def test_tied_words_are_one_matrix_and_untied_ones_two():
    tied, untied = (initialise_model(architecture(LSTM, tied=tied), seed=0) for tied in (True, False))
    assert tied.decoder.weight is tied.embedding.weight
    assert untied.decoder.weight.shape == (11, 24)
    assert isinstance(untied.projection, nn.Identity)
    assert tied.projection.weight.shape == (16, 24)


def test_first_weights_are_the_seeds_alone():
    one, same, other = (initialise_model(architecture(LSTM), seed=s).state_dict() for s in (1, 1, 2))
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not torch.equal(one["embedding.weight"], other["embedding.weight"])


def test_long_sentences_need_no_setting():
    model = initialise_model(architecture(TRANSFORMER), seed=0).eval()
    assert model(torch.zeros((1, 700), dtype=torch.long))[0].shape == (1, 700, 11)


def test_positions_made_during_validation_serve_training():
    """They are no buffer either: DDP broadcasts buffers, and each process may have read sentences of another length."""
    model = initialise_model(architecture(TRANSFORMER), seed=0)
    long = torch.zeros((1, 700), dtype=torch.long)
    with torch.inference_mode():
        validated = model.eval()(long)[0]
    trained = model(long)[0]
    trained.sum().backward()
    torch.testing.assert_close(trained.detach(), validated.clone())
    assert not model.network.positions.is_inference()
    assert list(model.buffers()) == []


def test_an_unknown_network_is_told_what_there_is():
    with pytest.raises(ValueError, match="no network 'gru'; available: lstm, transformer"):
        networks.build({"name": "gru"}, 8)
    with pytest.raises(ValueError, match=r"the embedding \(10\) must be a multiple of the number of heads \(4\)"):
        LanguageModel(architecture(TRANSFORMER, embedding=10))


GROWTH = """
import re, torch
from concord.lm.networks.lstm import LSTM

def resident():
    return int(re.search(r"VmRSS:\\s+(\\d+)", open("/proc/self/status").read())[1])

def read(length):
    network(torch.randn(240 // length, length, 100))[0].sum().backward()

torch.set_num_threads(1)
network = LSTM(100, 100, 1, 0.0)
for length in (120, 4):
    read(length)
before = resident()
for length in range(4, 124):
    read(length)
print(resident() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="not Linux")
def test_batches_of_many_shapes_take_no_more_memory_than_the_largest(tmp_path):
    """In kB; with all that is compiled for 120 shapes they took 55,000."""
    environment = {name: value for name, value in clean(tmp_path).items() if name != COMPILED[0]}
    done = subprocess.run([sys.executable, "-c", GROWTH], env=environment, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 20_000
