"""A plain loop, watched: nothing changes in the training, and the numbers are those that evaluate.py finds."""

from pathlib import Path
from typing import Any

import concord
import numpy as np
import pytest
import torch
import yaml
from concord.data.vocabulary import Vocabulary
from concord.errors import UserError
from concord.lm.model import Architecture, initialise_model
from concord.probes.scorers.scoring_mode import scoring_mode
from concord.report import load
from concord.runs.fit import computes_in_16_bits
from concord.runs.metrics_file import read
from concord.settings.checkpoint_names import BABYLM, checkpoint_name
from concord.watching.cost import Stopwatch, halving_advice
from concord.watching.moments import read_moments
from concord.watching.words_seen import WordCounter
from pyarrow import parquet
from torch import nn
from torch.nn import functional as F
from watched_trainings import MEAN, Network, batch, hf_model, loss_of, same, small_sets, tokenizer, vocabulary


def train(folder: Path | None, steps: int = 12, autocast: bool = False) -> tuple[Network, Any]:
    torch.manual_seed(3)
    module = Network()
    optimizer = torch.optim.Adam(module.parameters(), 3e-3)
    watcher = concord.Watcher(module, vocabulary(), small_sets(), folder, seed=3, show=False) if folder else None
    words = 0
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        for step in range(steps):
            loss = loss_of(module, batch(step)) / 2
            loss.backward()
            if watcher and step % 4 == 0:
                watcher(step, words)  # between two halves of a step: gradients are there
            loss_of(module, batch(step + 500)).backward()
            optimizer.step()
            optimizer.zero_grad()
            words += int((batch(step) > 2).sum())
    if watcher:
        watcher.finish(steps, words)
    return module, watcher


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Network, Any]:
    return train(tmp_path_factory.mktemp("loop") / "mine-s3")


@pytest.mark.parametrize("autocast", [False, True])
def test_training_is_the_same_to_the_bit(watched, tmp_path: Path, autocast: bool) -> None:
    if autocast and not computes_in_16_bits():
        pytest.skip("torch has no LSTM in bfloat16 on this processor; test_trainer_watch.py has GPT-2")
    module = watched[0] if not autocast else train(tmp_path / "on", autocast=True)[0]
    assert same(module, train(None, autocast=autocast)[0])
    assert module.training
    assert not module.frozen.training


def test_the_folder_is_that_of_a_run(watched) -> None:
    folder = watched[1].folder.path
    rows = read(folder / "metrics.csv")
    assert [row["step"] for row in rows] == [0, 4, 8]
    assert rows[1]["progress/words_seen"] > 0
    assert all(0 <= row[MEAN] <= 1 for row in rows)
    settings = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    assert (settings["model"], settings["seed"], settings["axis"]) == ("Network", 3, "words")
    frame = load(folder)
    assert sorted({*frame.moment}) == ["final", "step 0", "step 4", "step 8"]
    assert {*frame[frame.moment == "step 4"].words} == {rows[1]["progress/words_seen"]}
    assert (folder / "report.html").stat().st_size > 10_000


def test_scores_are_those_of_one_sentence_at_a_time(watched) -> None:
    """The oracle reads every sentence alone, without padding, and sums cross-entropies."""
    module, watcher = watched
    items = parquet.read_table(watcher.folder.path / "probes/final-de-agreement/items.parquet").to_pylist()
    module.eval()
    for item in items[:6]:
        ids = torch.tensor([[0, *(vocabulary()[word] for word in item["good"])]])
        with torch.no_grad():
            nll = F.cross_entropy(module(ids[:, :-1])[0], ids[0, 1:], reduction="none")
        assert np.allclose(item["good_logprobs"], -nll.numpy(), atol=1e-4)
        assert item["good_score"] == pytest.approx(-float(nll.sum()), abs=1e-3)
    module.train()


def test_a_table_comes_back(watched) -> None:
    table = watched[1].last
    assert {*table.accuracy} == {"simple_agrmt", "prep", "mean"}
    assert list(table.frame.columns)[:6] == ["n", "accuracy", "low", "high", "ties", "uncovered"]
    assert table.frame.loc[("de/agreement", "prep"), "n"] == 12
    assert "step 8, " in str(table)


