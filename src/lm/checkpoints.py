"""Reading a checkpoint: a model as trained, and everything known about it. Nothing in the file can execute or take memory
beyond its size, and damage is found by the checksums that torch writes but does not check.
"""

import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..data.corpus import restore_tokenizer
from ..data.vocabulary import Tokenizer
from ..errors import UserError
from .model import Architecture, LanguageModel

# What the archive reader raises for a damaged file.
DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, ValueError, NotImplementedError, RuntimeError)


class CheckpointError(UserError):
    """A checkpoint that cannot be used, or cannot be written."""


def read_checkpoint(file: Path | str) -> dict[str, Any]:
    """Everything in one of our checkpoints."""
    file = Path(file)
    if not file.is_file():
        raise CheckpointError(f"{file}: no such checkpoint")
    _check_archive(file)
    try:
        # Mapped: of what nobody asks for, such as the optimiser, nothing is read into memory.
        saved = torch.load(file, map_location="cpu", weights_only=True, mmap=True)
    except Exception as error:  # torch raises many kinds of errors for a file that is not its own
        kind = type(error).__name__
        raise CheckpointError(f"{file}: cannot be read as a checkpoint ({kind}); it is damaged or another program's") from None
    if not isinstance(saved, dict) or "concord" not in saved:
        raise CheckpointError(f"{file}: this is not a Concord checkpoint")
    return saved


def _check_archive(file: Path) -> None:
    """Torch's files are archives with a checksum for every part; older formats, which declare their own memory needs, are not."""
    try:
        with zipfile.ZipFile(file) as archive:
            packed = any(part.compress_type != zipfile.ZIP_STORED for part in archive.infolist())
            damaged = None if packed else archive.testzip()
    except DAMAGED as error:
        kind = type(error).__name__
        raise CheckpointError(f"{file}: cannot be read as a checkpoint ({kind}); it is damaged or another program's") from None
    if packed:
        raise CheckpointError(f"{file}: cannot be read as a checkpoint (it is compressed); torch does not write such files")
    if damaged:
        raise CheckpointError(f"{file}: this checkpoint is damaged (checksum of {damaged}); use another, or an intact copy")


def load_model(file: Path | str, allow: Sequence[str] = ()) -> tuple[LanguageModel, Tokenizer, dict[str, Any]]:
    """The model with its weights, its words or pieces, and what else the checkpoint records.

    A network that is not ours is built only if the caller allows its package.
    """
    saved = read_checkpoint(file)
    about = saved["concord"]
    try:
        architecture = Architecture(**about["architecture"])
        weights = {name.removeprefix("model."): value for name, value in saved["state_dict"].items() if name.startswith("model.")}
        tokenizer = restore_tokenizer(about)
    except (KeyError, TypeError, AttributeError, ValueError, RuntimeError) as error:
        raise CheckpointError(f"{file}: this checkpoint does not say what it holds ({error!r}); it is not Concord's") from None
    _check_weights(file, architecture, weights, allow)
    if architecture.vocabulary_size != len(tokenizer):
        raise CheckpointError(
            f"{file}: weights for {architecture.vocabulary_size:,} words, but a vocabulary of {len(tokenizer):,}"
        )
    model = LanguageModel(architecture, allow)
    model.load_state_dict(weights)
    return model.eval(), tokenizer, about


def _check_weights(file: Path | str, architecture: Architecture, weights: Mapping[str, Tensor], allow: Sequence[str]) -> None:
    """Before anything of the claimed size is built: check that the file holds weights of that size, and finite numbers."""
    numbers = sum(value.numel() for value in weights.values())
    for name, claimed in _sizes(architecture.plain()):
        if not 0 <= claimed <= (len(weights) if name == "layers" else numbers):
            raise CheckpointError(
                f"{file}: it claims {name} {claimed:,}, but holds {len(weights):,} tensors of {numbers:,} numbers"
            )
    try:
        with torch.device("meta"):
            expected = {name: tuple(value.shape) for name, value in LanguageModel(architecture, allow).state_dict().items()}
    except (TypeError, ValueError, RuntimeError, AssertionError, ArithmeticError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise CheckpointError(f"{file}: no model can be built from this checkpoint's description ({reason})") from None
    found = {name: tuple(value.shape) for name, value in weights.items()}
    if wrong := sorted(name for name in {*expected, *found} if expected.get(name) != found.get(name)):
        what = f"{wrong[0]} is {found.get(wrong[0], 'missing')}, should be {expected.get(wrong[0], 'absent')}"
        raise CheckpointError(f"{file}: the weights do not match the model it describes: {what}")
    for name, value in weights.items():
        if value.untyped_storage().nbytes() < value.numel() * value.element_size():
            raise CheckpointError(f"{file}: {name} is larger than its data in the file")
        if not bool(torch.isfinite(value).all()):
            raise CheckpointError(f"{file}: {name} holds numbers that are not finite; use a checkpoint from before that")


def _sizes(plain: Mapping[str, object]) -> Iterator[tuple[str, int]]:
    """Every whole number in a model's description."""
    for name, value in plain.items():
        if isinstance(value, Mapping):
            yield from _sizes(value)
        elif isinstance(value, int) and not isinstance(value, bool):
            yield name, value


def check_resumable(file: Path, model: LanguageModel, tokenizer: Tokenizer) -> None:
    """Check before any work that training can resume from this file with this model."""
    about = read_checkpoint(file)["concord"]
    wanted, found = model.architecture.plain(), about["architecture"]
    differing = [f"{key} {found.get(key)} there, {wanted[key]} here" for key in wanted if found.get(key) != wanted[key]]
    if differing:
        what = "; ".join(differing)
        raise CheckpointError(f"{file}: a checkpoint with a different shape: {what}. Use the settings it was trained with")
    if restore_tokenizer(about).digest() != tokenizer.digest():
        raise CheckpointError(f"{file}: its vocabulary does not match this corpus; use the data it was trained with")
