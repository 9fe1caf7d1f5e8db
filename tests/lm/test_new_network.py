"""A network of one's own: a file in src/lm/networks and one in conf/model, and everything else works as it is."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import training_runs
from concord.data.batches import Shape
from concord.data.vocabulary import Vocabulary
from concord.errors import UserError
from concord.lm import networks
from concord.lm.checkpoints import load_model
from concord.lm.model import Architecture, initialise_model
from concord.lm.networks import check_rows, map_tensors, tensors_in
from concord.probes.scorers import ProbeSentence
from concord.probes.scorers.incremental import IncrementalScorer
from concord.runs import fit
from concord.runs.fit import read_recipe
from concord.settings.overrides import read_composed
from hydra import compose, initialize_config_dir

# Their states: one tensor; a dict with a list in it; B where it does not belong.
GRU = """
from torch import nn
from concord.lm.networks import Network

class GRU(Network):
    def __init__(self, width, hidden, layers):
        super().__init__()
        self.hidden = hidden
        self.layers = nn.GRU(width, hidden, layers, batch_first=True)

    def forward(self, x, state=None):
        return self.layers(x, state)

    read = forward

def build(width, *, hidden, layers):
    return GRU(width, hidden, layers)
"""
NESTED = GRU.replace(
    "return self.layers(x, state)",
    "y, h = self.layers(x, state and state['deep'][0])\n        return y, {'deep': [h], 'none': None}",
)
WRONG = GRU.replace(
    "return self.layers(x, state)", "y, h = self.layers(x, state)\n        return y, h.transpose(0, 1).contiguous()"
)
# Remembers nothing: each word is predicted from the one before it alone.
BIGRAM = """
from torch import nn
from concord.lm.networks import Network

class Bigram(Network):
    def __init__(self, width, hidden, layers):
        super().__init__()
        self.hidden = hidden
        self.layer = nn.Linear(width, hidden)

    def forward(self, x, state=None):
        return self.layer(x).tanh(), None

    read = forward

def build(width, *, hidden, layers):
    return Bigram(width, hidden, layers)
"""
YAML = """
defaults:
  - optimizer: adamw
  - scheduler: constant
  - _self_
name: NAME
embedding: 8
tied: true
dropout: 0.0
init: 0.1
compile: false
network: {name: NAME, hidden: 12, layers: 2}
"""
NAMES = {"gru": GRU, "nested": NESTED, "wrong": WRONG, "bigram": BIGRAM}


@pytest.fixture(autouse=True)
def added(tmp_path, monkeypatch):
    """The first file of each."""
    folder = tmp_path / "networks"
    folder.mkdir()
    for name, code in NAMES.items():
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
    monkeypatch.setattr(networks, "__path__", [*networks.__path__, str(folder)])
    yield
    for name in NAMES:
        sys.modules.pop(f"concord.lm.networks.{name}", None)


def architecture(name: str, words: int = 7) -> Architecture:
    return Architecture(words, 8, tied=True, dropout=0.0, init=0.5, network={"name": name, "hidden": 12, "layers": 2})


@pytest.mark.parametrize("name", ["gru", "nested", "bigram"])
def test_words_are_scored_by_a_tree_as_sentence_by_sentence(name):
    vocabulary = Vocabulary(["<eos>", "<unk>", *"abcde"])
    model = initialise_model(architecture(name), seed=1).eval()
    sentences = [ProbeSentence(words) for words in ("a b c", "a b d e", "b", "a b c a", "e d c b a")]
    scores = IncrementalScorer("x", model, vocabulary).score(sentences)
    at = 0
    for sentence in sentences:
        ids = vocabulary.encode(sentence.words.split())
        with torch.no_grad():
            logprobs, _ = model(torch.tensor([[0, *ids[:-1]]]))
        expected = logprobs[0, range(len(ids)), ids]
        torch.testing.assert_close(torch.tensor(scores.logprobs[at : at + len(ids)]), expected)
        at += len(ids)


@pytest.mark.parametrize("name", ["gru", "nested"])
def test_a_stream_carries_its_state_and_goes_on_from_a_checkpoint(tmp_path, name):
    text = training_runs.corpus(tmp_path / "cache", train=40)
    network = {"name": name, "hidden": 12, "layers": 2}
    whole, half = (training_runs.recipe("lstm", Shape(6, window=7), max_epochs=epochs) for epochs in (2, 1))
    model = replace(whole.model, name=name, network=network, scheduler={"name": "constant"})
    training_runs.run(tmp_path / "one", replace(whole, model=model), text)
    training_runs.run(tmp_path / "two", replace(half, model=model), text)
    training_runs.run(tmp_path / "two", replace(whole, model=model), text, resume=True)
    assert training_runs.same_weights(tmp_path / "one/checkpoints/last.ckpt", tmp_path / "two/checkpoints/last.ckpt")
    again, _, _ = load_model(tmp_path / "one/checkpoints/best.ckpt")
    assert again.architecture.network == network


def test_its_settings_are_read_from_a_file_beside_the_others(tmp_path, root: Path):
    shutil.copytree(root / "conf", tmp_path / "conf")
    (tmp_path / "conf/model/gru.yaml").write_text(YAML.replace("NAME", "gru"), encoding="utf-8")
    with initialize_config_dir(str(tmp_path / "conf"), version_base="1.3"):
        settings = read_composed(compose("train", ["model=gru"]))
    read_recipe(settings).check()
    assert type(initialise_model(fit.architecture(settings.model, 9), seed=0).network).__name__ == "GRU"


def test_a_state_that_keeps_no_contract_is_refused():
    model = initialise_model(architecture("wrong"), seed=0).eval()
    with pytest.raises(UserError, match=r"a tensor of shape \(5, 2, 12\); the batch dimension \(5\) must come second in each"):
        model.read(torch.zeros((5, 3), dtype=torch.long))
    with pytest.raises(UserError, match="a network's state holds a str"):
        map_tensors(torch.clone, (torch.zeros(1, 1), "memory"))
    check_rows(None, 3)
    assert [len(part) for part in tensors_in({"a": [torch.zeros(1, 2), (torch.zeros(3, 2),)], "b": None})] == [1, 3]
