"""Reading a checkpoint: a model as it was trained, and all that is known of it."""

from pathlib import Path
from typing import Any

import torch

from ..data.tokenizer import Tokenizer, restore_tokenizer
from ..errors import UserError
from .model import Architecture, LanguageModel


class CheckpointError(UserError):
    """A checkpoint that cannot be used, or cannot be written."""


def read_checkpoint(file: Path | str) -> dict[str, Any]:
    """Everything in a checkpoint of ours. Nothing in the file can run."""
    file = Path(file)
    if not file.is_file():
        raise CheckpointError(f"{file}: there is no such checkpoint")
    try:
        saved = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many kinds for a file that is not one of its own
        kind = type(error).__name__
        raise CheckpointError(f"{file}: cannot be read as a checkpoint ({kind}); it is damaged or another program's") from None
    if not isinstance(saved, dict) or "concord" not in saved:
        raise CheckpointError(f"{file}: this is not a checkpoint of train.py")
    return saved


def load_model(file: Path | str) -> tuple[LanguageModel, Tokenizer, dict[str, Any]]:
    """The model with its weights, its words or pieces of words, and what else the checkpoint says of it."""
    saved = read_checkpoint(file)
    about = saved["concord"]
    model = LanguageModel(Architecture(**about["architecture"]))
    weights = {name.removeprefix("model."): value for name, value in saved["state_dict"].items() if name.startswith("model.")}
    model.load_state_dict(weights)
    return model.eval(), restore_tokenizer(about), about


def check_resumable(file: Path, model: LanguageModel, tokenizer: Tokenizer) -> None:
    """Before any work: whether training can go on from this file with this model."""
    about = read_checkpoint(file)["concord"]
    wanted, found = model.architecture.plain(), about["architecture"]
    differing = [f"{key} {found.get(key)} there, {wanted[key]} here" for key in wanted if found.get(key) != wanted[key]]
    if differing:
        what = "; ".join(differing)
        raise CheckpointError(f"{file}: a checkpoint of another shape: {what}. Use the settings it was trained with")
    if restore_tokenizer(about).digest() != tokenizer.digest():
        raise CheckpointError(f"{file}: its vocabulary is not that of this corpus; use the data it was trained with")
