"""transformers' Trainer, watched: what it logs, what it chooses by, what lies beside its checkpoints."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import concord
import numpy as np
import pytest
from concord.errors import UserError
from concord.runs.metrics_file import read
from training_runs import ROOT, clean
from watched_trainings import MEAN, easy_sentences, hf_trainer, same, sentences, small_sets

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def watched(family: str, folder: Path, watch: dict[str, Any] | None = None, **settings: Any) -> tuple[Any, Any]:
    trainer = hf_trainer(family, folder, **settings)
    made = concord.watch(trainer, sets=small_sets(), show=False, **watch or {})
    trainer.train()
    return trainer, made


@pytest.mark.parametrize("family", ["gpt2", "bert"])
def test_a_trainer_is_watched_and_trains_as_before(family: str, tmp_path: Path) -> None:
    evaluated = {"eval_strategy": "steps", "eval_steps": 4, "metric_for_best_model": MEAN, "save_strategy": "steps"}
    trainer, watch = watched(family, tmp_path / "on-s1", {"at_words": [500]}, save_steps=4, **evaluated)
    alone = hf_trainer(family, tmp_path / "off", eval_strategy="steps", eval_steps=4)
    alone.train()
    assert same(trainer.model, alone.model)
    rows = read(tmp_path / "on-s1/metrics.csv")
    assert {row["step"] for row in rows if "eval_loss" in row} == {4, 8}
    rows = [row for row in rows if MEAN in row]
    assert [row["step"] for row in rows if row["step"] in (0, 4, 8)] == [0, 4, 8]
    best = max(row[MEAN] for row in rows if row["step"] in (4, 8))
    assert trainer.state.best_metric == best
    logged = [entry for entry in trainer.state.log_history if f"eval_{MEAN}" in entry]
    assert [(entry["step"], entry[f"eval_{MEAN}"]) for entry in logged] == [(row["step"], row[MEAN]) for row in rows]
    # Whole words of the batches, as they were read.
    assert 0 < watch.words == rows[-1]["progress/words_seen"]
    for name in ("checkpoint-8", "chck_500"):
        model = concord.pretrained(tmp_path / "on-s1" / name, language="de")
        step = 8 if name == "checkpoint-8" else next(r["step"] for r in rows if r["progress/words_seen"] >= 500)
        assert concord.probe(model, small_sets()).accuracy["mean"] == next(r[MEAN] for r in rows if r["step"] == step)
    assert json.loads((tmp_path / "on-s1/DONE").read_text(encoding="utf-8"))[MEAN] >= 0


@pytest.mark.slow
def test_words_seen_are_those_of_the_text(tmp_path: Path) -> None:
    trainer, watch = watched("bert", tmp_path, max_steps=-1, num_train_epochs=1)
    assert watch.words == sum(len(sentence.split()) for sentence in sentences()[:-50])
    assert trainer.state.epoch == 1


@pytest.mark.slow
def test_mixed_precision_is_trained_as_before_and_scored_in_float32(tmp_path: Path) -> None:
    trainer, watch = watched("gpt2", tmp_path / "on", bf16=True, max_steps=3)
    alone = hf_trainer("gpt2", tmp_path / "off", bf16=True, max_steps=3)
    alone.train()
    assert same(trainer.model, alone.model)
    trainer.save_model(str(tmp_path / "saved"))
    loaded = concord.probe(concord.pretrained(tmp_path / "saved", language="de"), small_sets())
    scores = watch.watcher.last.answers["probe/de/agreement"].scores
    assert np.array_equal(scores.logprobs, loaded.answer.scores.logprobs)


@pytest.mark.slow
def test_a_training_that_goes_on_has_one_curve(tmp_path: Path) -> None:
    told = {"save_strategy": "steps", "save_steps": 4}
    whole, one = watched("gpt2", tmp_path / "whole", {"every": 2}, **told)
    watched("gpt2", tmp_path / "cut", {"every": 2}, max_steps=4, lr_scheduler_type="constant", **told)
    again = hf_trainer("gpt2", tmp_path / "cut", lr_scheduler_type="constant", **told)
    watch = concord.watch(again, sets=small_sets(), show=False, every=2)
    again.train(resume_from_checkpoint=str(tmp_path / "cut/checkpoint-4"))
    assert [row["step"] for row in read(tmp_path / "cut/metrics.csv")] == [0, 2, 4, 6, 8]
    assert watch.words == one.words
    assert whole.state.global_step == 8
    fresh = hf_trainer("gpt2", tmp_path / "cut")
    concord.watch(fresh, sets=small_sets(), show=False)
    with pytest.raises(UserError, match="curves of earlier training"):
        fresh.train()


@pytest.mark.parametrize(
    ("settings", "options", "message"),
    [
        (
            {"metric_for_best_model": "probe/de/agreement/prp/accuracy"},
            {},
            "no such probe; available: probe/de/agreement/prep",
        ),
        ({}, {"lang": "de"}, 'give either lang="de" for our sets of a language, or sets='),
        ({}, {"every": 0}, "every=0: must be a number of steps above 0"),
        ({}, {"scoring": "pll"}, "pll"),
    ],
)
def test_what_cannot_be_watched_is_told_before_the_training(settings, options, message, tmp_path: Path) -> None:
    trainer = hf_trainer("gpt2", tmp_path, **settings)
    with pytest.raises(UserError, match=message):
        concord.watch(trainer, sets=small_sets(), show=False, **options)


TWO = """
import sys, torch
sys.path[:0] = [{tests!r}]
import concord
from watched_trainings import hf_model, small_sets, tokenizer
torch.set_num_threads(1)
if int(sys.argv[1]) > 1:
    torch.distributed.init_process_group("gloo")
