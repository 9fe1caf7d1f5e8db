"""Settings for all tests: one thread each, since they run side by side; no network; the same examples each time; a home apart."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
# One home for all processes of a test run, which inherit it: the user's caches and settings are neither read nor written.
FIRST = "CONCORD_TEST_HOME" not in os.environ
if FIRST:
    os.environ.setdefault("GIT_CONFIG_GLOBAL", str(Path.home() / ".gitconfig"))  # whose folders git may look into
    os.environ["CONCORD_TEST_HOME"] = tempfile.mkdtemp(prefix="concord-tests-")
HOME = Path(os.environ["CONCORD_TEST_HOME"])
os.environ["HOME"] = str(HOME)
for variable in list(os.environ):
    if variable.startswith(("XDG_", "HF_", "WANDB_")) or variable == "CONCORD_CACHE":
        del os.environ[variable]
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["WANDB_MODE"] = "offline"
os.environ["WANDB_ERROR_REPORTING"] = "false"
settings.register_profile("the same every time", derandomize=True, deadline=None)
settings.load_profile("the same every time")


def pytest_unconfigure() -> None:
    if FIRST:
        shutil.rmtree(HOME, ignore_errors=True)


@pytest.fixture
def root() -> Path:
    return ROOT
