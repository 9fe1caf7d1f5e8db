"""Settings for all tests: one thread each, since they run side by side; no network."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["WANDB_MODE"] = "offline"
os.environ["WANDB_ERROR_REPORTING"] = "false"


@pytest.fixture
def root() -> Path:
    return ROOT