for family in ("gpt2", "bert"):
    watcher = concord.Watcher(hf_model(family), tokenizer(), small_sets(limit=40), sys.argv[2] + family, show=False)
    watcher(0, 0)
"""


@pytest.mark.slow
def test_two_processes_find_what_one_finds(tmp_path: Path) -> None:
    script = tmp_path / "two.py"
    script.write_text(TWO.format(tests=str(ROOT / "tests")), encoding="utf-8")
    for count in (1, 2):
        start = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2"] if count > 1 else [sys.executable]
        told = [*start, str(script), str(count), f"{tmp_path}/{count}-"]
        done = subprocess.run(told, env=clean(tmp_path), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    for family in ("gpt2", "bert"):
        one, two = (read(tmp_path / f"{count}-{family}" / "metrics.csv")[0] for count in (1, 2))
        assert {k: v for k, v in one.items() if "time/" not in k} == {k: v for k, v in two.items() if "time/" not in k}


@pytest.mark.slow
@pytest.mark.parametrize("family", ["gpt2", "bert"])
def test_curves_rise_and_loggers_have_them(family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import wandb
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    wandb.teardown()  # it would go on in the folder of an earlier run of this process
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENSORBOARD_LOGGING_DIR", str(tmp_path / "board"))
    logged = {"report_to": ["wandb", "tensorboard"], "eval_strategy": "no"}
    trainer = hf_trainer(family, tmp_path / "run", easy_sentences(), max_steps=400, **logged)
    watch = concord.watch(trainer, sets=small_sets("simple_agrmt", limit=80), every=100, show=False)
    trainer.train()
    wandb.finish()
    rows = read(tmp_path / "run/metrics.csv")
    assert rows[-1][MEAN] > rows[0][MEAN] + 0.1
    (folder,) = {file.parent for file in (tmp_path / "board").rglob("events*")}
    board = EventAccumulator(str(folder)).Reload()
    assert [event.value for event in board.Scalars(f"eval/{MEAN}")] == pytest.approx([row[MEAN] for row in rows])
    (log,) = (tmp_path / "wandb").glob("offline-run-*/*.wandb")
    assert f"eval/{MEAN}".encode() in log.read_bytes()
    assert watch.watcher.stopwatch.line().startswith("probing    5 probes took")
