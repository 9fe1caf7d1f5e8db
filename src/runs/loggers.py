"""Who is told the numbers of a run besides metrics.csv: W&B, TensorBoard, both or nobody."""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytorch_lightning.loggers import TensorBoardLogger
from pytorch_lightning.loggers.logger import Logger

from ..errors import UserError
from ..lm.checkpoints import read_checkpoint

NAMES = ("wandb", "tensorboard")


def check(chosen: dict[str, Any]) -> None:
    """Before anything is done: each is known, and its package is here."""
    if unknown := [name for name in chosen if name not in NAMES]:
        raise UserError(f"logger.{unknown[0]}: there is no such logger; there are: {', '.join(NAMES)}, none")
    if "tensorboard" in chosen and not importlib.util.find_spec("tensorboard"):
        raise UserError("logger=tensorboard: its package is missing; pip install -e '.[tensorboard]'")


@contextmanager
def opened(
    settings: dict[str, Any], folder: Path, known: dict[str, Any], resume: Path | None, first: bool
) -> Iterator[list[Logger]]:
    """The chosen ones, on the first process only; closed whatever happens."""
    chosen = settings["logger"] if first else {}
    made: list[Logger] = []
    try:
        if "tensorboard" in chosen:
            made.append(_tensorboard(folder, resume))
        if "wandb" in chosen:
            from .wandb_logging import wandb_logger  # noqa: PLC0415 - a second, for those who want it

            made.append(wandb_logger(folder, known["wandb_id"], settings, chosen["wandb"]["project"], settings["tags"]))
        yield made
    finally:
        if "wandb" in chosen:
            from .wandb_logging import close  # noqa: PLC0415

            close(folder)


def _tensorboard(folder: Path, resume: Path | None) -> TensorBoardLogger:
    """A run that goes on takes back what it had shown after the checkpoint; it will come again."""
    purge = read_checkpoint(resume)["global_step"] + 1 if resume else None
    return TensorBoardLogger(folder, name="tensorboard", version="", purge_step=purge)
