"""Training runs as children of a process that has already imported everything: each starts in a fraction of a second."""

import os
import sys
import time
import traceback
from pathlib import Path

import concord.report  # noqa: F401
from concord.commands.train import train
from concord.runs import run_preparation  # noqa: F401 - and with it everything a child would have to import
from concord.runs.stopping import explain_failures
from training_runs import TINY, settings

# Checkpoints every fourth step, probes in mid-epoch, some of them at a checkpoint's step.
WATCHED = [
    *TINY,
    "name=x",
    "data.limit=72",
    "trainer.max_epochs=2",
    "probes.constructions=[simple_agrmt]",
    "probes.limit=4",
    "probes.schedule.steps=[4,6,8,15,21]",
    "probes.schedule.epochs=[0,0.5,1.5]",
]


def start(folder: Path, overrides: list[str], cache: Path, log: Path) -> int:
    """The id of a training process; its output goes to the log."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        os.setsid()
        said = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(said, 1)
        os.dup2(said, 2)
        with explain_failures():
            train(settings(*overrides, f"paths.runs={folder}/runs", f"paths.cache={cache}"))
        status = 0
    except SystemExit as left:
        status = int(left.code or 0)
    except BaseException:  # a child must never continue as its parent
        traceback.print_exc()
    finally:
        os._exit(status)


def wait(child: int) -> int:
    """Its status; negative: the number of the signal that killed it."""
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def run(folder: Path, overrides: list[str], cache: Path, log: Path) -> tuple[int, float]:
    started = time.monotonic()
    return wait(start(folder, overrides, cache, log)), time.monotonic() - started
