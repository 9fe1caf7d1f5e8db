"""A run's folder: everything about it in one place, under a telling name."""

import hashlib
import json
import math
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import yaml

from ..errors import UserError
from ..files import FileInUse, JsonObject, is_locked, lock, write_atomically
from ..settings.reading import Plain
from .stopping import Interrupted

PACKAGES = (
    "torch",
    "pytorch-lightning",
    "hydra-core",
    "omegaconf",
    "numpy",
    "wandb",
    "sentencex",
    "sentencepiece",
    "sacremoses",
    "datasets",
)
# What a run folder contains: what we write, what the loggers write, and what a kill may leave of either.
OWN_FOLDERS = ("probes", "checkpoints", "tensorboard", "wandb", "lightning_logs")
OWN_FILES = ("config.yaml", "provenance.json", "metrics.csv", "train.log", "DONE", "report.html")
LEFT_BY_BROWSERS = (".DS_Store", "Thumbs.db", "desktop.ini")  # of whoever looked into the folder
PROFILE = re.compile(r"(fit|test|validate)-profile(-\d+)?\.txt")
HALF_WRITTEN = re.compile(r"\..+\.\d+\.new")
CONTENT = "content"  # of the corpus, in provenance.json


class RunExists(UserError):
    """The folder holds a run that is neither finished nor asked to resume."""


class DamagedRun(UserError):
    """A file in the folder is not what a run writes."""


@dataclass(frozen=True)
class RunFolder:
    """`config.yaml provenance.json metrics.csv probes/ checkpoints/ train.log`; `DONE report.html` when the run is finished."""

    path: Path

    @property
    def metrics(self) -> Path:
        return self.path / "metrics.csv"

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    @property
    def log(self) -> Path:
        return self.path / "train.log"

    @property
    def last(self) -> Path:
        return self.checkpoints / "last.ckpt"

    @property
    def _lock(self) -> Path:
        return self.path.parent / f".{self.path.name}.lock"

    @property
    def best(self) -> Path:
        return self.checkpoints / "best.ckpt"

    @property
    def probes(self) -> Path:
        return self.path / "probes"

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    def exists(self) -> bool:
        return (self.path / "config.yaml").exists()

    def finished(self) -> bool:
        return (self.path / "DONE").exists()

    def begin_again(self) -> None:
        """It is no longer finished."""
        (self.path / "DONE").unlink(missing_ok=True)

    def result(self) -> JsonObject:
        """What `finish` wrote."""
        return _read_names(self.path / "DONE", json.loads)

    def must_be_free(self) -> None:
        """A stopped run is not overwritten by mistake."""
        if self.exists():
            raise RunExists(
                f"{self.path}: this run was started before and is not finished. "
                "Resume it with ckpt_path=auto, or start afresh with overwrite=true"
            )

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Only one process at a time trains a run; the lock disappears with the process, however it ends."""
        with ExitStack() as held:
            try:
                # Not at once: someone may just be checking whether it is held.
                held.enter_context(lock(self._lock, patience=0.5))
            except FileInUse:
                raise RunExists(f"{self.path}: another process is training this run; wait, or use another name=") from None
            yield

    def in_use(self) -> bool:
        """Whether some process is training this run now."""
        return is_locked(self._lock)

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Record how this start of the run ended, unless training ran to its end."""
        try:
            yield
        except BaseException as error:
            stopped = isinstance(error, Interrupted | KeyboardInterrupt)
            if isinstance(error, Interrupted):
                error.standing = error.standing or self.standing()
            if self.finished():
                raise
            text = str(error) or type(error).__name__
            # On a full disk, or if the file was damaged meanwhile, the error itself must get through.
            with suppress(OSError, UserError, LookupError, TypeError):
                known = self.provenance()
                known["starts"][-1]["ended"] = {"state": "stopped" if stopped else "failed", "why": text.splitlines()[0]}
                write_atomically(self.path / "provenance.json", json.dumps(known, indent=1, ensure_ascii=False))
            raise

    def standing(self) -> str:
        """What there is of the run, and how to resume it."""
        if self.finished():
            return "the run is finished; run the same command to show its result and write its page"
        if self.last.exists():
            return "the last checkpoint is kept; resume with ckpt_path=auto"
        return "before the first checkpoint; start again with overwrite=true"

    def provenance(self) -> JsonObject:
        """What is known about the run's starts and its corpus; empty before the first."""
        file = self.path / "provenance.json"
        return _read_names(file, json.loads) if file.exists() else {}

    def settings(self) -> dict[str, Plain]:
        """The settings the run was started with."""
        return _read_names(self.path / "config.yaml", lambda text: yaml.safe_load(text) or {})

    def corpus_name(self) -> str:
        """The name of the corpus the run was trained on; empty if unknown."""
        return self._of_corpus("name")

    def corpus_content(self) -> str:
        """What is in that corpus, see `Corpus.content`; empty if unknown."""
        return self._of_corpus(CONTENT)

    def _of_corpus(self, fact: str) -> str:
        corpus = self.provenance().get("corpus")
        return str(corpus.get(fact, "")) if isinstance(corpus, dict) else ""

    def starts(self) -> list[JsonObject]:
        """Every start of the run, in order; invalid entries are skipped."""
        starts = self.provenance().get("starts")
        return [start for start in starts if isinstance(start, dict)] if isinstance(starts, list) else []

    def enter(
        self, config: str, corpus: Mapping[str, object], threads: int | None = None, recipe: Mapping[str, object] | None = None
    ) -> JsonObject:
        """Create the folder, or enter it again; return the provenance, with this start added.

        The number of threads is recorded: sums over a batch are split among them, so the last bits of a Transformer's weights
        depend on it.
        """
        self.checkpoints.mkdir(parents=True, exist_ok=True)
        for leftover in self.checkpoints.glob("*.new"):
            leftover.unlink()
        write_atomically(self.path / "config.yaml", config)
        known = self.provenance()
        # W&B identifies a run by this; it stays the same however often the run resumes, and differs after overwrite.
        known.setdefault("wandb_id", _wandb_id(self.path.name))
        known["corpus"] = corpus
        known |= {"recipe": recipe} if recipe else {}
        known["starts"] = [*self.starts(), provenance() | ({"threads": threads} if threads else {})]
        write_atomically(self.path / "provenance.json", json.dumps(known, indent=1, ensure_ascii=False))
        return known

    def clear(self) -> None:
        """Remove a run's own files; a folder that holds anything else is left alone."""
        inside = sorted(self.path.iterdir()) if self.path.is_dir() else []
        if inside and not self.exists():
            raise RunExists(f"{self.path}: overwrite=true removes only runs, and this folder is not one (it has no config.yaml)")
        if foreign := [part.name for part in inside if not _is_own(part)]:
            raise RunExists(
                f"{self.path}: overwrite=true removes only a run's own files, but this folder also holds {', '.join(foreign[:3])}"
                f"{' …' if len(foreign) > 3 else ''}; move that elsewhere, or use another name="
            )
        # config.yaml last: if something cannot be removed, the rest is still recognisable as a run.
        for part in sorted(inside, key=lambda part: part.name == "config.yaml"):
            shutil.rmtree(part) if part.is_dir() and not part.is_symlink() else part.unlink()

    def finish(self, result: Mapping[str, float]) -> None:
        """Non-finite numbers become null: JSON has no name for them, and other programs could not read the file."""
        wrong = {name: None for name, value in result.items() if isinstance(value, float) and not math.isfinite(value)}
        write_atomically(self.path / "DONE", json.dumps({**result, **wrong}, indent=1, allow_nan=False))


