"""Settings for all tests: one thread each, since they run side by side; no network; the same examples every time."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["WANDB_MODE"] = "offline"
os.environ["WANDB_ERROR_REPORTING"] = "false"
settings.register_profile("the same every time", derandomize=True, deadline=None)
settings.load_profile("the same every time")


@pytest.fixture
def root() -> Path:
    return ROOT
