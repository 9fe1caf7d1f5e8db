"""What the folders contain: finished and running jobs, sweeps, and what evaluate.py wrote.

Whatever cannot be read is left out and listed.
"""

import glob
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..errors import UserError
from .conditions import comparison_key, condition_key
from .evaluation_files import read_evaluation
from .left_out import UNREADABLE, LeftOut, first_line
from .results import Result
from .run_files import read_run
from .verdict_columns import VerdictFiles

DEPTH = 3  # depth of nested folders: runs/<sweep>/<job>
NAMED = 3  # shown of several folders left out for the same reason


@dataclass(frozen=True)
class GatheredResults:
    """All results found, and what was left out."""

    results: list[Result]
    left_out: list[LeftOut] = field(default_factory=list)


class ReadFolders:
    """Folders of runs and evaluations, already read; read again only when one of their files changes."""

    def __init__(self) -> None:
        self.files = VerdictFiles()
        self._known: dict[Path, tuple[object, list[Result], list[LeftOut]]] = {}

    def read(self, folder: Path, left_out: list[LeftOut]) -> list[Result]:
        """A result whose content is unchanged is returned as the same object, with everything computed for it."""
        now = _folder_signature(folder)
        known = self._known.get(folder)
        if known is None or known[0] != now:
            missing: list[LeftOut] = []
            found = _read_folder(folder, missing, self.files)
            # Training writes metrics all the time; what a report shows changes only with a probe.
            known = (now, known[1] if known is not None and known[1] == found else found, missing)
            self._known[folder] = known
        left_out += known[2]
        return known[1]

    def forget_others(self, folders: Collection[Path]) -> None:
        """Forget folders that no longer exist."""
        self._known = {folder: known for folder, known in self._known.items() if folder in folders}
        results = [result for _, found, _ in self._known.values() for result in found]
        ways = [moment.file for result in results for moment in result.moments]
        self.files.forget_others(file for file in [*ways, *(result.items for result in results)] if file)


