"""A model that leaves for transformers gives the same numbers there."""

import json
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
from concord.runs.run_export import checkpoint_results
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


def test_the_folder_holds_weights_settings_a_card_and_one_file_of_code(tmp_path):
    assert main([f"ckpt_path={checkpoint(tmp_path, 'lstm')}", f"out={tmp_path / 'out'}"]) == 0
    names = {file.name for file in (tmp_path / "out").iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json", "README.md"} <= names
    assert {name for name in names if not name.endswith((".json", ".safetensors", ".md"))} == {"modeling_concord.py"}
    code = (tmp_path / "out" / "modeling_concord.py").read_text(encoding="utf-8")
    assert "import concord" not in code
    assert "from ." not in code
    config = json.loads((tmp_path / "out" / "config.json").read_text(encoding="utf-8"))
    assert config["auto_map"]["AutoModelForCausalLM"] == "modeling_concord.ConcordForCausalLM"
    assert config["hidden_size"] == 8


def test_raw_text_is_cut_as_for_training_where_the_corpus_was_raw(tmp_path):
    from transformers import AutoTokenizer

    export(checkpoint(tmp_path, "lstm", name="text", tokenized=False), tmp_path / "raw")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "raw")
    rule = TokenRule(GERMAN["tokens"], GERMAN["replace"])
    _, vocabulary, _ = load_model(tmp_path / "best.ckpt")
    for text in ("der Autor lacht.", "die Autoren, die lachen’ …", "e\u0301 Wach-Hund"):
        assert tokenizer(text).input_ids == [0, *vocabulary.encode(rule(text))]
    export(checkpoint(tmp_path, "lstm", name="text", tokenized=True), tmp_path / "tokens")
    assert "\n| tokenized | true |\n" in (tmp_path / "tokens/README.md").read_text(encoding="utf-8")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "tokens")
    assert tokenizer("der Autor lacht.").input_ids == [0, *vocabulary.encode(["der", "Autor", "lacht."])]


@pytest.mark.parametrize(
    "change", [{"language": {"code": "multi", "name": "de and fr", "direction": "ltr"}}, {"tokenizer": {"rules": "moses"}}]
)
def test_without_one_rule_of_its_own_text_is_cut_at_spaces(tmp_path, change):
    from transformers import AutoTokenizer

    file = checkpoint(tmp_path, "lstm", name="text", tokenized=False)
    saved = torch.load(file, weights_only=False)
    saved["concord"] |= {name: value for name, value in change.items() if name == "language"}
    saved["concord"]["settings"] |= {name: value for name, value in change.items() if name == "tokenizer"}
    torch.save(saved, file)
    export(file, tmp_path / "out")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "out")
    first, second, *_ = sentences()[0].split()
    assert tokenizer.tokenize(f"{first} {second} {first}.") == [first, second, "<unk>"]


def test_the_loss_of_transformers_is_ours(tmp_path):
    from transformers import AutoModelForCausalLM

    export(checkpoint(tmp_path, "transformer"), tmp_path / "out")
    model, ids = AutoModelForCausalLM.from_pretrained(tmp_path / "out").eval(), torch.tensor([[0, 3, 4, 2]])
    with torch.no_grad():
        out = model(ids, labels=ids)
    assert out.loss.item() == pytest.approx(-out.logits[0, torch.arange(3), ids[0, 1:]].mean().item(), abs=1e-6)


def test_wrong_calls_are_told(tmp_path, capsys):
    assert main([f"ckpt_path={tmp_path}/none.ckpt", f"out={tmp_path}/out"]) == 1
    assert "none.ckpt: no such checkpoint" in capsys.readouterr().err
    for wrong in ([], ["ckpt_path=a"], ["ckpt_path=a", "out=b", "c=d"], ["ckpt_path=", "out=b"]):
        assert main(wrong) == 2
        assert "usage: concord export ckpt_path=" in capsys.readouterr().err


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path):
    file = checkpoint(tmp_path, "lstm")
    export(file, tmp_path / "out")
    export(file, tmp_path / "out")  # again is fine
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(UserError, match="notes: this folder holds something else; give an empty or new one"):
        export(file, tmp_path / "notes")


