"""The files of a pretrained model: a local folder, the hub, or the hub's cache."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from huggingface_hub import HfApi, constants, errors, is_offline_mode, snapshot_download, try_to_load_from_cache

from ....files import checksum
from .pretrained_error import PretrainedError

CONFIG, TOKENIZER_CONFIG = "config.json", "tokenizer_config.json"
SAFE = re.compile(r"model(-\d+-of-\d+)?\.safetensors")
PICKLED = re.compile(r"pytorch_model(-\d+-of-\d+)?\.bin")
SAFE_INDEX, PICKLED_INDEX = "model.safetensors.index.json", "pytorch_model.bin.index.json"
# One of these holds the pieces; without any, transformers would invent a tokenizer that knows nothing.
PIECES = re.compile(r"tokenizer\.json|vocab\.(txt|json)|tekken\.json|.*\.(model|spm)|.*\.tiktoken")
# Configuration settings that select implementations; these values are transformers' own.
KERNELS = ("attn_implementation", "experts_implementation", "use_kernel", "kernel")
FAMILIAR = (None, False, "eager", "sdpa")
ASIDE = re.compile(r"[^/]*\.(json|txt|model|spm|tiktoken|jinja)")
CODE = re.compile(r"[^/]*\.py")
# What a tokenizer records besides its pieces.
TOKENIZER = re.compile(r"(tokenizer_config|special_tokens_map|added_tokens)\.json|merges\.txt")


class ModelFiles(Protocol):
    """Where files come from. `sizes` lists every top-level file, in bytes, before any weights are fetched.

    `commit` may be empty; `content` identifies a file's content, equal for equal files.
    """

    name: str
    sizes: dict[str, int]
    commit: str

    def fetch(self, files: Sequence[str], apart: Path | None = None) -> Path: ...

    def content(self, file: str) -> str: ...


class Folder:
    """A folder on this machine."""

    def __init__(self, name: str, folder: Path, where: str = "") -> None:
        self.name = name
        self.folder = folder
        self.where = where or f"the folder {folder}"
        self.commit = folder.name if folder.parent.name == "snapshots" else ""  # as the hub's cache has them
        self.sizes = {file.name: file.stat().st_size for file in sorted(folder.iterdir()) if file.is_file()}

    def fetch(self, files: Sequence[str], apart: Path | None = None) -> Path:
        for file in files:
            if file not in self.sizes:
                raise PretrainedError(self.name, f"{self.where} has no {file}")
        return self.folder

    def content(self, file: str) -> str:
        """The hub's cache stores files under the hash that the hub lists, and links to them."""
        place = self.folder / file
        return place.resolve().name if place.is_symlink() else checksum(place)


class Hub:
    """A model on the hub."""

    def __init__(self, name: str, revision: str | None) -> None:
        info = HfApi().model_info(name, revision=revision, files_metadata=True)
        self.name = name
        # Not the commit: the cache must remember what a branch meant, to find it without a connection.
        self.revision = revision or "main"
        self.commit = info.sha or ""
        listed = [file for file in info.siblings or [] if "/" not in file.rfilename]
        self.sizes = {file.rfilename: file.size or 0 for file in listed}
        self.hashes = {file.rfilename: (file.lfs.sha256 if file.lfs else file.blob_id) or "" for file in listed}

    def content(self, file: str) -> str:
        return self.hashes[file]

    def fetch(self, files: Sequence[str], apart: Path | None = None) -> Path:
        """Fetch into the hub's cache; or `apart`, unless the cache already has them."""
        place = None if apart is None or self.keeps(files) else apart
        try:
            return Path(snapshot_download(self.name, revision=self.revision, allow_patterns=list(files), local_dir=place))
        except Exception as error:
            message = f"the download broke off ({type(error).__name__}: {error}); run the same command to resume"
            raise PretrainedError(self.name, message) from error

    def keeps(self, files: Sequence[str]) -> bool:
        """Whether the hub's cache has these files."""
        there = (try_to_load_from_cache(self.name, file, revision=self.commit) for file in files if file in self.sizes)
        return all(isinstance(place, str) for place in there)


def find(name: str, revision: str | None = None) -> ModelFiles:
    """The model's files, wherever they are."""
    if Path(name).expanduser().is_dir():
        return Folder(name, Path(name).expanduser())
    if name.startswith(("/", ".", "~")) or name.count("/") > 1:
        raise PretrainedError(name, "no such folder")
    if is_offline_mode():
        return kept(name, revision, "HF_HUB_OFFLINE is set and ")
    try:
        return Hub(name, revision)
    except errors.GatedRepoError:
        raise PretrainedError(
            name, "its authors require a login; accept their terms on the hub, then run `hf auth login`"
        ) from None
    except errors.RepositoryNotFoundError:
        message = "no such model on the hub, and no such folder here (private models need `hf auth login`)"
        raise PretrainedError(name, message) from None
    except errors.RevisionNotFoundError:
        raise PretrainedError(name, f"it has no revision {revision}; leave model.revision out for the newest") from None
    except errors.HFValidationError:
        raise PretrainedError(name, "not a valid hub name; write owner/model or a folder") from None
    except Exception as error:  # no connection: the hub package's clients have their own errors
        return kept(name, revision, f"the hub cannot be reached ({type(error).__name__}) and ")


