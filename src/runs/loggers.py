"""Where a run's numbers go besides metrics.csv: W&B, TensorBoard, both or neither."""

import importlib.util
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from pytorch_lightning.loggers import TensorBoardLogger
from pytorch_lightning.loggers.logger import Logger

from ..errors import UserError
from ..lm.checkpoints import read_checkpoint
from ..own_code import make_each, own_class
from ..settings.run import RunSettings
from ..settings.training_settings import LoggerSettings

WANDB_MODES = ("online", "offline", "disabled", "shared", "dryrun", "run")


def check_loggers(chosen: LoggerSettings, allow: Sequence[str] = ()) -> None:
    """Check before anything is done that each package is installed, and that user-defined ones are allowed."""
    for name, values in chosen.rest.items():
        if isinstance(values, Mapping):
            own_class(f"logger.{name}", values, Logger, allow)  # type: ignore[type-abstract]
    if chosen.wandb is not None:
        _check_wandb_environment()
    if chosen.tensorboard is not None and not importlib.util.find_spec("tensorboard"):
        raise UserError("logger=tensorboard: its package is missing; pip install 'concord-lm[tensorboard]'")


def _check_wandb_environment() -> None:
    """Check what W&B would reject with a long message."""
    mode = os.environ.get("WANDB_MODE", "")
    if mode and mode not in WANDB_MODES:
        raise UserError(f"WANDB_MODE={mode} (environment): no such mode; available: {', '.join(WANDB_MODES)}")
    address = os.environ.get("WANDB_BASE_URL", "")
    parts = urlsplit(address if address.isascii() and address.isprintable() else "")
    if address and not (parts.scheme in ("http", "https") and parts.netloc and " " not in address):
        raise UserError(f"WANDB_BASE_URL={address!a} (environment): must be an address, for instance https://api.wandb.ai")


@contextmanager
def open_loggers(settings: RunSettings, folder: Path, wandb_id: str, resume: Path | None) -> Iterator[list[Logger]]:
    """Open the chosen ones; they are closed whatever happens."""
    chosen = settings.logger
    loggers: list[Logger] = []
    try:
        if chosen.tensorboard is not None:
            loggers.append(_tensorboard(folder, resume))
        if chosen.wandb is not None:
            from .wandb_logging import wandb_logger  # noqa: PLC0415 - a second, for those who want it

            loggers.append(wandb_logger(folder, wandb_id, dict(settings.plain), chosen.wandb.project, list(settings.tags)))
        loggers += make_each("logger", chosen.rest, Logger, settings.allow)  # type: ignore[type-abstract]
        yield loggers
    finally:
        if chosen.wandb is not None:
            from .wandb_logging import close  # noqa: PLC0415

            close(folder)


def _tensorboard(folder: Path, resume: Path | None) -> TensorBoardLogger:
    """A resumed run removes what it had shown after the checkpoint; it will appear again."""
    purge = read_checkpoint(resume)["global_step"] + 1 if resume else None
    return TensorBoardLogger(folder, name="tensorboard", version="", purge_step=purge)
