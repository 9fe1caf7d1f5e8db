"""The files of a pretrained model: a local folder, the hub, or what the hub's cache has kept."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from huggingface_hub import HfApi, constants, errors, is_offline_mode, snapshot_download

from .pretrained_error import PretrainedError

CONFIG = "config.json"
SAFE = re.compile(r"model(-\d+-of-\d+)?\.safetensors")
PICKLED = re.compile(r"pytorch_model(-\d+-of-\d+)?\.bin")
SAFE_INDEX, PICKLED_INDEX = "model.safetensors.index.json", "pytorch_model.bin.index.json"
# One of these holds the pieces; without any, transformers would make up a tokenizer that knows nothing.
PIECES = re.compile(r"tokenizer\.json|vocab\.(txt|json)|tekken\.json|.*\.(model|spm)|.*\.tiktoken")
# Settings of a configuration that choose what computes; these values are transformers' own.
KERNELS = ("attn_implementation", "experts_implementation", "use_kernel", "kernel")
FAMILIAR = (None, False, "eager", "sdpa")
ASIDE = re.compile(r"[^/]*\.(json|txt|model|spm|tiktoken|jinja)")


class ModelFiles(Protocol):
    """Where files come from. `sizes` has every file at the top, in bytes, before any weight is fetched."""

    name: str
    sizes: dict[str, int]

    def fetch(self, files: Sequence[str]) -> Path: ...


class Folder:
    """A folder on this machine."""

    def __init__(self, name: str, folder: Path, where: str = "") -> None:
        self.name = name
        self.folder = folder
        self.where = where or f"the folder {folder}"
        self.sizes = {file.name: file.stat().st_size for file in sorted(folder.iterdir()) if file.is_file()}

    def fetch(self, files: Sequence[str]) -> Path:
        for file in files:
            if file not in self.sizes:
                raise PretrainedError(self.name, f"{self.where} has no {file}")
        return self.folder


class Hub:
    """A model on the hub."""

    def __init__(self, name: str, revision: str | None) -> None:
        info = HfApi().model_info(name, revision=revision, files_metadata=True)
        self.name = name
        # Not the commit: the cache has to remember what a branch meant, to find it without a connection.
        self.revision = revision or "main"
        self.sizes = {file.rfilename: file.size or 0 for file in info.siblings or [] if "/" not in file.rfilename}

    def fetch(self, files: Sequence[str]) -> Path:
        try:
            return Path(snapshot_download(self.name, revision=self.revision, allow_patterns=list(files)))
        except Exception as error:
            message = f"the download broke off ({type(error).__name__}: {error}); the same command resumes it"
            raise PretrainedError(self.name, message) from error


def find(name: str, revision: str | None = None) -> ModelFiles:
    """The model's files, wherever they are."""
    if Path(name).expanduser().is_dir():
        return Folder(name, Path(name).expanduser())
    if name.startswith(("/", ".", "~")) or name.count("/") > 1:
        raise PretrainedError(name, "there is no such folder")
    if is_offline_mode():
        return kept(name, revision, "HF_HUB_OFFLINE is set and ")
    try:
        return Hub(name, revision)
    except errors.GatedRepoError:
        raise PretrainedError(name, "its authors ask for a login; accept their terms on the hub, then `hf auth login`") from None
    except errors.RepositoryNotFoundError:
        message = "there is no such model on the hub, and no such folder here (private models need `hf auth login`)"
        raise PretrainedError(name, message) from None
    except errors.RevisionNotFoundError:
        raise PretrainedError(name, f"it has no revision {revision}; leave model.revision out for its newest") from None
    except errors.HFValidationError:
        raise PretrainedError(name, "not a name the hub could have; write owner/model or a folder") from None
    except Exception as error:  # no connection: whichever client the hub's package uses has errors of its own
        return kept(name, revision, f"the hub cannot be reached ({type(error).__name__}) and ")