def kept(name: str, revision: str | None, why: str) -> Folder:
    """What an earlier download left in the hub's cache."""
    where = f"{why}the hub's cache ({constants.HF_HUB_CACHE})"
    try:
        folder = snapshot_download(name, revision=revision, local_files_only=True, allow_patterns=[CONFIG])
    except (errors.LocalEntryNotFoundError, errors.HFValidationError):
        remedy = f"with a connection, `hf download {name}` puts it there; or give a folder"
        raise PretrainedError(name, f"{where} has no {CONFIG} of it; {remedy}") from None
    return Folder(name, Path(folder), where)


def configuration(source: ModelFiles, name: str = CONFIG) -> dict[str, object]:
    """What the model says about itself, as plain values."""
    file = source.fetch([name]) / name
    if not file.is_file():
        raise PretrainedError(source.name, f"it has no {name}, so it is not a transformers model")
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
    """A configuration may name attention code on the hub, which transformers would fetch and run."""
    for key, value in config.items():
        if key.lstrip("_").startswith(KERNELS) and value not in FAMILIAR:
            message = f"its {CONFIG} requests {key}={value!r}, third-party code, which is never run"
            raise PretrainedError(name, f"{message}; remove {key} from a copy of the model")
        if isinstance(value, dict):
            _refuse_foreign_kernels(name, value)


def weight_files(source: ModelFiles, safetensors: bool) -> list[str]:
    """The weight files: safetensors, which cannot execute anything, unless told to accept whatever there is."""
    safe = sorted(file for file in source.sizes if SAFE.fullmatch(file))
    if safe:
        return safe
    pickled = sorted(file for file in source.sizes if PICKLED.fullmatch(file))
    if not pickled:
        where = getattr(source, "where", "it")
        raise PretrainedError(source.name, f"{where} has no model.safetensors")
    if safetensors:
        message = f"its weights are pickled ({pickled[0]}), and such files can run code"
        raise PretrainedError(source.name, f"{message}; model.safetensors=false reads them anyway")
    return pickled


def weights_hash(source: ModelFiles, weights: Sequence[str]) -> str:
    """Equal for equal weights, known before they are fetched; empty if the hub does not tell."""
    contents = [source.content(file) for file in weights]
    return hashlib.blake2b(" ".join(contents).encode(), digest_size=12).hexdigest() if all(contents) else ""


def model_hash(source: ModelFiles, weights: Sequence[str]) -> str:
    """Equal for equal weights, configuration and tokenizer, and so for equal scores."""
    beside = [file for file in source.sizes if file == CONFIG or PIECES.fullmatch(file) or TOKENIZER.fullmatch(file)]
    files = sorted({*weights, *beside})
    contents = [source.content(file) for file in files]
    told = " ".join(f"{file}={content}" for file, content in zip(files, contents, strict=True))
    return hashlib.blake2b(told.encode(), digest_size=12).hexdigest() if all(contents) else ""


def fetch(source: ModelFiles, weights: Sequence[str], code: bool = False, apart: Path | None = None) -> Path:
    """A folder with configuration, tokenizer, weights and its `code`. Missing shards are named."""
    if not any(PIECES.fullmatch(file) for file in source.sizes):
        remedy = "copy tokenizer.json from the model it is derived from"
        raise PretrainedError(source.name, f"it has no tokenizer (tokenizer.json, vocab.txt, …); {remedy}")
    aside = [file for file in source.sizes if ASIDE.fullmatch(file) or (code and CODE.fullmatch(file))]
    folder = source.fetch([*aside, *weights], apart)
    index = folder / (SAFE_INDEX if SAFE.fullmatch(weights[0]) else PICKLED_INDEX)
    if index.is_file():
        for shard in sorted(_shards(source.name, index) - set(weights)):
            raise PretrainedError(source.name, f"{index.name} names {shard}, which is missing; download it again")
    return folder


def _shards(name: str, index: Path) -> set[str]:
    """The files named by a weight index."""
    try:
        return {str(shard) for shard in json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise PretrainedError(name, f"{index.name} is damaged (it has no weight_map); download it again") from None


def digest(folder: Path, code: bool = False) -> str:
    """A name for exactly these weights, configuration and tokenizer; and for its `code`, if that is run."""
    found = hashlib.blake2b(digest_size=12)
    rules = (SAFE, PICKLED, ASIDE, *([CODE] if code else []))
    for file in sorted(folder.iterdir()):
        if file.is_file() and any(rule.fullmatch(file.name) for rule in rules):
            found.update(f"{file.name}\n".encode())
            with file.open("rb") as stream:
                found.update(hashlib.file_digest(stream, "blake2b").digest())
    return found.hexdigest()
