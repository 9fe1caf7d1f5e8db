"""A run that is stopped anywhere and continued ends where an undisturbed one ends: same weights, same metrics."""

import errno
import os
import random
import re
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
import pytorch_lightning as pl
from concord.data.batches import Shape
from concord.lm.checkpoints import CheckpointError
from concord.runs.metrics_file import read
from concord.settings.training_settings import EarlyStoppingSettings
from training_runs import (
    ROOT,
    TINY,
    PowerCut,
    clean,
    command,
    corpus,
    power_cut,
    recipe,
    rows_without_times,
    run,
    same_weights,
    train,
)


@pytest.mark.parametrize("at", [2, 5, 8, 15, 16, 19, 30])
@pytest.mark.parametrize(
    ("network", "shape", "accumulate"),
    [
        ("lstm", Shape(6), 1),
        ("lstm", Shape(6, window=7), 1),
        ("transformer", Shape(6), 2),
        ("lstm", Shape(6, first_epoch=4), 2),
        ("lstm", Shape(None, tokens=60), 2),
    ],
)
def test_stopped_after_any_batch(tmp_path, caplog, network, shape, accumulate, at):
    text = corpus(tmp_path / "cache")
    made = recipe(network, shape, accumulate_grad_batches=accumulate)
    caplog.set_level("INFO")
    run(tmp_path / "whole", made, text)
    undisturbed = shown_epochs(caplog.messages)
    caplog.clear()
    with power_cut(at):
        run(tmp_path / "cut", made, text)
    run(tmp_path / "cut", made, text, resume=True)
    for name in ("last.ckpt", "best.ckpt", "words-200.ckpt", "words-700.ckpt"):
        assert same_weights(tmp_path / "whole/checkpoints" / name, tmp_path / "cut/checkpoints" / name)
    assert rows_without_times(tmp_path / "whole/metrics.csv") == rows_without_times(tmp_path / "cut/metrics.csv")
    assert len(undisturbed) == 2
    assert shown_epochs(caplog.messages) == undisturbed


def shown_epochs(messages: list[str]) -> dict[str, str]:
    """Epoch → training loss and perplexity as the screen shows them, without times."""
    found = (re.match(r"(epoch \S+)  (train loss .*?)  [\d,]+ words/s", message) for message in messages)
    return {line[1]: line[2] for line in found if line}


def test_a_smaller_batch_in_the_first_epoch(tmp_path):
    text = corpus(tmp_path / "cache")
    run(tmp_path / "run", recipe("lstm", Shape(30, first_epoch=10), log_every_n_steps=1), text)
    steps = [row["step"] for row in read(tmp_path / "run/metrics.csv") if "valid/perplexity" in row]
    assert steps == [9, 9 + 3]


@pytest.mark.parametrize("patience", [1, None])
def test_a_run_that_has_nothing_left_to_train_only_finishes(tmp_path, monkeypatch, patience):
    """Stopped early or at its last epoch, then killed before the test."""
    text = corpus(tmp_path / "cache")
    settings = EarlyStoppingSettings(mode="max", patience=patience)  # falling perplexity never improves on max
    made = replace(recipe("lstm", max_epochs=9 if patience else 2), early_stopping=settings)
    run(tmp_path / "whole", made, text)
    assert sum("valid/perplexity" in row for row in read(tmp_path / "whole/metrics.csv")) == 2
    with monkeypatch.context() as patched:
        patched.setattr("concord.runs.fit._test", lambda *_: (_ for _ in ()).throw(PowerCut))
        with pytest.raises(PowerCut):
            run(tmp_path / "cut", made, text)
    run(tmp_path / "cut", made, text, resume=True)
    assert same_weights(tmp_path / "whole/checkpoints/last.ckpt", tmp_path / "cut/checkpoints/last.ckpt")
    assert rows_without_times(tmp_path / "whole/metrics.csv") == rows_without_times(tmp_path / "cut/metrics.csv")


def test_a_full_disk_keeps_the_checkpoint_before(tmp_path, monkeypatch):
    text = corpus(tmp_path / "cache")
    made = recipe("lstm")
    saves = 0
    save = pl.Trainer.save_checkpoint

    def full(self, file, *args, **kwargs):
        nonlocal saves
        saves += 1
        if saves == 4:
            Path(file).write_bytes(b"half a checkpoint")
            raise OSError(errno.ENOSPC, "No space left on device")
        return save(self, file, *args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(pl.Trainer, "save_checkpoint", full)
        with pytest.raises(
            CheckpointError, match=r"last.ckpt: cannot be written: the disk is full. The previous checkpoint is kept"
        ):
            run(tmp_path / "cut", made, text)
    assert not list((tmp_path / "cut/checkpoints").glob("*.new"))
    run(tmp_path / "cut", made, text, resume=True)
    run(tmp_path / "whole", made, text)
    assert same_weights(tmp_path / "whole/checkpoints/last.ckpt", tmp_path / "cut/checkpoints/last.ckpt")


def test_checkpoints_do_not_travel_through_the_temporary_folder(tmp_path, monkeypatch):
    """Which may be small, full, or on another disk."""
    text = corpus(tmp_path / "cache")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "there is no such folder"))
    run(tmp_path / "run", recipe("lstm", max_epochs=1), text)
    kept = {"best.ckpt", "last.ckpt", "words-200.ckpt", "words-700.ckpt"}
    assert {file.name for file in (tmp_path / "run/checkpoints").iterdir()} == kept