def kept(name: str, revision: str | None, why: str) -> Folder:
    """What an earlier download has left in the hub's cache."""
    where = f"{why}the hub's cache ({constants.HF_HUB_CACHE})"
    try:
        folder = snapshot_download(name, revision=revision, local_files_only=True, allow_patterns=[CONFIG])
    except (errors.LocalEntryNotFoundError, errors.HFValidationError):
        remedy = f"with a connection, `hf download {name}` puts it there; or give a folder"
        raise PretrainedError(name, f"{where} has no {CONFIG} of it; {remedy}") from None
    return Folder(name, Path(folder), where)


def configuration(source: ModelFiles) -> dict[str, object]:
    """What the model says of itself, as plain values."""
    file = source.fetch([CONFIG]) / CONFIG
    if not file.is_file():
        raise PretrainedError(source.name, f"there is no {CONFIG} in it, so it is not a model of transformers")
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise PretrainedError(source.name, f"{file}: not JSON ({error})") from None
    except RecursionError:
        raise PretrainedError(source.name, f"{file}: not a configuration (nested too deeply)") from None
    if not isinstance(config, dict):
        raise PretrainedError(source.name, f"{file}: not an object")
    _refuse_foreign_kernels(source.name, config)
    return config


def _refuse_foreign_kernels(name: str, config: Mapping[str, object]) -> None:
    """A configuration may name code of the hub that computes attention, which transformers would fetch and run."""
    for key, value in config.items():
        if key.lstrip("_").startswith(KERNELS) and value not in FAMILIAR:
            message = f"its {CONFIG} asks for {key}={value!r}, code from elsewhere, which is never run"
            raise PretrainedError(name, f"{message}; remove {key} from a copy of the model")
        if isinstance(value, dict):
            _refuse_foreign_kernels(name, value)


def weight_files(source: ModelFiles, safetensors: bool) -> list[str]:
    """The files with the weights: safetensors, in which nothing can run, unless one insists on what there is."""
    safe = sorted(file for file in source.sizes if SAFE.fullmatch(file))
    if safe:
        return safe
    pickled = sorted(file for file in source.sizes if PICKLED.fullmatch(file))
    if not pickled:
        where = getattr(source, "where", "it")
        raise PretrainedError(source.name, f"{where} has no model.safetensors")
    if safetensors:
        message = f"its weights are pickled ({pickled[0]}), and such files can run code"
        raise PretrainedError(source.name, f"{message}; model.safetensors=false reads them all the same")
    return pickled


def fetch(source: ModelFiles, weights: Sequence[str]) -> Path:
    """A folder with configuration, tokenizer and weights. Shards that are missing are named."""
    if not any(PIECES.fullmatch(file) for file in source.sizes):
        remedy = "copy tokenizer.json from the model it was made from"
        raise PretrainedError(source.name, f"there is no tokenizer with it (tokenizer.json, vocab.txt, …); {remedy}")
    aside = [file for file in source.sizes if ASIDE.fullmatch(file)]
    folder = source.fetch([*aside, *weights])
    index = folder / (SAFE_INDEX if SAFE.fullmatch(weights[0]) else PICKLED_INDEX)
    if index.is_file():
        for shard in sorted(_shards(source.name, index) - set(weights)):
            raise PretrainedError(source.name, f"{index.name} names {shard}, which is not there; download it again")
    return folder


def _shards(name: str, index: Path) -> set[str]:
    """The files that an index of weights names."""
    try:
        return {str(shard) for shard in json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise PretrainedError(name, f"{index.name} is damaged (it has no weight_map); download it again") from None


def digest(folder: Path) -> str:
    """A name for exactly these weights, this configuration and this tokenizer."""
    found = hashlib.blake2b(digest_size=12)
    for file in sorted(folder.iterdir()):
        if file.is_file() and any(rule.fullmatch(file.name) for rule in (SAFE, PICKLED, ASIDE)):
            found.update(f"{file.name}\n".encode())
            with file.open("rb") as stream:
                found.update(hashlib.file_digest(stream, "blake2b").digest())
    return found.hexdigest()