def test_a_function_an_hf_model_and_our_own_model_are_watched_alike(tmp_path: Path) -> None:
    calls = []

    def constant(texts: list[str]) -> list[list[float]]:
        calls.append(len(texts))
        torch.rand(3)
        return [[-1.0] * len(text.split()) for text in texts]

    before = torch.random.get_rng_state()
    table = concord.Watcher(constant, None, small_sets(), tmp_path / "function", show=False)(0)
    assert torch.equal(before, torch.random.get_rng_state())
    assert table.accuracy["mean"] == 0.5
    assert sum(calls) > 0
    words = Vocabulary(["<eos>", "<unk>", *[word for word in vocabulary() if not word.startswith("<")]])
    network = {"name": "lstm", "hidden": 8, "layers": 1, "dropout": 0.0}
    ours = initialise_model(Architecture(len(words), 8, True, 0.0, 0.1, network), 1)
    table = concord.Watcher(ours, words, small_sets(), tmp_path / "ours", show=False)(0, 0)
    # The same network as a plain module from ids to log-probabilities says the same.
    plain = concord.Watcher(Plain(ours), words, small_sets(), tmp_path / "plain", show=False)(0, 0)
    one, other = (each.answers["probe/de/agreement"].scores.logprobs for each in (table, plain))
    assert np.allclose(one, other, atol=1e-4)


class Plain(nn.Module):
    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.model(ids)[0]


@pytest.mark.parametrize("family", ["gpt2", "bert"])
def test_a_model_in_memory_scores_as_from_its_folder(family: str, tmp_path: Path) -> None:
    model = hf_model(family)
    table = concord.Watcher(model.train(), tokenizer(), small_sets(), tmp_path / "run", show=False)(0)
    model.save_pretrained(tmp_path / "saved")
    tokenizer().save_pretrained(tmp_path / "saved")
    loaded = concord.probe(concord.pretrained(tmp_path / "saved", language="de"), small_sets())
    assert table.accuracy == loaded.accuracy
    answer = table.answers["probe/de/agreement"]
    assert np.array_equal(answer.scores.logprobs, loaded.answer.scores.logprobs)
    assert all(part.training for part in model.modules())


def test_weights_in_half_precision_are_read_in_float32(tmp_path: Path) -> None:
    model = hf_model("gpt2").bfloat16()
    table = concord.Watcher(model, tokenizer(), small_sets(), tmp_path / "half", show=False)(0)
    whole = concord.Watcher(hf_model("gpt2").bfloat16().float(), tokenizer(), small_sets(), tmp_path / "whole", show=False)(0)
    halves, wholes = (each.answers["probe/de/agreement"].scores.logprobs for each in (table, whole))
    assert np.array_equal(halves, wholes)
    assert next(model.parameters()).dtype == torch.bfloat16


def test_scoring_leaves_modes_buffers_and_randomness_as_they_were() -> None:
    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("calls", torch.zeros(1))

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            self.calls += 1
            return torch.rand(*ids.shape, 5)

    module = nn.Sequential(Counting(), nn.Dropout(0.5).eval())
    state = torch.random.get_rng_state()
    with scoring_mode(module):
        module(torch.zeros(1, 2, dtype=torch.long))
        assert not module.training
        assert not torch.is_grad_enabled()
    assert float(module[0].calls) == 0
    assert (module.training, module[0].training, module[1].training) == (True, True, False)
    assert torch.equal(state, torch.random.get_rng_state())


def test_a_stopped_loop_goes_on_in_its_folder(tmp_path: Path) -> None:
    asked = {"show": False, "seed": 1}
    module = Network()
    first = concord.Watcher(module, vocabulary(), small_sets(), tmp_path, **asked)
    for step in (0, 4, 8):
        first(step, step * 10)
    with pytest.raises(UserError, match="curves of earlier training; choose another folder, resume=True"):
        concord.Watcher(module, vocabulary(), small_sets(), tmp_path, **asked)
    again = concord.Watcher(module, vocabulary(), small_sets(), tmp_path, resume=True, **asked)
    again(8, 80)  # killed after 8 was probed, resumes from a checkpoint at 4
    again(12, 120)
    assert [row["step"] for row in read(tmp_path / "metrics.csv")] == [0, 4, 8, 12]
    concord.Watcher(module, vocabulary(), small_sets(), tmp_path, overwrite=True, **asked)(0, 0)
    assert [row["step"] for row in read(tmp_path / "metrics.csv")] == [0]


class Ahead(nn.Module):
    """Sees what it should predict."""

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return F.one_hot(ids.roll(-1, dims=1), len(vocabulary())).float()


class Flat(nn.Module):
    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return torch.zeros(len(ids), len(vocabulary()))


