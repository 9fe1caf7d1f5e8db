"""Runs on running text: what `auto` stands for, how sentences begin, and whether the model learns at all."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from concord.commands import train as train_module
from concord.data.corpus import Corpus, VocabularyRule, prepare
from concord.data.selection import Selection
from concord.data.sources import TextSource
from concord.data.text import TokenizedText
from concord.errors import UserError
from concord.lm.checkpoints import read_checkpoint
from concord.lm.model import Architecture, initialise_model
from concord.probes.contract import make_contract
from concord.runs.fit import read_recipe
from concord.runs.progress_report import LearningCheck, counted_perplexities, tell_learning
from concord.runs.run_display import show_corpus, show_sample
from concord.runs.run_folder import RunFolder
from concord.runs.run_preparation import prepare_run
from concord.runs.training_memory import largest_batch
from concord.settings.run import read_run_settings
from training_runs import NETWORKS, TINY, power_cut, settings, train

TEXT = ["data=text", "data.path=a.txt", "lang=de", "data.workers=1"]
NOUNS = "Arzt Koch Gast Freund Lehrer Nachbar Maler Bauer Dichter Schüler".split()  # noqa: SIM905
VERBS = "lacht wartet nickt weint lächelt schläft singt".split()  # noqa: SIM905
PROSE = " ".join(f"Der {noun} {verb}." for noun in NOUNS for verb in VERBS)


def corpus(folder: Path, lines: list[str]) -> Corpus:
    (folder / "lines.txt").write_text("\n".join(lines), encoding="utf-8")
    return prepare(TextSource({"all": folder / "lines.txt"}, TokenizedText(), seed=0), VocabularyRule(None), folder / "cache")


# --------------------------------------------------------------------- auto


@pytest.mark.parametrize("model", ["lstm", "transformer"])
def test_the_built_in_runs_are_called_and_trained_as_before(model):
    """Names of runs from before there was an `auto`."""
    names = {"lstm": "de-lstm-grammar-s1-5e56b1c3", "transformer": "de-transformer-grammar-s1-bf104aea"}
    chosen = settings(f"model={model}", "lang=de")
    assert chosen.run_name() == names[model]
    assert chosen.model.optimizer["lr"] == 0.001
    assert chosen.plain["probes"]["rules"]["capitalize"] is None


def test_batches_by_sentences_are_trained_as_before_on_any_text():
    chosen = settings(*TEXT, "data.batch_size=4")
    recipe = read_recipe(chosen, 10**7)
    assert recipe.shape.size_in(0) == 4
    assert recipe.shape.tokens is None
    assert recipe.model.optimizer == {"name": "adamw", "lr": 0.001, "weight_decay": 0.01, "betas": [0.9, 0.999]}
    assert (recipe.model.scheduler, recipe.model.bias) == ({"name": "constant"}, "zero")
    assert settings(*TEXT, "data.window=35").data.batch_size == 64


def test_adamw_divides_by_no_less_than_its_eps_on_running_text():
    assert read_recipe(settings(*TEXT)).model.optimizer["eps"] == 1e-4
    assert read_recipe(settings(*TEXT, "model.optimizer.eps=1e-7")).model.optimizer["eps"] == 1e-7
    # A run from before there was this setting goes on as it began.
    plain = settings(*TEXT).plain
    model = plain["model"] | {"optimizer": {key: value for key, value in plain["model"]["optimizer"].items() if key != "eps"}}
    begun = {"name": "adamw", "lr": 0.012, "weight_decay": 0.01, "betas": [0.9, 0.98]}
    assert read_recipe(read_run_settings({**plain, "model": model})).model.optimizer == begun


def test_published_set_ups_stay_as_published():
    for experiment in ("clams2020", "clams2020_code", "li2021_lstm"):
        chosen = settings(f"experiment={experiment}", "data.path=a.txt" if "li" in experiment else "lang=fr")
        recipe = read_recipe(chosen, 8 * 10**7)
        assert recipe.shape.tokens is None
        assert recipe.model.bias == "zero"
        assert recipe.model.optimizer["lr"] == {"clams": 20, "li202": 0.0001}[experiment[:5]]
        assert "auto" not in str(recipe.model)


def test_the_rate_goes_with_the_tokens_of_a_step_and_those_with_the_corpus():
    def chosen(words, *more):
        recipe = read_recipe(settings(*TEXT, *more), words)
        return recipe.shape.tokens, recipe.model.optimizer["lr"]

    tokens, lr = chosen(500_000)
    assert chosen(1_000_000) == (tokens, lr)
    assert chosen(4_000_000) == (2 * tokens, pytest.approx(lr * math.sqrt(2), rel=1e-2))
    assert chosen(500_000, "trainer.accumulate_grad_batches=4") == (tokens, 2 * lr)
    assert chosen(500_000, "trainer=ddp_cpu", "trainer.devices=4") == (tokens, 2 * lr)
    assert chosen(500_000, f"data.batch_tokens={4 * tokens}") == (4 * tokens, 2 * lr)
    assert chosen(4_000_000, "model.optimizer.lr=0.01") == (2 * tokens, 0.01)  # what is given is left alone
    assert read_recipe(settings(*TEXT, "model/scheduler=constant")).model.scheduler == {"name": "constant"}


def test_a_batch_is_cut_by_sentences_or_by_tokens():
    with pytest.raises(UserError, match=r"data.batch_size=8 data.batch_tokens=100: .* set the other to null"):
        settings(*TEXT, "data.batch_size=8", "data.batch_tokens=100")
    assert settings("lang=de", "data.batch_size=null", "data.batch_tokens=100").data.batch_tokens == 100


def test_a_long_sentence_alone_decides_the_largest_batch():
    shape = read_recipe(settings(*TEXT, "data.batch_tokens=100")).shape
    assert largest_batch(shape, 40) == (2, 40)
    assert largest_batch(shape, 5000) == (1, 5000)


def test_the_first_bias_is_what_counting_says():
    model = initialise_model(Architecture(4, 8, True, 0.0, 0.1, NETWORKS["lstm"]), seed=0)
    before = model.embedding.weight.clone()
    model.expect_frequencies(torch.tensor([7, 0, 1, 4]))
    assert model.decoder.bias.exp().tolist() == pytest.approx([8 / 16, 1 / 16, 2 / 16, 5 / 16])
    assert torch.equal(model.embedding.weight, before)


# ----------------------------------------------------------- how sentences begin


def test_a_corpus_knows_how_its_sentences_begin(tmp_path):
    assert corpus(tmp_path, ["Der Arzt lacht .", "Die Ärzte lachen .", "» Ja", "1 2 ."] * 10).capitals() == {"": True}
    assert corpus(tmp_path, ["der Arzt lacht .", "die Ärzte lachen .", "Er lacht ."] * 10).capitals() == {"": False}
    assert corpus(tmp_path, ["הרופא צחק .", "הרופאים צחקו ."] * 10).capitals() == {"": False}


def test_capitals_are_those_of_the_corpus_unless_a_published_tool_is_followed():
    assert make_contract("default", {"capitalize": "auto"}, capitals=True).label == "default+capitalize"
    assert make_contract("default", {"capitalize": "auto"}, capitals=False).label == "default"
    assert make_contract("default", {"capitalize": False}, capitals=True).label == "default"
    assert make_contract("clams", {"capitalize": "auto"}, capitals=True).label == "clams"
    with pytest.raises(UserError, match="capitalize=sometimes: must be one of true, false, lower, auto"):
        make_contract("default", {"capitalize": "sometimes"})


# ------------------------------------------------------------- what is shown


@pytest.mark.parametrize(
    ("asked", "told"), [(40, "shortens the training part; valid and test stay whole"), (4000, "there is no more; all is used")]
)
def test_a_sample_is_said_to_be_one_only_if_it_is(tmp_path, caplog, asked, told):
    caplog.set_level("INFO")
    (tmp_path / "lines.txt").write_text("\n".join(["a b c ."] * 30), encoding="utf-8")
    source = TextSource({"all": tmp_path / "lines.txt"}, TokenizedText(), seed=0)
    show_sample(prepare(source, VocabularyRule(None), tmp_path / "cache", Selection(max_tokens=asked)), asked)
    assert caplog.messages == [f"data.max_tokens={asked:,}: {told}"]


def test_unknown_words_that_training_never_shows_get_a_warning(tmp_path, caplog):
    (tmp_path / "lines.txt").write_text("\n".join(f"a b w{n} ." for n in range(30)), encoding="utf-8")
    source = TextSource({"all": tmp_path / "lines.txt"}, TokenizedText(), seed=0)
    show_corpus(prepare(source, VocabularyRule(50_000), tmp_path / "cache"), 50_000)
    (warning,) = (each.getMessage() for each in caplog.records if each.levelname == "WARNING")
    assert "<unk>, which is 25.0% of valid and test; set a smaller tokenizer.vocabulary_size= (3 words occur more" in warning
    caplog.clear()
    show_corpus(prepare(source, VocabularyRule(4), tmp_path / "cache"), 4)
    assert not [each for each in caplog.records if each.levelname == "WARNING"]


# ------------------------------------------------------------- does it learn


def test_counting_sees_the_valid_part_by_the_training_part(tmp_path):
    """Of a text without order, pairs know no more than words do, and both nearly what there is to know."""
    random = np.random.Generator(np.random.PCG64(1))
    lines = [" ".join(f"w{k}" for k in random.integers(0, 8, 7)) for _ in range(3000)]
    words, pairs = counted_perplexities(corpus(tmp_path, lines))
    entropy = (7 / 8) * math.log(8 * 8 / 7) + (1 / 8) * math.log(8)  # of eight words and <eos> after every seven
    assert words == pytest.approx(math.exp(entropy), rel=0.03)
    assert words * 0.7 < pairs < words * 1.02
    ordered = [" ".join(f"w{(k + n) % 8}" for k in range(7)) for n in random.integers(0, 8, 3000)]
    assert counted_perplexities(corpus(tmp_path, ordered))[1] < 2


def test_a_model_near_the_frequencies_of_words_is_told_the_remedy():
    assert "after one epoch the model is still close to word frequencies:" in tell_learning(500, 600, 200, 600)
    assert "use more and smaller steps (a smaller data.batch_tokens or data.batch_size)" in tell_learning(500, 600, 200, 600)
    assert tell_learning(210, 600, 200, 600).startswith("learning   valid perplexity 210.0; by counting alone: words 600.0")


@pytest.mark.parametrize("model", [8670, math.inf, math.nan])
def test_a_model_that_diverged_is_not_told_to_learn_faster(model):
    """`model.optimizer.lr=1` on 20,000 words of a novel has the first of these perplexities."""
    told = tell_learning(model, 468, 236, 468)
    assert "worse than before the first step" in told
    assert "lower model.optimizer.lr" in told
    assert "higher" not in told
    assert "close to" not in told


def test_a_model_that_began_without_frequencies_may_not_have_reached_them():
    assert "still worse than word frequencies" in tell_learning(3000, 468, 236, 3358)
    assert "a higher model.optimizer.lr" in tell_learning(3000, 468, 236, 3358)
    assert "diverged" in tell_learning(8670, 468, 236, 3358)


def test_the_optimiser_takes_one_pass_on_a_cpu_if_batches_are_cut_by_tokens(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert read_recipe(settings(*TEXT)).optimizer()["fused"]
    for other in ("data.batch_size=64", "trainer.precision=bf16-mixed", "model/optimizer=sgd"):
        assert "fused" not in read_recipe(settings(*TEXT, other)).optimizer()
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    assert "fused" not in read_recipe(settings(*TEXT)).optimizer()


def test_a_run_keeps_what_auto_stood_for_when_it_began(tmp_path, monkeypatch, caplog):
    """Even if a later version of the program has found other values."""
    caplog.set_level("INFO")
    (tmp_path / "a.txt").write_text("\n".join([PROSE] * 12), encoding="utf-8")
    places = [f"paths.runs={tmp_path}/runs", f"paths.cache={tmp_path}/cache", f"data.path={tmp_path}/a.txt"]
    tiny = [each for each in TINY if not each.startswith(("data.", "probes."))]
    run = [*TEXT, *tiny, *places, "probes=none", "name=r", "model.network.hidden=16", "callbacks.checkpoints.every_n_steps=1"]
    with power_cut(3):
        train_module.train(settings(*run))
    monkeypatch.setattr("concord.settings.recipe.TOKENS", 70)
    train_module.train(settings(*run, "ckpt_path=auto"))
    told = [line for line in caplog.messages if line.startswith("recipe")]
    assert len(told) == 2
    assert told[0] == told[1]
    kept = json.loads((tmp_path / "runs/r/provenance.json").read_text(encoding="utf-8"))["recipe"]
    assert (kept["batch_tokens"], kept["optimizer"]["eps"]) == (700, 1e-4)


def test_memory_is_estimated_for_the_batches_that_the_corpus_gets(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("\n".join([PROSE] * 12), encoding="utf-8")
    batches = []
    monkeypatch.setattr("concord.runs.run_preparation.must_fit", lambda *given: batches.append(given[-1]))
    monkeypatch.setattr("concord.settings.recipe.WORDS", 10)  # so that this is a large corpus
    places = [f"paths.runs={tmp_path}/runs", f"paths.cache={tmp_path}/cache", f"data.path={tmp_path}/a.txt"]
    chosen = settings(*TEXT, *places, "probes=none", "logger=none", "debug=summary")
    made = prepare_run(chosen, RunFolder(chosen.folder), None)
    assert made.recipe.shape.tokens > 10_000
    assert batches[-1] == largest_batch(made.recipe.shape, int(made.corpus.train.lengths().max()))


@pytest.mark.parametrize(("lr", "told"), [(1e-6, "is still close to word frequencies:"), (0.02, "learning ")])
def test_a_run_says_whether_it_learns(tmp_path, lr, told):
    (tmp_path / "a.txt").write_text("\n".join([PROSE] * 12), encoding="utf-8")
    some = [each for each in TINY if not each.startswith(("data.", "probes."))]
    more = [
        "data.batch_tokens=60",
        "probes=none",
        f"model.optimizer.lr={lr}",
        "name=r",
        "trainer.max_epochs=1",
        "model.network.hidden=16",
    ]
    train(tmp_path, *TEXT, *some, *more, f"data.path={tmp_path}/a.txt")
    log = (tmp_path / "runs/r/train.log").read_text(encoding="utf-8")
    assert told in log
    assert ("after one epoch" in log) == (told != "learning ")
    assert "by counting alone: words" in log
    assert "batches of 60 tokens, adamw" in log
    assert read_checkpoint(tmp_path / "runs/r/checkpoints/last.ckpt")["concord"]["capitals"] == {"": True}


def test_only_the_first_epoch_is_compared(tmp_path):
    class Later:
        current_epoch, is_global_zero = 1, True

    LearningCheck(corpus(tmp_path, ["a b ."] * 20), "zero").on_train_epoch_end(Later(), None)  # would fail on callback_metrics
