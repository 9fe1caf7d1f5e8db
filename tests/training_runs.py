"""Small training runs for the tests, in this process or as a user would start them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from concord.data.batches import Shape
from concord.data.corpus import Corpus, VocabularyRule, prepare
from concord.data.grammar import folder_of
from concord.data.sources import GrammarSource
from concord.lm.model import initialise_model
from concord.lm.training import Training
from concord.runs.fit import PreparedRun, Recipe, architecture, fit
from concord.runs.run_folder import RunFolder
from concord.settings.overrides import read_composed
from concord.settings.reading import read
from concord.settings.run import RunSettings
from concord.settings.training_settings import CheckpointSettings, EarlyStoppingSettings, ModelSettings, TrainerSettings
from hydra import compose, initialize_config_dir

ROOT = Path(__file__).resolve().parents[1]
# Prepared corpora, shared by all tests of a test run: each is built once.
CORPORA = Path.home() / "corpora"  # the home of the tests, not the user's (conftest.py)
NETWORKS = {
    "lstm": {"name": "lstm", "hidden": 12, "layers": 2, "dropout": 0.2},
    "transformer": {
        "name": "transformer",
        "layers": 1,
        "heads": 2,
        "feedforward": 16,
        "dropout": 0.2,
        "norm_first": True,
        "final_norm": True,
    },
}
TRAINER = {"accelerator": "cpu", "devices": 1, "max_epochs": 2, "log_every_n_steps": 3, "gradient_clip_val": 1.0}
# A command line for runs of seconds.
TINY = [
    "data.limit=60",
    "data.batch_size=6",
    "model.embedding=16",
    "model.dropout=0.2",
    "trainer.max_epochs=3",
    "trainer.log_every_n_steps=3",
    "trainer.threads=1",
    "callbacks.checkpoints.every_n_steps=4",
    "logger=none",
    "probes.limit=12",
]
# The same for text of which the challenge sets know nothing.
WITHOUT_PROBES = [*(each for each in TINY if not each.startswith("probes.")), "probes=none"]


def corpus(cache: Path, train: int = 90) -> Corpus:
    sizes = {"train": train, "valid": 30, "test": 30}
    return prepare(GrammarSource(folder_of("de"), sizes, seed=0), VocabularyRule(None), cache)


def recipe(network: str, shape: Shape | None = None, **trainer: Any) -> Recipe:
    return Recipe(
        model=ModelSettings(
            network,
            embedding=8,
            tied=True,
            dropout=0.2,
            init=0.1,
            network=NETWORKS[network],
            optimizer={"name": "adamw", "lr": 0.01},
            scheduler={"name": "one_cycle"},
        ),
        shape=shape or Shape(6),
        evaluation_tokens=100,
        seed=1,
        checkpoints=CheckpointSettings(every_n_steps=4, at_words=(200, 700)),
        early_stopping=EarlyStoppingSettings(),
        trainer=read(TrainerSettings, TRAINER | trainer, "trainer"),
    )


def run(folder: Path, made: Recipe, text: Corpus, resume: bool = False) -> dict[str, Any]:
    where = RunFolder(folder)
    where.enter("", {})
    model = initialise_model(architecture(made.model, len(text.vocabulary)), made.seed)
    return fit(PreparedRun(made, text, model), {}, where, [], where.last if resume and where.last.exists() else None)


def settings(*overrides: str) -> RunSettings:
    """What `train.py` with these overrides would be told."""
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        return read_composed(compose("train", list(overrides)))


def train(folder: Path, *overrides: str, check: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
    """`python train.py …` with its runs below the folder."""
    done = subprocess.run(
        command(folder, *overrides), cwd=ROOT, env=clean(folder) | environment, capture_output=True, text=True, check=False
    )
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


def command(folder: Path, *overrides: str) -> list[str]:
    return [sys.executable, "train.py", f"paths.runs={folder}/runs", f"paths.cache={CORPORA}", *overrides]


def clean(folder: Path) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("WANDB", "PYTEST"))}
    return kept | {"OMP_NUM_THREADS": "1", "NETRC": str(folder / "no-netrc"), "WANDB_ERROR_REPORTING": "false"}


class PowerCut(Exception):
    """Nothing in our code expects it."""


@contextmanager
def power_cut(at: int) -> Iterator[None]:
    """Training stops before this step, the first being 1."""
    seen, step = 0, Training.training_step

    def cut(self, batch, batch_idx):
        nonlocal seen
        seen += 1
        if seen == at:
            raise PowerCut
        return step(self, batch, batch_idx)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Training, "training_step", cut)
        with pytest.raises(PowerCut):
            yield


def weights(file: Path) -> dict[str, torch.Tensor]:
    return torch.load(file, weights_only=True)["state_dict"]


def same_weights(one: Path, two: Path) -> bool:
    first, second = weights(one), weights(two)
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def rows_without_times(file: Path) -> list[list[str]]:
    lines = [line.split(",") for line in file.read_text(encoding="utf-8").splitlines()]
    timed = [i for i, name in enumerate(lines[0]) if name.startswith("time/")]
    return [[cell for i, cell in enumerate(line) if i not in timed] for line in lines]
