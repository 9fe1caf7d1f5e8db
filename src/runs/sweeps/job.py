"""A job of a sweep: a run's settings, frozen in a file, and the command that trains it."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from ...errors import UserError
from ...settings.reading import Plain
from ...settings.run import RunSettings, read_run_settings
from ..continuing import must_be_same_run
from ..run_folder import RunFolder

TRAIN = ("-m", "concord.commands.train")
# What Hydra must be told again, since a frozen file stands alone.
ALONE = {
    "defaults": ["_self_", {"override hydra/job_logging": "none"}, {"override hydra/hydra_logging": "none"}],
    "hydra": {"output_subdir": None, "run": {"dir": "."}},
}


@dataclass(frozen=True)
class Job:
    label: str  # what distinguishes it from the other jobs: lang=de seed=2
    folder: RunFolder
    config: Path
    start: tuple[str, ...]  # what Python runs
    epochs: int
    processes: int  # processes on one machine
    fresh: bool = False  # overwrite=true: from scratch, whatever is there
    grows: bool = False  # from the checkpoint of another run

    @property
    def name(self) -> str:
        return self.config.stem

    @property
    def log(self) -> Path:
        """The job's output, even if it fails before it has a folder."""
        return self.config.with_suffix(".log")

    def command(self) -> list[str]:
        """Resumes the run from its last checkpoint, if it has one."""
        frozen = ["--config-path", str(self.config.parent.resolve()), "--config-name", self.config.stem]
        return [sys.executable, *self.start, *frozen, *self._resumption()]

    def _resumption(self) -> list[str]:
        if self.fresh:
            return []
        if self.folder.last.exists():
            return ["ckpt_path=auto"]
        # Killed before its first checkpoint, a run that started from another's has nothing of its own to resume from.
        return ["overwrite=true"] if self.grows and self.folder.exists() else []


def make_job(settings: RunSettings, label: str, config: Path, start: tuple[str, ...] = TRAIN) -> Job:
    """The run these settings describe."""
    devices = settings.trainer.devices
    return Job(
        label,
        RunFolder(settings.folder),
        config,
        start,
        settings.trainer.max_epochs,
        devices if isinstance(devices, int) and devices > 0 else 1,
        settings.overwrite,
        settings.begins_elsewhere,
    )


def freeze(job: Job, settings: RunSettings) -> None:
    """Write the settings down; later edits in conf/ do not reach the job."""
    job.config.parent.mkdir(parents=True, exist_ok=True)
    # The name is fixed here: it is a hash of the settings, and ckpt_path may be one of them.
    start = settings.ckpt_path or (None if settings.overwrite else "auto")
    settled: dict[str, Plain] = {"name": job.folder.path.name, "ckpt_path": start}
    settled |= {"allow": list(settings.allow)} if settings.allow else {}
    text = yaml.safe_dump({**settings.plain, **settled, **ALONE}, sort_keys=False, allow_unicode=True)
    job.config.write_text(f"# Frozen when the sweep was started.\n{text}", encoding="utf-8")


def thaw(config: Path, label: str) -> Job:
    """A job frozen earlier."""
    settings = yaml.safe_load(config.read_text(encoding="utf-8"))
    return make_job(read_run_settings({key: value for key, value in settings.items() if key not in ALONE}), label, config)


def is_done(job: Job, settings: RunSettings) -> bool:
    """Whether the run exists and is finished; one with other settings or another text does not count."""
    if job.fresh or not job.folder.finished() or job.folder.in_use():
        return False
    try:
        must_be_same_run(job.folder, settings)
    except UserError:
        return False  # once started, it will say what is wrong
    return True


def must_differ(jobs: Sequence[Job]) -> None:
    """Two jobs in one folder would be the same run twice."""
    seen: dict[Path, Job] = {}
    for job in jobs:
        if other := seen.get(job.folder.path):
            raise UserError(
                f"{job.folder.path}: two jobs of the sweep would share this run ({other.label}; {job.label}). "
                "Leave name= out, or let it depend on what differs: 'name=mine-${seed}'"
            )
        seen[job.folder.path] = job


def labels(overrides: Sequence[Sequence[str]]) -> list[str]:
    """For each job, the overrides that not all jobs share."""
    if len(overrides) == 1:
        return [" ".join(overrides[0]) or "the only job"]
    common = set(overrides[0]).intersection(*overrides[1:])
    own = [[one.partition("=") for one in job if one not in common] for job in overrides]
    short = short_names(list(dict.fromkeys(key for job in own for key, _, _ in job)))
    return [" ".join(f"{short[key]}={value}" for key, _, value in job) for job in own]


def short_names(keys: Sequence[str]) -> dict[str, str]:
    """The shortest suffix of each that is unique: `model.dropout` and `network.dropout`, but `lr`."""
    short = {}
    for key in keys:
        parts = key.split(".")
        ends = [".".join(parts[i:]) for i in reversed(range(len(parts)))]
        short[key] = next(end for end in ends if not any(k != key and f".{k}".endswith(f".{end}") for k in keys) or end == key)
    return short