def _folder_signature(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Names, times and sizes of the files that a report reads: in the folder and in its probes."""
    there = [folder, folder / "probes", *sorted((folder / "probes").glob("final-*"))]
    entries = [entry for place in there if place.is_dir() for entry in os.scandir(place) if entry.is_file()]
    stats = [(entry.path, entry.stat()) for entry in entries if not entry.name.endswith(".log")]
    return tuple(sorted((path, found.st_mtime_ns, found.st_size) for path, found in stats))


def gather_results(paths: Sequence[Path | str], read: ReadFolders | None = None) -> GatheredResults:
    """Everything under these paths, in the given order; `read` remembers it for next time."""
    read = read or ReadFolders()
    results: list[Result] = []
    left_out: list[LeftOut] = []
    seen: set[Path] = set()
    folders: set[Path] = set()
    for path in expand_patterns(paths):
        foreign: list[LeftOut] = []
        for folder in _result_folders(path, foreign):
            if folder.resolve() in seen:
                continue
            seen.add(folder.resolve())
            results += read.read(folder, left_out)
            folders.add(folder)
        left_out += count_alike(path, foreign)
    read.forget_others(folders)
    results = _leave_out_debug_runs(results, left_out)
    return _drop_repetitions(_link_evaluations(GatheredResults(results, left_out)))


def expand_patterns(paths: Sequence[Path | str]) -> Iterator[Path]:
    """The folders that were named; a name that matches none is an error."""
    for path in paths:
        found = sorted(glob.glob(str(path), recursive=True)) if glob.has_magic(str(path)) else [str(path)]  # noqa: PTH207
        if not found or not Path(found[0]).exists():
            raise UserError(f"{path}: no such folder; give folders of runs (runs/…) or of evaluations (results/…)")
        yield from map(Path, found)


def count_alike(path: Path, foreign: Sequence[LeftOut]) -> list[LeftOut]:
    """One line for all folders left out for the same reason: downloads and notes do not deserve one each."""
    found = []
    for why in dict.fromkeys(each.why for each in foreign):
        names = [each.path for each in foreign if each.why == why]
        shown = ", ".join(str(Path(name).relative_to(path)) for name in names[:NAMED]) + (" …" if len(names) > NAMED else "")
        found.append(
            LeftOut(names[0], why) if len(names) == 1 else LeftOut(str(path), f"{len(names)} folders inside: {why} ({shown})")
        )
    return found


def _result_folders(path: Path, left_out: list[LeftOut], depth: int = DEPTH) -> Iterator[Path]:
    """The folders of runs and evaluations in a folder, or the folder itself."""
    if not path.is_dir():
        left_out.append(LeftOut(str(path), "not a folder"))
    elif _is_run(path) or _is_evaluation(path):
        yield path
    else:
        inside = sorted(each for each in path.iterdir() if each.is_dir() and not _belongs_to_sweep(each))
        if not any(path.iterdir()):
            left_out.append(LeftOut(str(path), "empty"))
        elif not inside or not depth:
            left_out.append(LeftOut(str(path), "neither a run (config.yaml) nor an evaluation (summary.json)"))
        for each in inside if depth else []:
            yield from _result_folders(each, left_out, depth - 1)


def _belongs_to_sweep(path: Path) -> bool:
    """Files the sweep itself keeps beside its jobs, and hidden files."""
    return path.name.startswith(".") or (path.name == "sweeps" and any(path.glob("*/multirun.yaml")))


def _is_run(path: Path) -> bool:
    return (path / "config.yaml").exists()


def _is_evaluation(path: Path) -> bool:
    return (path / "summary.json").exists()


def _read_folder(folder: Path, left_out: list[LeftOut], files: VerdictFiles) -> list[Result]:
    try:
        found = list(read_run(folder, left_out, files) if _is_run(folder) else read_evaluation(folder, left_out, files))
    except UNREADABLE as error:
        left_out.append(LeftOut(str(folder), f"cannot be read: {first_line(error)}"))
        return []
    if not found:
        left_out.append(LeftOut(str(folder), "nothing has been probed yet (or the run was started with probes=none)"))
    return found


def _leave_out_debug_runs(results: list[Result], left_out: list[LeftOut]) -> list[Result]:
    """A run of seconds is no condition beside real ones; if there is no other run, it is what was asked for."""
    debug = {each.path: each.model.run.debugging for each in results if each.model.run and each.model.run.debugging}
    kept = [result for result in results if result.path not in debug]
    if not any(result.kind == "run" for result in kept):
        return results
    left_out += [LeftOut(str(path), f"a debug run (debug={name})") for path, name in debug.items()]
    return kept


def _link_evaluations(found: GatheredResults) -> GatheredResults:
    """An evaluation of a run that is also here takes over its settings; one that repeats the run itself is left out."""
    runs: dict[tuple[str, str], list[Result]] = {}
    for result in found.results:
        if result.kind == "run":
            runs.setdefault((result.name, result.vocabulary), []).append(result)
    finals = {_identity(result, result.name): result for result in found.results if result.kind == "run" and result.finished}
    kept = []
    for result in found.results:
        run, _, checkpoint = result.name.rpartition("/")
        own = runs.get((run, result.vocabulary), [])
        # Folders of the same name in several places: there is no telling which of them was evaluated.
        if result.kind == "evaluation" and len({each.path for each in own}) == 1:
            if checkpoint == "best" and _identity(result, run) in finals:
                found.left_out.append(LeftOut(str(result.path), f"the same model on the same items as in {run}"))
                continue
            facts = replace(own[0].model, checkpoint="" if checkpoint == "best" else checkpoint)
            result = replace(result, model=facts)  # noqa: PLW2901
        kept.append(result)
    return GatheredResults(kept, found.left_out)


def _drop_repetitions(found: GatheredResults) -> GatheredResults:
    """Equal settings and seed mean the same run, however often it was copied: it must not count as two seeds."""
    kept: dict[tuple[str, ...], Result] = {}
    for result in found.results:
        key = (condition_key(result), str(result.seed), *comparison_key(result), result.vocabulary, str(result.finished))
        first = kept.setdefault(key, result)
        if first is not result:
            found.left_out.append(LeftOut(str(result.path), f"the same settings and seed as {first.path}"))
    return GatheredResults(list(kept.values()), found.left_out)


def _identity(result: Result, name: str) -> tuple[str, ...]:
    return name, result.language, result.set, result.digest, result.label
