"""Revisions of a model on the hub, or checkpoints in folders: what exists, known before any weights are fetched."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import HfApi, constants, errors, is_offline_mode
from huggingface_hub.file_download import repo_folder_name
from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

from .model_files import CONFIG, Hub, ModelFiles, fetch, find, model_hash, weight_files, weights_hash
from .pretrained_error import PretrainedError


@dataclass(frozen=True)
class RevisionFiles:
    """The files of one revision; `weights` and `model` are hashes, equal for equal content."""

    source: ModelFiles
    files: tuple[str, ...]  # with the weights
    weights: str
    model: str

    @property
    def size(self) -> int:
        """Size of the weights, in bytes."""
        return sum(self.source.sizes[file] for file in self.files)

    @property
    def commit(self) -> str:
        return self.source.commit

    @property
    def are_here(self) -> bool:
        """In a folder, or in the hub's cache."""
        return not isinstance(self.source, Hub) or self.source.keeps(self.files)

    def fetch(self, code: bool, apart: Path | None) -> Path:
        """The folder that has them, after a download if needed: `apart`, or to the hub's cache."""
        return fetch(self.source, self.files, code, apart)


@contextmanager
def quiet_downloads() -> Iterator[None]:
    """Without the hub package's bars: several downloads would draw over our output."""
    shown = not are_progress_bars_disabled()
    disable_progress_bars()
    try:
        yield
    finally:
        if shown:
            enable_progress_bars()


def list_revisions(name: str) -> list[str]:
    """Branches and tags of a model on the hub; in a folder, its checkpoints; offline, what the hub's cache knows."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        return sorted(each.name for each in folder.iterdir() if (each / CONFIG).is_file())
    if is_offline_mode():
        return _kept_revisions(name, "HF_HUB_OFFLINE is set")
    try:
        refs = HfApi().list_repo_refs(name)
    except errors.RepositoryNotFoundError:
        raise PretrainedError(name, "no such model on the hub, and no such folder here") from None
    except errors.HFValidationError:
        raise PretrainedError(name, "not a valid hub name; write owner/model or a folder") from None
    except Exception as error:  # no connection: the hub package's clients have their own errors
        return _kept_revisions(name, f"the hub cannot be reached ({type(error).__name__})")
    return list(dict.fromkeys(ref.name for ref in (*refs.branches, *refs.tags)))


def _kept_revisions(name: str, why: str) -> list[str]:
    """The names under which earlier downloads kept revisions."""
    refs = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=name, repo_type="model") / "refs"
    found = sorted(str(file.relative_to(refs)) for file in refs.rglob("*") if file.is_file())
    if not found:
        remedy = "with a connection, model.keep=all stores revisions there"
        raise PretrainedError(name, f"{why} and the hub's cache ({constants.HF_HUB_CACHE}) has no revision of it; {remedy}")
    return found


def describe_revision(name: str, revision: str | None, safetensors: bool) -> RevisionFiles:
    """One revision, or a folder."""
    source = find(name, revision)
    files = weight_files(source, safetensors)
    return RevisionFiles(source, tuple(files), weights_hash(source, files), model_hash(source, files))
