"""A warm start takes over what was learnt, word by word, and says what it could not."""

import pytest
import torch
from concord.data.vocabulary import Vocabulary
from concord.errors import UserError
from concord.lm.checkpoints import CheckpointError
from concord.lm.model import Architecture, initialise_model
from concord.lm.warm_start import take_weights
from concord.settings.run import read_run_settings
from training_runs import NETWORKS, settings

THERE = ["<eos>", "<unk>", "der", "Gast", "wartet"]
HERE = ["<eos>", "<unk>", "die", "wartet", "der", "Frau"]


def model(words: list[str], seed: int, tied: bool = True, **network: int):
    return initialise_model(Architecture(len(words), 8, tied, 0.1, 0.1, NETWORKS["lstm"] | network), seed)


def save(file, made, words):
    state = {f"model.{name}": value for name, value in made.state_dict().items()}
    about = {"architecture": made.architecture.plain(), "vocabulary": words}
    torch.save({"concord": about, "state_dict": state}, file)
    return file


@pytest.mark.parametrize("tied", [True, False])
def test_words_keep_their_weights_whatever_their_number_is(tmp_path, tied):
    other, ours = model(THERE, 1, tied), model(HERE, 2, tied)
    fresh = {name: value.clone() for name, value in ours.state_dict().items()}
    told = take_weights(ours, Vocabulary(HERE), save(tmp_path / "x.ckpt", other, THERE))
    for name in ("embedding.weight", "decoder.weight", "decoder.bias"):
        now, then = ours.state_dict()[name], other.state_dict()[name]
        for word in HERE:
            wanted = then[THERE.index(word)] if word in THERE else fresh[name][HERE.index(word)]
            assert torch.equal(now[HERE.index(word)], wanted)
    inner = [name for name in fresh if name.startswith("network.")]
    assert inner
    assert all(torch.equal(ours.state_dict()[name], other.state_dict()[name]) for name in inner)
    assert (told.known, told.new, told.missing) == (4, 2, 1)
    assert "4 words known there, 2 new (with initial weights), 1 known there but not here" in str(told)


def test_a_model_of_another_shape_is_refused(tmp_path):
    file = save(tmp_path / "x.ckpt", model(THERE, 1, hidden=20), THERE)
    with pytest.raises(CheckpointError, match="init_from=.*x.ckpt: a model with a different shape: network .*20.* there"):
        take_weights(model(HERE, 2), Vocabulary(HERE), file)
    take_weights(model(HERE, 2, hidden=20, dropout=0), Vocabulary(HERE), file)  # dropout has no weights


def test_a_network_of_ones_own_is_imported_if_it_is_allowed(tmp_path, monkeypatch):
    (tmp_path / "mynets").mkdir()
    (tmp_path / "mynets/recurrent.py").write_text("from concord.lm.networks.lstm import build\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    network = NETWORKS["lstm"] | {"name": "mynets.recurrent"}
    made = initialise_model(Architecture(len(THERE), 8, True, 0.1, 0.1, network), 1, ["mynets"])
    file = save(tmp_path / "x.ckpt", made, THERE)
    ours = initialise_model(Architecture(len(HERE), 8, True, 0.1, 0.1, network), 2, ["mynets"])
    assert take_weights(ours, Vocabulary(HERE), file, ["mynets"]).known == 4
    with pytest.raises(UserError, match="mynets"):
        take_weights(ours, Vocabulary(HERE), file)


def test_where_a_run_begins_is_part_of_its_name_and_only_where_it_is_given():
    base = settings()
    assert "init_from" not in base.result_settings()
    assert settings("init_from=a.ckpt").run_name() != base.run_name()
    before = {key: value for key, value in base.plain.items() if key not in ("init_from", "force", "overfit", "allow")}
    assert read_run_settings(before).run_name() == base.run_name()
    with pytest.raises(UserError, match="resume a run, or start from its weights, but not both"):
        settings("init_from=a.ckpt", "ckpt_path=b.ckpt")
    assert settings("init_from=a.ckpt", "ckpt_path=auto").init_from == "a.ckpt"
