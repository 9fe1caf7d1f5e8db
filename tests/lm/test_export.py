"""A model that leaves for transformers gives the same numbers there."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from concord.commands.export import main
from concord.data.grammar import folder_of
from concord.data.tokens import TokenRule
from concord.data.vocabulary import Vocabulary
from concord.errors import UserError
from concord.lm import networks
from concord.lm.checkpoints import load_model
from concord.lm.export import export
from concord.lm.model import Architecture, initialise_model
from concord.probes.readers.grammar import expand_grammar
from concord.probes.scorers import ProbeSentence
from concord.probes.scorers.pretrained import load as load_pretrained
from concord.probes.scorers.pretrained import scorer
from training_runs import NETWORKS

GERMAN = {"code": "de", "tokens": r"[\w\u0300-\u036f]+(?:-\w+)*|\.+|[^\w\s]", "replace": {"’": "'"}}


def sentences():
    return expand_grammar(folder_of("de"), "simple_agrmt", "de").sentences


def checkpoint(folder, network, tied=True, **data):
    """Of a model that was not trained: only the numbers matter."""
    words = sorted({word for sentence in sentences() for word in sentence.split()} - {"Gast"})
    vocabulary = Vocabulary(["<eos>", "<unk>", ".", *words])
    architecture = Architecture(len(vocabulary), 8, tied=tied, dropout=0.2, init=1.0, network=NETWORKS[network])
    model = initialise_model(architecture, seed=3)
    about = {"architecture": architecture.plain(), "vocabulary": vocabulary.words, "language": GERMAN, "clitics": "split"}
    about["settings"] = {"data": {"name": "grammar"} | data}
    weights = {f"model.{name}": value for name, value in model.state_dict().items()}
    torch.save({"concord": about, "state_dict": weights}, folder / "best.ckpt")
    return folder / "best.ckpt"


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("network", networks.names())
def test_an_exported_model_scores_the_same_as_before(tmp_path, network, tied):
    file = checkpoint(tmp_path, network, tied)
    export(file, tmp_path / "out")
    closed = [f"{sentence} ." for sentence in sentences()]
    scores = scorer("causal", load_pretrained(str(tmp_path / "out"))).score([ProbeSentence(words) for words in closed])
    model, vocabulary, _ = load_model(file)
    for number, sentence in enumerate(closed):
        words = sentence.split()
        ids = torch.tensor([vocabulary.encode(["<eos>", *words])])
        with torch.no_grad():
            expected = model(ids)[0][0][torch.arange(len(words)), ids[0, 1:]]
        np.testing.assert_allclose(scores[number], expected, atol=1e-4, rtol=0)
        unknown = scores.unknown[scores.firsts[number] : scores.firsts[number + 1]]
        assert unknown.tolist() == [word not in vocabulary for word in words]
    assert scores.unknown.any()  # Gast is not in the vocabulary


def test_the_folder_holds_weights_and_settings_and_no_code(tmp_path):
    assert main([f"ckpt_path={checkpoint(tmp_path, 'lstm')}", f"out={tmp_path / 'out'}"]) == 0
    names = {file.name for file in (tmp_path / "out").iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= names
    assert all(name.endswith((".json", ".safetensors")) for name in names)
    assert "auto_map" not in (tmp_path / "out" / "config.json").read_text(encoding="utf-8")


def test_raw_text_is_cut_as_for_training_where_the_corpus_was_raw(tmp_path):
    from transformers import AutoTokenizer

    export(checkpoint(tmp_path, "lstm", name="text", tokenized=False), tmp_path / "raw")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "raw")
    rule = TokenRule(GERMAN["tokens"], GERMAN["replace"])
    _, vocabulary, _ = load_model(tmp_path / "best.ckpt")
    for text in ("der Autor lacht.", "die Autoren, die lachen’ …", "e\u0301 Wach-Hund"):
        assert tokenizer(text).input_ids == [0, *vocabulary.encode(rule(text))]
    export(checkpoint(tmp_path, "lstm", name="text", tokenized=True), tmp_path / "tokens")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "tokens")
    assert tokenizer("der Autor lacht.").input_ids == [0, *vocabulary.encode(["der", "Autor", "lacht."])]


def test_the_loss_of_transformers_is_ours(tmp_path):
    from transformers import AutoModelForCausalLM

    export(checkpoint(tmp_path, "transformer"), tmp_path / "out")
    model, ids = AutoModelForCausalLM.from_pretrained(tmp_path / "out").eval(), torch.tensor([[0, 3, 4, 2]])
    with torch.no_grad():
        out = model(ids, labels=ids)
    assert out.loss.item() == pytest.approx(-out.logits[0, torch.arange(3), ids[0, 1:]].mean().item(), abs=1e-6)


def test_wrong_calls_are_told(tmp_path, capsys):
    assert main([f"ckpt_path={tmp_path}/none.ckpt", f"out={tmp_path}/out"]) == 1
    assert "none.ckpt: there is no such checkpoint" in capsys.readouterr().err
    for wrong in ([], ["ckpt_path=a"], ["ckpt_path=a", "out=b", "c=d"], ["ckpt_path=", "out=b"]):
        assert main(wrong) == 2
        assert "usage: concord export ckpt_path=" in capsys.readouterr().err


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path):
    file = checkpoint(tmp_path, "lstm")
    export(file, tmp_path / "out")
    export(file, tmp_path / "out")  # again is fine
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(UserError, match="notes: this folder holds something else; give an empty or a new one"):
        export(file, tmp_path / "notes")


def test_nothing_imports_transformers_before_it_is_needed():
    modules = ("lm.model", "lm.export", "commands.sets", "probes.coverage", "probes.scorers")
    code = f"import sys, {', '.join(f'concord.{name}' for name in modules)}; print('transformers' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
