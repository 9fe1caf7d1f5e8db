"""Weights & Biases: online if there is a login, otherwise offline with the command that uploads the run later."""

import logging
import netrc
import os
from pathlib import Path
from typing import Any

import wandb
from pytorch_lightning.loggers import WandbLogger

from ..metric_names import WORDS_SEEN
from ..settings.reading import Plain

log = logging.getLogger(__name__)
PATIENCE = 30  # seconds for the server to answer at the start


def logged_in() -> bool:
    """Whether W&B would know who we are, without asking anyone."""
    if os.environ.get("WANDB_API_KEY"):
        return True
    host = os.environ.get("WANDB_BASE_URL", "https://api.wandb.ai").split("//")[-1].rstrip("/")
    try:
        return netrc.netrc(os.environ.get("NETRC", Path("~/.netrc").expanduser())).authenticators(host) is not None
    except (OSError, netrc.NetrcParseError):
        return False


def wandb_logger(folder: Path, run_id: str, config: dict[str, Plain], project: str, tags: list[str]) -> WandbLogger:
    """The same id continues the same W&B run; offline, every start writes its own segment under it."""
    mode: Any = os.environ.get("WANDB_MODE") or ("online" if logged_in() else "offline")
    if mode != "online":
        os.environ.setdefault("WANDB_ERROR_REPORTING", "false")  # would look up a host even offline
    os.environ.setdefault("WANDB_SILENT", "true")
    try:
        run = _init(folder, run_id, config, project, tags, mode)
    except wandb.errors.Error as error:
        # A node without a network must not cost the run; offline, everything is kept and can be uploaded later.
        log.warning("W&B        cannot be reached (%s); this run is logged offline", str(error).splitlines()[0])
        # Its service holds the id of the run that could not be started, and would refuse it to the second.
        wandb.teardown()
        run = _init(folder, run_id, config, project, tags, "offline")
    run.define_metric(WORDS_SEEN)
    run.define_metric("*", step_metric=WORDS_SEEN)
    return WandbLogger(experiment=run)


def _init(folder: Path, run_id: str, config: dict[str, Plain], project: str, tags: list[str], mode: Any) -> "wandb.Run":
    return wandb.init(
        name=folder.name,
        dir=folder,
        id=run_id,
        resume="allow" if mode == "online" else None,
        project=project,
        mode=mode,
        tags=tags,
        config=config,
        settings=wandb.Settings(init_timeout=PATIENCE),
    )


def close(folder: Path) -> None:
    """End the W&B run, and say how to upload what was written offline."""
    wandb.finish()
    for segment in sorted((folder / "wandb").glob("offline-run-*")):
        log.info("W&B        offline; to upload: wandb sync %s", segment)