def test_nothing_imports_transformers_before_it_is_needed():
    modules = ("lm.model", "lm.export", "commands.sets", "probes.coverage", "probes.scorers")
    code = f"import sys, {', '.join(f'concord.{name}' for name in modules)}; print('transformers' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


PLAIN = """
import json, sys
import torch
sys.modules["concord"] = None  # as if it were not installed
from transformers import AutoModelForCausalLM, AutoTokenizer
folder, sentences = sys.argv[1], json.loads(sys.argv[2])
model = AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True).eval()
tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
tokenizer.padding_side = "left"
batch = tokenizer(sentences, return_tensors="pt", padding=True, return_token_type_ids=False)
with torch.no_grad():
    each = [tokenizer(text, return_tensors="pt", return_token_type_ids=False) for text in sentences]
    alone = [model(**one).logits[0, -1].tolist() for one in each]
    together = model(**batch).logits[:, -1].tolist()
made = model.generate(**batch, max_new_tokens=3, do_sample=False).tolist()
tied = model.get_output_embeddings().weight is model.get_input_embeddings().weight
ids = [tokenizer(each).input_ids for each in sentences]
text = tokenizer.decode(ids[0][1:])
print(json.dumps({"alone": alone, "together": together, "made": made, "tied": tied, "ids": ids, "text": text}))
"""


def without_concord(folder, sentences, python=sys.executable):
    done = subprocess.run(
        [python, "-c", PLAIN, str(folder), json.dumps(sentences)],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def pieces_checkpoint(folder, network, kind):
    from collections import Counter

    from concord.data.pieces import PieceRule
    from concord.data.vocabulary import Counts

    counted = Counter(word for sentence in sentences() for word in sentence.split())
    counts = Counts(folder)
    counts.add(list(counted), np.array(list(counted.values())))
    pieces = PieceRule(320, kind).learn(counts)
    architecture = Architecture(len(pieces), 8, tied=True, dropout=0.2, init=1.0, network=NETWORKS[network])
    about = {"architecture": architecture.plain(), **pieces.plain(), "language": GERMAN, "clitics": "split"}
    about["settings"] = {"data": {"name": "grammar"}}
    weights = {f"model.{name}": value for name, value in initialise_model(architecture, seed=3).state_dict().items()}
    torch.save({"concord": about, "state_dict": weights}, folder / "best.ckpt")
    return folder / "best.ckpt"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "words"), [("lstm", "word"), ("transformer", "word"), ("lstm", "unigram"), ("transformer", "bpe")]
)
def test_plain_transformers_loads_the_folder_and_says_the_same(tmp_path, network, words):
    file = checkpoint(tmp_path, network) if words == "word" else pieces_checkpoint(tmp_path, network, words)
    export(file, tmp_path / "out")
    texts = ["der Autor lacht", "die Autoren lachen .", "der Xylophonist ärgert"]
    found = without_concord(tmp_path / "out", texts)
    model, own, _ = load_model(file)
    model.eval()
    for number, text in enumerate(texts):
        ids = own.encode(["<eos>", *text.split()])
        assert found["ids"][number] == ids
        with torch.no_grad():
            expected = model(torch.tensor([ids]))[0][0, -1]
        np.testing.assert_allclose(found["alone"][number], expected, atol=1e-5, rtol=0)
        np.testing.assert_allclose(found["together"][number], expected, atol=1e-5, rtol=0)
        start = max(map(len, found["ids"]))
        for made in found["made"][number][start:]:
            with torch.no_grad():
                assert made == int(model(torch.tensor([ids]))[0][0, -1].argmax())
            ids.append(made)
            if made == own.eos:  # what follows is padding
                break
    assert found["tied"]
    assert found["text"] == " ".join(word if word in own else "<unk>" for word in texts[0].split())