def test_a_disk_that_is_full_in_the_middle_of_the_copy_leaves_no_half_files(tmp_path, monkeypatch):
    text = corpus(tmp_path / "cache")

    def full(_, copy):
        Path(copy).write_bytes(b"half a checkpoint")
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("shutil.copyfile", full)
        with pytest.raises(CheckpointError, match="the disk is full"):
            run(tmp_path / "cut", recipe("lstm", max_epochs=1), text)
    there = {file.name for file in (tmp_path / "cut/checkpoints").iterdir()}
    assert there <= {"last.ckpt", "words-200.ckpt", "words-700.ckpt"}


def killed_and_resumed(folder: Path, overrides: list[str], kills: int, seed: int) -> int:
    """Start, kill with SIGKILL at a random moment, start again; after so many kills let it finish. Returns the kills that hit."""
    rng = random.Random(seed)
    started = time.monotonic()
    hit = 0
    for attempt in range(kills + 1):
        process = subprocess.Popen(
            command(folder, *overrides, "ckpt_path=auto"),
            cwd=ROOT,
            env=clean(folder),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        if attempt < kills:
            metrics = folder / "runs/x/metrics.csv"
            before = metrics.stat().st_size if metrics.exists() else 0
            # Wait until it trains, then a moment more.
            while process.poll() is None and not (metrics.exists() and metrics.stat().st_size != before):
                time.sleep(0.005)
            time.sleep(rng.uniform(0, 1.0))
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        _, errors = process.communicate(timeout=300)
        hit += process.returncode == -signal.SIGKILL
        assert attempt < kills or process.returncode == 0, errors.decode()
        assert time.monotonic() - started < 600
    return hit


@pytest.mark.slow
@pytest.mark.parametrize("model", ["lstm", "transformer"])
def test_killed_five_times(tmp_path, model):
    overrides = [*TINY, f"model={model}", "name=x", "data.limit=1500", "trainer.max_epochs=4"]
    train(tmp_path / "whole", *overrides)
    assert killed_and_resumed(tmp_path / "cut", overrides, kills=5, seed=1) >= 3
    assert same_weights(tmp_path / "whole/runs/x/checkpoints/last.ckpt", tmp_path / "cut/runs/x/checkpoints/last.ckpt")
    assert rows_without_times(tmp_path / "whole/runs/x/metrics.csv") == rows_without_times(tmp_path / "cut/runs/x/metrics.csv")


@pytest.mark.slow
def test_killed_under_ddp(tmp_path):
    overrides = [*TINY, "trainer=ddp_cpu", "name=x", "data.limit=1000", "data.window=9", "trainer.max_epochs=4"]
    train(tmp_path / "whole", *overrides)
    assert killed_and_resumed(tmp_path / "cut", overrides, kills=2, seed=2) >= 1
    assert same_weights(tmp_path / "whole/runs/x/checkpoints/last.ckpt", tmp_path / "cut/runs/x/checkpoints/last.ckpt")
    assert rows_without_times(tmp_path / "whole/runs/x/metrics.csv") == rows_without_times(tmp_path / "cut/runs/x/metrics.csv")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT])
def test_a_signal_saves_and_leaves_with_a_status_that_says_unfinished(tmp_path, number):
    overrides = [*TINY, "name=x", "data.limit=2000", "trainer.max_epochs=30", "callbacks.checkpoints.every_n_steps=0"]
    process = subprocess.Popen(
        command(tmp_path, *overrides),
        cwd=ROOT,
        env=clean(tmp_path),
        stderr=subprocess.PIPE,
        text=True,
    )
    metrics = tmp_path / "runs/x/metrics.csv"
    # The untrained model is probed first; there is something to save once a loss is told.
    while process.poll() is None and not (metrics.exists() and "train/loss" in metrics.read_text(encoding="utf-8")):
        time.sleep(0.02)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert f"stopped by {number.name}: the state is saved, resume with ckpt_path=auto" in errors
    assert (tmp_path / "runs/x/checkpoints/last.ckpt").exists()
    assert not (tmp_path / "runs/x/DONE").exists()
