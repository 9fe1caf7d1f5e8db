"""Who is told the numbers of a run besides metrics.csv: W&B, TensorBoard, both or nobody."""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pytorch_lightning.loggers import TensorBoardLogger
from pytorch_lightning.loggers.logger import Logger

from ..errors import UserError
from ..lm.checkpoints import read_checkpoint
from ..settings.run import RunSettings
from ..settings.training import LoggerSettings


def check_loggers(chosen: LoggerSettings) -> None:
    """Before anything is done: the package of each is here."""
    if chosen.tensorboard is not None and not importlib.util.find_spec("tensorboard"):
        raise UserError("logger=tensorboard: its package is missing; pip install 'concord-lm[tensorboard]'")


@contextmanager
def open_loggers(settings: RunSettings, folder: Path, wandb_id: str, resume: Path | None) -> Iterator[list[Logger]]:
    """The chosen ones; closed whatever happens."""
    chosen = settings.logger
    loggers: list[Logger] = []
    try:
        if chosen.tensorboard is not None:
            loggers.append(_tensorboard(folder, resume))
        if chosen.wandb is not None:
            from .wandb_logging import wandb_logger  # noqa: PLC0415 - a second, for those who want it

            loggers.append(wandb_logger(folder, wandb_id, dict(settings.plain), chosen.wandb.project, list(settings.tags)))
        yield loggers
    finally:
        if chosen.wandb is not None:
            from .wandb_logging import close  # noqa: PLC0415

            close(folder)


def _tensorboard(folder: Path, resume: Path | None) -> TensorBoardLogger:
    """A run that goes on takes back what it had shown after the checkpoint; it will come again."""
    purge = read_checkpoint(resume)["global_step"] + 1 if resume else None
    return TensorBoardLogger(folder, name="tensorboard", version="", purge_step=purge)
