"""Loading: what is wrong is told at once and before any weight is read; what was scored once is remembered."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from concord.probes.scorers import ProbeSentence
from concord.probes.scorers.pretrained import Options, PretrainedError, load, scorer
from concord.probes.scorers.pretrained.cached import Cached
from hub_server import serving
from pretrained_models import save

PAIR = [ProbeSentence("the author laughs .", (2, 3), item=0), ProbeSentence("the author laugh .", (2, 3), item=0)]


def changed(folder: Path, **values):
    file = folder / "config.json"
    config = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({key: value for key, value in (config | values).items() if value is not None}), encoding="utf-8")
    return folder


@pytest.fixture
def bert(tmp_path):
    return save("bert", tmp_path / "bert")


def refused(folder, message, **settings):
    with pytest.raises(PretrainedError, match=message) as caught:
        load(str(folder), **settings)
    assert str(caught.value).startswith(f"model.name={folder}: ")


def test_masked_and_causal_models_are_told_apart_by_their_configuration(pretrained):
    assert [pretrained(family).kind for family in ("bert", "xlm-roberta", "gpt2", "llama")] == ["masked"] * 2 + ["causal"] * 2


def test_a_configuration_without_a_class_is_known_by_its_type(bert):
    assert load(str(changed(bert, architectures=None))).kind == "masked"
    assert load(str(changed(bert, architectures=["BertForPreTraining"]))).kind == "masked"


def test_scores_are_computed_in_float32(tmp_path):
    folder = save("bert", tmp_path)
    from transformers import BertForMaskedLM

    BertForMaskedLM.from_pretrained(folder).to(torch.bfloat16).save_pretrained(folder)
    assert json.loads((folder / "config.json").read_text(encoding="utf-8"))["dtype"] == "bfloat16"
    model = load(str(folder))
    assert {parameter.dtype for parameter in model.model.parameters()} == {torch.float32}
    assert not model.model.training


def test_a_folder_that_is_not_there(tmp_path):
    refused(tmp_path / "none", ": no such folder")
    refused("./none", ": no such folder")


def test_no_name():
    with pytest.raises(ValueError, match=r"model.name= is required: a model on the hub \(owner/model\) or a folder"):
        load("")


def test_a_folder_without_a_configuration(tmp_path):
    refused(tmp_path, "has no config.json")


@pytest.mark.parametrize("named", ["BertForSequenceClassification", "BertModel"])
def test_a_model_without_a_language_model_head(tmp_path, named):
    folder = save("bert", tmp_path, name=named)
    refused(folder, f"its config.json says {named}, which has no language-model head; it must be a …ForMaskedLM or …ForCausalLM")
    refused(folder, r"its files have no cls.predictions.bias \(\d+ weights are missing\)", kind="masked")


def test_no_tokenizer(bert):
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (bert / name).unlink()
    refused(bert, r"it has no tokenizer \(tokenizer.json, vocab.txt, …\);")


def test_a_slow_tokenizer(bert):
    (bert / "tokenizer.json").unlink()
    (bert / "tokenizer_config.json").write_text('{"tokenizer_class": "CTRLTokenizer"}', encoding="utf-8")
    (bert / "vocab.json").write_text('{"a": 0, "<unk>": 1}', encoding="utf-8")
    (bert / "merges.txt").write_text("#version: 0.2\n", encoding="utf-8")
    refused(bert, "CTRLTokenizer is a slow tokenizer, .*; use a model with tokenizer.json")


def test_a_tokenizer_without_a_mask(tmp_path):
    folder = save("gpt2", tmp_path)
    refused(folder, "its tokenizer has no mask token", kind="masked")


def test_a_model_that_is_too_large_is_refused_before_it_is_read(bert, monkeypatch):
    with (bert / "model.safetensors").open("r+b") as stream:
        stream.truncate(40 * 2**30)  # a hole: it takes no place on the disk
    monkeypatch.setattr("concord.probes.scorers.pretrained.model_memory.available", lambda device: 24 * 2**30)
    refused(bert, "too large for this machine: it needs about 48.0 GiB in float32, but 24.0 GiB are free")
    changed(bert, dtype="bfloat16")
    refused(bert, "about 96.0 GiB in float32")


def test_pickled_weights_are_read_only_if_one_insists(bert):
    from safetensors.torch import load_file

    torch.save(load_file(bert / "model.safetensors"), bert / "pytorch_model.bin")
    safe = load(str(bert))
    (bert / "model.safetensors").unlink()
    refused(bert, r"its weights are pickled \(pytorch_model.bin\).* model.safetensors=false reads them")
    insisted = load(str(bert), safetensors=False)
    one, other = (scorer("pll", model).score(PAIR).logprobs for model in (safe, insisted))
    assert np.array_equal(one, other)


def test_missing_weights_are_named(bert):
    (bert / "model.safetensors").unlink()
    refused(bert, "has no model.safetensors")
    (bert / "model-00001-of-00002.safetensors").write_bytes(b"")
    index = {"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}
    (bert / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    refused(bert, "model.safetensors.index.json names model-00002-of-00002.safetensors, which is missing")


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"attn_implementation": "kernels-community/flash-attn"}, "attn_implementation='kernels-community/flash-attn'"),
        ({"_attn_implementation": "someone/else"}, "_attn_implementation='someone/else'"),
        ({"text_config": {"attn_implementation": "a/b"}}, "attn_implementation='a/b'"),
        ({"use_kernels": True}, "use_kernels=True"),
    ],
)
def test_kernels_that_a_configuration_names_are_never_fetched(bert, values, named):
    refused(changed(bert, **values), f"its config.json requests {named}, third-party code, which is never run; remove")


def test_attention_of_transformers_itself_may_be_named(bert):
    assert load(str(changed(bert, attn_implementation="eager"))).kind == "masked"


@pytest.mark.parametrize("index", ["{", "[]", '{"weight_map": 3}', "{}", "[" * 100_000])
def test_a_broken_index_is_told(bert, index):
    (bert / "model.safetensors.index.json").write_text(index, encoding="utf-8")
    refused(bert, "model.safetensors.index.json is damaged .*; download it again")


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.99])
def test_weights_that_are_cut_short_are_told_in_one_line(bert, share):
    file = bert / "model.safetensors"
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    with pytest.raises(PretrainedError, match="cannot be loaded: ") as told:
        load(str(bert))
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    "values",
    [
        {"hidden_size": "wide"},
        {"num_attention_heads": 0},
        {"architectures": 3},
        {"architectures": [3]},
        {"vocab_size": -5},
        {"hidden_act": "no such function"},
        {"num_hidden_layers": [1]},
    ],
)
def test_a_malformed_configuration_is_told_in_one_line(bert, values):
    with pytest.raises(PretrainedError) as told:
        load(str(changed(bert, **values)))
    assert "\n" not in str(told.value)


def test_code_of_a_model_is_not_run_unasked(bert):
    (bert / "theirs.py").write_text("raise SystemExit('it ran')", encoding="utf-8")
    refused(
        changed(bert, model_type="theirs", auto_map={"AutoConfig": "theirs.C"}), "it brings its own code, which is run only if"
    )


def test_scores_are_remembered_for_this_model_these_sentences_and_these_options(tmp_path):
    model = load(str(save("bert", tmp_path / "a")))
    cache = tmp_path / "scores"
    first = scorer("masked_target", model, cache=cache).score(PAIR)

    class Silent:
        name = "masked_target"

        def score(self, sentences):
            raise AssertionError("asked again")

    def known(made):
        return Cached(Silent(), made.key, cache)

    again = known(scorer("masked_target", load(str(tmp_path / "a")), cache=cache)).score(PAIR)
    for column in ("firsts", "logprobs", "unknown"):
        assert np.array_equal(getattr(again, column), getattr(first, column))
    other_model = load(str(save("bert", tmp_path / "b", seed=1)))
    for other, sentences in [
        (scorer("masked_target", other_model, cache=cache), PAIR),
        (scorer("masked_target", model, Options(spacing="joined"), cache), PAIR),
        (scorer("pll", model, cache=cache), PAIR),
        (scorer("masked_target", model, cache=cache), PAIR[::-1]),
        (scorer("masked_target", model, cache=cache), [PAIR[0], PAIR[1]._replace(target=(1, 2))]),
    ]:
        with pytest.raises(AssertionError, match="asked again"):
            known(other).score(sentences)


def test_scores_that_cannot_be_cached_are_not_lost(tmp_path, caplog):
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    made = scorer("masked_target", load(str(save("bert", tmp_path / "a"))), cache=tmp_path / "file")
    assert np.isfinite(made.score(PAIR).logprobs).all()
    assert "the scores are not cached" in caplog.text
    assert "CONCORD_CACHE=" in caplog.text


def test_a_damaged_memory_is_computed_again(tmp_path):
    made = scorer("masked_target", load(str(save("bert", tmp_path / "a"))), cache=tmp_path / "scores")
    first = made.score(PAIR)
    (kept,) = (tmp_path / "scores").iterdir()
    kept.write_bytes(kept.read_bytes()[:50])
    assert np.array_equal(made.score(PAIR).logprobs, first.logprobs)


@pytest.fixture
def server(bert):
    with serving(bert) as address:
        yield address


@pytest.fixture
def hub(tmp_path, monkeypatch, server):
    """`hub()`: the real client, with that server for the hub; `hub(offline)` without, `hub(broken)` with none at the address."""
    from huggingface_hub import close_session, constants

    def ask(endpoint=server, offline=False):
        close_session()
        monkeypatch.setattr(constants, "ENDPOINT", endpoint)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", endpoint + "/{repo_id}/resolve/{revision}/{filename}")
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)

    yield ask
    close_session()


def test_a_model_of_the_hub_is_loaded_and_kept(bert, hub, tmp_path):
    hub(offline=True)
    refused("some/bert", r"HF_HUB_OFFLINE is set and the hub's cache \(.*\) has no config.json of it; .*`hf download some/bert`")
    hub()
    expected = scorer("pll", load(str(bert))).score(PAIR).logprobs
    ways = [{}, {"offline": True}, {"endpoint": "http://127.0.0.1:1"}]  # the second and third time without a connection
    for way in ways:
        hub(**way)
        model = load("some/bert")
        assert np.array_equal(scorer("pll", model).score(PAIR).logprobs, expected)
    hub(offline=True)
    for file in (tmp_path / "cache").rglob("model.safetensors"):
        file.unlink()
    refused("some/bert", r"HF_HUB_OFFLINE is set and the hub's cache \(.*\) has no model.safetensors")


def test_names_that_the_hub_does_not_have(hub, tmp_path):
    hub()
    refused("some/other", "no such model on the hub, and no such folder here")
    refused("some/bert", "it has no revision v9; leave model.revision out", revision="v9")
    refused("bert base", "not a valid hub name; write owner/model or a folder")
    hub(endpoint="http://127.0.0.1:1")
    refused("some/bert", r"the hub cannot be reached \(\w+\) and the hub's cache .* has no config.json of it")


def test_a_model_of_the_hub_that_is_too_large_is_not_even_fetched(bert, hub, tmp_path, monkeypatch):
    hub()
    monkeypatch.setattr("concord.probes.scorers.pretrained.model_memory.available", lambda device: 1000)
    refused("some/bert", "too large for this machine")
    assert not list((tmp_path / "cache").rglob("model.safetensors"))