ACCURACY = "probe/de/agreement/prep/accuracy"
COLUMNS = ["step", "progress/words_seen", "valid/perplexity", ACCURACY, ACCURACY.replace("accuracy", "n")]
COLUMNS += ["test/perplexity", f"test/{ACCURACY}", f"test/{ACCURACY.replace('accuracy', 'n')}"]
ROWS = """\
10,1000040,,0.6,400,,,
20,1900000,20.25,0.9,400,,,
25,2000010,,0.85,400,,,
30,2900000,30.5,0.7,400,,,
30,2900000,,,,19.75,0.95,4000
"""


@pytest.fixture
def run_with_checkpoints(tmp_path):
    """Of which the second epoch was worse than the first, so that the best is not the last."""
    run = tmp_path / "run"
    (run / "checkpoints").mkdir(parents=True)
    moments = {"words-1000000": (10, 1000040), "best": (20, 1900000), "words-2000000": (25, 2000010), "last": (30, 2900000)}
    moments["words-1500"] = (1, 1600)
    for name, (step, words) in moments.items():
        saved = torch.load(checkpoint(run / "checkpoints", "lstm")) | {"global_step": step, "training": {"words_seen": words}}
        (run / "checkpoints" / "best.ckpt").unlink()
        torch.save(saved, run / "checkpoints" / f"{name}.new")
    for file in (run / "checkpoints").iterdir():
        file.rename(file.with_suffix(".ckpt"))
    (run / "metrics.csv").write_text(",".join(COLUMNS) + "\n" + ROWS, encoding="utf-8")
    return run


def test_a_run_leaves_as_revisions_by_words_seen(tmp_path, run_with_checkpoints, capsys):
    assert main([f"ckpt_path={run_with_checkpoints}", f"out={tmp_path / 'out'}"]) == 0
    said = capsys.readouterr().out
    assert [folder.name for folder in sorted((tmp_path / "out").iterdir())] == ["chck_1500", "chck_1M", "chck_2M", "main"]
    assert f"hf upload OWNER/NAME {tmp_path}/out/chck_1M . --revision chck_1M" in said
    cards = {folder.name: (folder / "README.md").read_text(encoding="utf-8") for folder in (tmp_path / "out").iterdir()}
    assert "# out, chck_1M\n" in cards["chck_1M"]
    assert 'from_pretrained("out", revision="chck_1M", trust_remote_code=True)' in cards["chck_1M"]
    assert "# out\n" in cards["main"]
    assert 'from_pretrained("out", trust_remote_code=True)' in cards["main"]


def test_a_card_shows_what_was_measured_with_the_weights_that_leave(run_with_checkpoints):
    said = {name: checkpoint_results(run_with_checkpoints / f"checkpoints/{name}.ckpt") for name in ("best", "last")}
    by_words = {n: checkpoint_results(run_with_checkpoints / f"checkpoints/words-{n}.ckpt") for n in (1500, 1000000, 2000000)}
    assert "After 1,900,000 words of training." in said["best"]
    assert "- valid/perplexity: 20.25\n- test/perplexity: 19.75" in said["best"]  # not 30.50, which the last weights have
    assert "Accuracy on the whole sets." in said["best"]
    assert "| de | agreement | prep | 0.950 | 0.50 | 4,000 | – | – |" in said["best"]
    assert "- valid/perplexity: 30.50\n" in said["last"]
    assert "| de | agreement | prep | 0.700 | 0.50 | 400 | – | – |" in said["last"]
    assert "test/" not in said["last"]  # the test text was read with the best weights
    assert "| de | agreement | prep | 0.600 |" in by_words[1000000]
    assert "perplexity" not in by_words[1000000]
    assert "- valid/perplexity: 20.25 (measured after 1,900,000 words)" in by_words[2000000]
    assert "| de | agreement | prep | 0.850 |" in by_words[2000000]
    assert by_words[1500] == "After 1,600 words of training."


def test_a_folder_without_checkpoints_is_told(tmp_path, capsys):
    assert main([f"ckpt_path={tmp_path}", f"out={tmp_path / 'out'}"]) == 1
    assert "no checkpoint in this folder; give a run folder or a .ckpt file" in capsys.readouterr().err