@pytest.mark.parametrize(
    ("model", "words", "options", "message"),
    [
        (
            Ahead(),
            vocabulary(),
            {},
            "depends on what follows it; it must read from left to right",
        ),
        (Flat(), vocabulary(), {}, r"returns a tensor of shape \(\d+, \d+\); it must return logits \(B, T, V\)"),
        (Network(), None, {}, "Network: a torch module needs its tokenizer or vocabulary"),
        (Network(), {"a": 0}, {}, '; say what precedes the first word: start="<eos>", or start="none"'),
        (Network(), vocabulary(), {"start": "<bos>"}, "start='<bos>' is not in the vocabulary"),
        (3, None, {}, "not a model: 3; give a torch module"),
        (Network(), ["<eos>", "<unk>", "x"], {}, "it knows the tested words of no item"),
        (Network(), vocabulary(), {"sets": []}, "sets: none given"),
        (
            Network(),
            vocabulary(),
            {"protocol": "goldberg"},
            "skip_multi_piece, which it needs, works only in concord evaluate",
        ),
    ],
)
def test_what_cannot_be_watched_is_told_in_one_line(model, words, options, message, tmp_path: Path) -> None:
    options = dict(options)
    with pytest.raises(UserError, match=message):
        concord.Watcher(model, words, options.pop("sets", small_sets()), tmp_path, show=False, **options)(0, 0)


def test_what_curves_are_drawn_against_stays_the_same(tmp_path: Path) -> None:
    watcher = concord.Watcher(Network(), vocabulary(), small_sets(), tmp_path, show=False)
    watcher(0, 0)
    with pytest.raises(UserError, match="the first probe was given words=, so every probe must be"):
        watcher(1)
    steps = concord.Watcher(Network(), vocabulary(), small_sets(), tmp_path / "steps", show=False)
    steps(0)
    steps(5)
    frame = load(tmp_path / "steps")
    assert sorted({*frame[frame.moment.str.startswith("step")].words}) == [0, 5]


def test_the_cost_names_what_halves_it() -> None:
    """Checked by counting the probes that the new schedule would make of the same training."""
    watch = Stopwatch(every=100, sample=40)
    for step in range(0, 2001, 100):
        watch.note(step, 1.0)
    assert watch.line(end=420.0).startswith("probing    21 probes took 21.0 s of 420.0 s (5%); every=230 instead of every=100")
    assert len({*range(0, 2001, 230), 2000}) <= 21 / 2 < len({*range(0, 2001, 200), 2000})
    # Marks of words between them: only the scheduled ones become fewer.
    steps = sorted([*range(0, 2001, 100), 178, 356, 534, 712])
    assert halving_advice([1.0] * 25, steps, 100, 40) == "every=300 instead of every=100"
    assert len({*range(0, 2001, 300), 2000}) + 4 <= 25 / 2
    # Where marks are most of it, the schedule by steps cannot do it.
    assert halving_advice([1.0] * 6, [0, 10, 20, 30, 40, 100], 100, 40) == "sample=20 instead of sample=40"
    assert halving_advice([1.0] * 2, [0, 10], 100, None) == "sample= with fewer items per set"
    assert halving_advice([1.0] * 3, [0, 100, 200], None, 40) == "every 200 steps instead of every 100"
    assert halving_advice([1.0] * 3, [0, 100, 150], None, 40) == "dropping every second probe"
    assert halving_advice([1.0], [0], 100, 40) == ""


def test_babylm_asks_for_28_checkpoints() -> None:
    assert [checkpoint_name(words) for words in BABYLM][:3] == ["chck_1M", "chck_2M", "chck_3M"]
    assert [checkpoint_name(words) for words in BABYLM][9:12] == ["chck_10M", "chck_20M", "chck_30M"]
    assert (len(BABYLM), checkpoint_name(BABYLM[-1]), checkpoint_name(1500)) == (28, "chck_1000M", "chck_1500")
    assert read_moments(None, [5, 3]).reached(3, 5) == [5]
    for every, words, message in ((0, None, "every=0"), (None, "baby", "at_words='baby'"), (None, [0], "at_words: 0")):
        with pytest.raises(UserError, match=message):
            read_moments(every, words)


def test_words_are_counted_whatever_cuts_them() -> None:
    from pretrained_models import bytes_bpe, sentencepiece, wordpiece

    texts = ["the author laughs .", "the pilots near the teacher smile , and the senator is old ."]
    truth = sum(len(text.split()) for text in texts)
    for made in (bytes_bpe(), sentencepiece(), wordpiece()):
        made.pad_token = made.pad_token or made.eos_token
        read = made(texts, padding=True, return_tensors="pt")
        assert WordCounter(made)(read) == truth, type(made)
        if made.mask_token:
            labels = torch.full_like(read["input_ids"], -100)
            labels[:, 2] = read["input_ids"][:, 2]
            hidden = read["input_ids"].clone()
            hidden[:, 2] = made.mask_token_id
            assert WordCounter(made)({"input_ids": hidden, "labels": labels}) == truth
    assert WordCounter(vocabulary())(batch(0)) == int((batch(0) > 1).sum())
    with pytest.raises(UserError, match="cannot find the ids in a batch of type .*; pass words=function to count its words"):
        WordCounter(vocabulary())({"text": texts})
