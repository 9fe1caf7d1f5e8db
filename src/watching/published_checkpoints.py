"""Published checkpoints of one training run: which exist, where in training they belong, and where their files are."""

import logging
import re
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import UserError
from ..probes.scorers.pretrained import PretrainedError
from ..probes.scorers.pretrained.revisions import RevisionFiles, describe_revision, list_revisions
from ..settings.checkpoint_names import CheckpointPlace, naming_rule, place_checkpoints, suite_and_seed
from ..settings.training_settings import PretrainedSettings
from ..settings.watched import Axis
from .curve_folder import PointResult

log = logging.getLogger(__name__)
AT_ONCE = 8  # parallel requests to the hub
FOLDER_SEED = re.compile(r"[-_.]s(\d+)$")  # mine-s1, as our own runs and examples name their folders
SHOWN = 4


@dataclass(frozen=True)
class PublishedCheckpoint:
    """One checkpoint, before any of its weights are fetched."""

    place: CheckpointPlace
    files: RevisionFiles

    def point(self) -> PointResult:
        """The start of its result."""
        return PointResult(
            self.place.name, dict(self.place.seen), self.files.commit, weights=self.files.weights, model=self.files.model
        )


@dataclass(frozen=True)
class PublishedTraining:
    """The checkpoints of a training run, in order. `name` is the model's, `suite` the name without the seed."""

    name: str
    suite: str
    seed: int | None
    axis: Axis
    checkpoints: list[PublishedCheckpoint]
    missing: dict[str, str] = field(default_factory=dict)  # chosen, but not available


def find_checkpoints(settings: PretrainedSettings) -> PublishedTraining:
    """What exists, before any weights are fetched."""
    names = settings.name or ()
    rule = naming_rule(settings.pattern, settings.places)
    if len(names) > 1:
        places = place_checkpoints(names, names, rule)
        first = places.points[0]
        name = first.part or Path(first.name).absolute().parent.name
    else:
        chosen = settings.revisions or "all"
        listed = [] if isinstance(chosen, tuple) else list_revisions(names[0])
        if not listed and not isinstance(chosen, tuple):
            raise PretrainedError(names[0], "no checkpoints in this folder (subfolders with a config.json)")
        places = place_checkpoints(listed, chosen, rule)
        name = Path(names[0]).expanduser().absolute().name
    _tell_left_out(places.left_out)
    found, missing = _describe(settings, places.points)
    if not found:
        shown = "; ".join(f"{point}: {why}" for point, why in [*missing.items()][:SHOWN])
        raise UserError(f"model.name={', '.join(names[:SHOWN])}: none of these checkpoints could be loaded ({shown})")
    suite, seed = _suite_and_seed(name)
    training = PublishedTraining(name, suite, seed if settings.seed is None else settings.seed, places.axis, found, missing)
    _tell(training)
    return training


def _suite_and_seed(name: str) -> tuple[str, int | None]:
    suite, seed = suite_and_seed(name)
    found = FOLDER_SEED.search(suite) if seed is None else None
    return (FOLDER_SEED.sub("", suite), int(found[1])) if found else (suite, seed)


def _describe(
    settings: PretrainedSettings, places: Sequence[CheckpointPlace]
) -> tuple[list[PublishedCheckpoint], dict[str, str]]:
    """Describe all of them, with several requests to the hub at a time; and list what cannot be found."""

    def describe(place: CheckpointPlace) -> PublishedCheckpoint | str:
        model, revision = _whereabouts(settings, place.name)
        try:
            return PublishedCheckpoint(place, describe_revision(model, revision, settings.safetensors))
        except PretrainedError as error:
            return error.why

    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(describe, places))
    missing = {place.name: each for place, each in zip(places, found, strict=True) if isinstance(each, str)}
    return [each for each in found if isinstance(each, PublishedCheckpoint)], missing


def _whereabouts(settings: PretrainedSettings, checkpoint: str) -> tuple[str, str | None]:
    """The model and revision of a checkpoint."""
    names = settings.name or ()
    if len(names) > 1:
        return checkpoint, None
    folder = Path(names[0]).expanduser()
    return (str(folder / checkpoint), None) if folder.is_dir() else (names[0], checkpoint)


# ------------------------------------------------------------------------ told


def _tell_left_out(left_out: dict[str, str]) -> None:
    reasons: dict[str, list[str]] = {}
    for name, why in left_out.items():
        reasons.setdefault(why, []).append(name)
    for why, names in reasons.items():
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        log.info("left out   %s%s: %s", ", ".join(names[:SHOWN]), more, why)


def _tell(training: PublishedTraining) -> None:
    points = training.checkpoints
    first, last = points[0].place, points[-1].place
    seed = "" if training.seed is None else f", seed {training.seed} of {training.suite}"
    log.info("curve      %s%s: %d checkpoints, %s to %s", training.name, seed, len(points), first.name, last.name)
    for name, why in training.missing.items():
        log.warning("broken     %s: %s", name, why)
    for names in same_weights(points):
        log.warning("weights    %s share the same file: one of these names may be wrong", " and ".join(names))


def same_weights(points: Sequence[PublishedCheckpoint]) -> list[list[str]]:
    """Checkpoints with the same weights, by the hashes listed."""
    found: dict[str, list[str]] = {}
    for point in points:
        if point.files.weights:
            found.setdefault(point.files.weights, []).append(point.place.name)
    return [names for names in found.values() if len(names) > 1]


def check_disk(checkpoints: Sequence[PublishedCheckpoint], folder: Path, keep: bool) -> None:
    """How much may have to be downloaded into this folder, and whether there is room for it."""
    sizes = {each.files.model or each.place.name: each.files.size for each in checkpoints if not each.files.are_here}
    if not sizes:
        return
    largest = sorted(sizes.values())[-2:]
    need = sum(sizes.values()) if keep else sum(largest)
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    free = shutil.disk_usage(there).free
    what = f"{largest[-1] / 1e6:,.1f} MB each, {sum(sizes.values()) / 1e9:,.2f} GB in total"
    kept = "all are kept in the hub's cache" if keep else "each is removed once scored (model.keep=all keeps them)"
    log.info("download   %s; %s", what, kept)
    if need > free:
        remedy = "model.keep=none keeps two at a time" if keep else "free some space there"
        raise UserError(f"{there}: {need / 1e9:,.1f} GB are needed and {free / 1e9:,.1f} GB are free; {remedy}")