def _read_names(file: Path, parse: Callable[[str], object]) -> JsonObject:
    """Names and values from a file in a run folder, which a crash or an editor may have damaged."""
    remedy = "restore it, use another name=, or start afresh with overwrite=true"
    try:
        found = parse(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        why = " ".join(str(error).split())[:120]
        raise DamagedRun(f"{file}: this run file is damaged ({why}); {remedy}") from None
    if not isinstance(found, dict):
        raise DamagedRun(f"{file}: this run file is damaged (it has no names with values); {remedy}")
    return found


def _is_own(part: Path) -> bool:
    """Whether a run puts a file or folder of this name into its folder."""
    if part.name in OWN_FOLDERS:
        return part.is_dir()
    named = part.name in (*OWN_FILES, *LEFT_BY_BROWSERS) or any(
        pattern.fullmatch(part.name) for pattern in (HALF_WRITTEN, PROFILE)
    )
    return named and not part.is_dir()


def provenance() -> dict[str, object]:
    """What one would need to know to repeat it."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return {
        "time": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "command": typed_command(),
        "git": git_revision(Path(__file__)),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "versions": versions,
    }


def typed_command() -> list[str]:
    """What was typed: `concord train …` runs a module of ours in the part of a script."""
    program = Path(sys.argv[0])
    ours = program.parent == Path(__file__).parents[1] / "commands"
    return [*(["concord", program.stem] if ours else [program.name]), *sys.argv[1:]]


def git_revision(file: Path) -> dict[str, object]:
    """The revision of the checkout that has this file, and whether it had local changes.

    Empty for a file that git does not track: a package installed within somebody's project is no part of the project.
    """
    try:
        git = [shutil.which("git") or "git", "-C", str(file.parent)]
        subprocess.run([*git, "ls-files", "--error-unmatch", file.name], capture_output=True, check=True)  # noqa: S603
        revision = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)  # noqa: S603
        status = subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True, check=True)  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        return {}
    return {"revision": revision.stdout.strip(), "changed": bool(status.stdout.strip())}


def _wandb_id(name: str) -> str:
    """A new id, unless this start is a step of a W&B sweep, whose agent has chosen it."""
    if "WANDB_SWEEP_ID" in os.environ and "WANDB_RUN_ID" in os.environ:
        return os.environ["WANDB_RUN_ID"]
    return hashlib.blake2b(f"{name}{time.time_ns()}".encode(), digest_size=4).hexdigest()
