"""Whether the contents of a run folder are this run, and where it resumes."""

import logging
import os
from dataclasses import replace
from pathlib import Path

from ..data.corpora import CorpusRecipe
from ..data.download import downloads_for
from ..errors import UserError
from ..settings.reading import Plain
from ..settings.recipe import keep_begun
from ..settings.run import RunSettings, read_run_settings
from .run_folder import DamagedRun, RunFolder
from .stopping import is_first

log = logging.getLogger(__name__)
RESTARTS = "SLURM_RESTART_COUNT"  # SLURM's; above 0 in a job that was requeued


def corpus_recipe(settings: RunSettings) -> CorpusRecipe:
    """The corpus of a run."""
    return CorpusRecipe(settings.data, settings.languages, settings.tokenizer, downloads_for(settings.paths))


def resume_requeued(settings: RunSettings, folder: RunFolder) -> RunSettings:
    """A job that SLURM starts again goes on where it was stopped, even if its command says to begin afresh."""
    if not int(os.environ.get(RESTARTS) or 0) or not folder.last.exists():
        return settings
    again: dict[str, Plain] = {"overwrite": False, "ckpt_path": "auto"}
    return replace(settings, overwrite=False, ckpt_path="auto", plain={**settings.plain, **again})


def take_over(settings: RunSettings, folder: RunFolder) -> RunSettings:
    """An existing run keeps what `auto` stood for when it began, whatever it stands for now."""
    if settings.overwrite or settings.begins_elsewhere or not folder.exists():
        return settings
    # `ckpt_path=auto` concerns only this start.
    kept = keep_begun(settings.plain, _settings_there(folder).plain) | {"ckpt_path": settings.ckpt_path}
    return settings if kept == settings.plain else replace(read_run_settings(kept), allow=settings.allow)


def must_match(there: RunSettings, here: RunSettings, where: str, growing: bool) -> None:
    """A run must resume with the settings it started with; only its length may change, until it is finished."""
    theirs, ours = there.result_settings(), here.result_settings()
    names = [name for name in {**theirs, **ours} if theirs.get(name) != ours.get(name)]
    if names and not (growing and names == ["trainer.max_epochs"]):
        shown = "; ".join(f"{name} {theirs.get(name)} there, {ours.get(name)} here" for name in names[:5])
        raise UserError(
            f"{where}: made with different settings: {shown}. Use the same settings, another name=, or overwrite=true"
        )


def must_be_same_run(folder: RunFolder, settings: RunSettings) -> None:
    """The folder must hold a run with these settings on this text; the text may have changed while the settings have not."""
    must_match(_settings_there(folder), settings, str(folder.path), growing=not folder.finished())
    recipe = corpus_recipe(settings)
    if folder.corpus_name() in ("", recipe.name()):
        return
    # The name tells files apart by place, size and time; after a copy or a move only their content can tell.
    content = folder.corpus_content()
    if not content or content != recipe.prepare(settings.paths.corpora).content():
        raise UserError(
            f"{folder.path}: its corpus has changed since (a text or grammar file); use another name=, or overwrite=true"
        )


def _settings_there(folder: RunFolder) -> RunSettings:
    try:
        return read_run_settings(folder.settings())
    except DamagedRun:
        raise
    except UserError as error:
        raise UserError(f"{folder.path}/config.yaml: {error}; use another name=, or overwrite=true") from None


def is_finished(settings: RunSettings, folder: RunFolder) -> bool:
    """Whether this very run has been done before. A folder with another run, or a stopped one, is refused."""
    if not folder.exists() or settings.overwrite:
        return False
    must_be_same_run(folder, settings)
    if not folder.finished() and is_first() and settings.ckpt_path != "auto":
        folder.must_be_free()
    return folder.finished()


def checkpoint_to_resume(settings: RunSettings, folder: RunFolder) -> Path | None:
    """Where to resume from; `auto` is the run's own last checkpoint, if it has one."""
    asked = settings.ckpt_path
    if asked and settings.overwrite and (asked == "auto" or folder.path.resolve() in Path(asked).resolve().parents):
        raise UserError(f"ckpt_path={asked} overwrite=true: one resumes the run, the other removes it; choose one")
    if asked in (None, "auto"):
        if asked == "auto" and not folder.last.exists():
            log.info("ckpt_path=auto: %s has no checkpoint; training begins at the first step", folder.path)
        return folder.last if asked == "auto" and folder.last.exists() else None
    return Path(asked)
