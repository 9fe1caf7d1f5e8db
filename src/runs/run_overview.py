"""Runs and their state, one row each: for `concord runs list`, and in plain values for programs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from .. import metric_names
from ..errors import UserError
from ..metric_names import TEST_PERPLEXITY, VALID_PERPLEXITY
from ..probes.accuracy import MEAN
from ..settings.probing import AGREEMENT
from ..settings.reading import Plain
from ..settings.run import read_run_settings
from ..settings.setting_words import describe_setting, find_differences
from ..settings.watched import WatchedSettings, is_watched, read_watched_settings
from ..terminal import console, show_whole, table
from .run_folder import RunFolder
from .run_state import History, state

SHOWN = 6  # settings shown for a run; --json has all

RunOverview = TypedDict(
    "RunOverview",
    {
        "name": str,
        "folder": str,
        "state": str,
        "why": str,
        "language": Plain,
        "model": Plain,
        "data": Plain,
        "seed": Plain,
        "epoch": int | None,
        "epochs": Plain,
        "valid/perplexity": float | None,
        "test/perplexity": float | None,
        "agreement": float | None,
        "debug": Plain,
        "differs": dict[str, Plain],
    },
)


def describe_runs(runs: Sequence[RunFolder], with_debug: bool = False) -> tuple[list[RunOverview], int]:
    """Each run in plain values, and how many debug runs were left out.

    `differs` are the settings in which runs of the same language and network differ.
    """
    found = [describe_run(run) for run in runs]
    kept = [run for run in found if with_debug or not run["debug"]]
    told = [_settings_of(RunFolder(Path(run["folder"]))) for run in kept]
    alike: dict[tuple[str, str], list[dict[str, Plain]]] = {}
    for run, settings in zip(kept, told, strict=True):
        alike.setdefault((str(run["language"]), str(run["model"])), []).append(settings)
    for run, settings in zip(kept, told, strict=True):
        run["differs"] = find_differences(settings, alike[str(run["language"]), str(run["model"])])
    return kept, len(found) - len(kept)


def describe_run(run: RunFolder) -> RunOverview:
    """A run in plain values; unknown values are null."""
    now, why = state(run)
    settings = {} if now == "damaged" else run.settings()
    history = History(run)
    if is_watched(settings):
        return _describe_watch(run, read_watched_settings(settings), history)
    lang = _group(settings, "lang")
    language, languages = lang.get("code"), lang.get("languages")
    return {
        "name": run.path.name,
        "folder": str(run.path),
        "state": now,
        "why": why,
        "language": language,
        "model": _group(settings, "model").get("name"),
        "data": _group(settings, "data").get("name"),
        "seed": settings.get("seed"),
        "epoch": history.epochs,
        "epochs": _group(settings, "trainer").get("max_epochs"),
        "valid/perplexity": history.of_best(VALID_PERPLEXITY),
        "test/perplexity": history.of_best(TEST_PERPLEXITY),
        "agreement": _agreement(history, languages if isinstance(languages, list) and languages else [language]),
        "debug": settings.get("debugging"),
        "differs": {},
    }


def _describe_watch(run: RunFolder, settings: WatchedSettings, history: History) -> RunOverview:
    """Training that was not ours: neither its corpus nor its epochs are known."""
    now, why = state(run)
    return {
        "name": run.path.name,
        "folder": str(run.path),
        "state": now,
        "why": why,
        "language": "+".join(settings.languages),
        "model": settings.model,
        "data": None,
        "seed": settings.seed,
        "epoch": None,
        "epochs": None,
        "valid/perplexity": history.of_best(VALID_PERPLEXITY),
        "test/perplexity": history.of_best(TEST_PERPLEXITY),
        "agreement": _agreement(history, settings.languages),
        "debug": None,
        "differs": {},
    }


def _settings_of(run: RunFolder) -> dict[str, Plain]:
    """The settings that change its result, except the seed; empty if they cannot be read."""
    try:
        plain = run.settings()
        if is_watched(plain):
            return read_watched_settings(plain).flat_recipe()
        told = read_run_settings(plain).settings_and_beginning()
    except (UserError, OSError):
        return {}
    return {name: value for name, value in told.items() if name != "seed"}


def _group(settings: Mapping[str, Plain], name: str) -> dict[str, Plain]:
    group = settings.get(name)
    return group if isinstance(group, dict) else {}


def _agreement(history: History, languages: Sequence[object]) -> float | None:
    """The mean over constructions, and over languages if there are several."""
    values = [history.of_best(metric_names.probe(str(language), AGREEMENT, MEAN, "accuracy")) for language in languages]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def show_runs(found: Sequence[RunOverview], folder: Path, debug_runs: int = 0) -> None:
    """Runs that differ only in the seed are listed together, under what sets them apart from the others."""
    view = table(f"runs in {folder}")
    view.add_column("run", overflow="fold")
    view.add_column("state", no_wrap=True)
    for name in ("seed", "epoch", "perplexity", "agreement"):
        view.add_column(name, justify="right", no_wrap=True)
    together: dict[tuple[str, str], list[RunOverview]] = {}
    for run in found:
        together.setdefault((_describe_group(run), str(run["differs"])), []).append(run)
    for (heading, _), runs in together.items():
        view.add_row(heading, style="bold")
        for run in runs:
            numbers = (_shown(run["valid/perplexity"], ",.2f"), _shown(run["agreement"], ".1%"))
            view.add_row(f"  {run['name']}", run["state"], _told(run["seed"]), _epochs(run), *numbers)
    show_whole(view)
    for run in found:
        if run["why"]:
            console.print(f"{run['state']} {run['name']}: {run['why']}", markup=False, soft_wrap=True)
    states = [run["state"] for run in found]
    counts = [
        f"{states.count(name)} {name}"
        for name in ("done", "running", "stopped", "unfinished", "failed", "damaged")
        if name in states
    ]
    console.print(f"{len(found)} run{'' if len(found) == 1 else 's'}: {', '.join(counts) or 'none'}")
    if debug_runs:
        noun, them = ("run", "it") if debug_runs == 1 else ("runs", "them")
        console.print(f"{debug_runs} debug {noun} left out; --all includes {them}")


def _describe_group(run: RunOverview) -> str:
    """`de, lstm, learning rate 0.001`; what makes the model before how it was probed."""
    debug = [f"debug={run['debug']}"] if run["debug"] else []
    known = [_told(run[name]) for name in ("language", "model")]
    names = sorted(run["differs"], key=lambda name: name.startswith("probes."))
    differing = [describe_setting(name, run["differs"][name]) for name in names]
    more = [f"and {len(differing) - SHOWN} more"] if len(differing) > SHOWN else []
    return ", ".join([*(each for each in known if each), *debug, *differing[:SHOWN], *more]) or "settings not known"


def _told(value: object) -> str:
    return "" if value is None else str(value)


def _epochs(run: RunOverview) -> str:
    return "" if run["epoch"] is None else f"{run['epoch']}/{_told(run['epochs'])}"


def _shown(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)
