"""Runs and how they stand, one row each: for `concord runs list`, and in plain values for programs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from .. import metric_names
from ..metric_names import TEST_PERPLEXITY, VALID_PERPLEXITY
from ..probes.accuracy import MEAN
from ..settings.probing import AGREEMENT
from ..settings.reading import Plain
from ..settings.watched import WatchedSettings, is_watched, read_watched_settings
from ..terminal import console, show_whole, table
from .run_folder import RunFolder
from .run_state import History, state

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
    },
)


def describe_run(run: RunFolder) -> RunOverview:
    """A run in plain values; what is not known is null."""
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
    }


def _describe_watch(run: RunFolder, settings: WatchedSettings, history: History) -> RunOverview:
    """A training that was not ours: neither its corpus nor its epochs are known."""
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
    }


def _group(settings: Mapping[str, Plain], name: str) -> dict[str, Plain]:
    group = settings.get(name)
    return group if isinstance(group, dict) else {}


def _agreement(history: History, languages: Sequence[object]) -> float | None:
    """The mean over constructions, and over languages where there are several."""
    values = [history.of_best(metric_names.probe(str(language), AGREEMENT, MEAN, "accuracy")) for language in languages]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def show_runs(found: Sequence[RunOverview], folder: Path) -> None:
    view = table(f"runs in {folder}", "run", "state", "lang", "model", numbers=["seed", "epoch", "perplexity", "agreement"])
    for run in found:
        numbers = (_shown(run["valid/perplexity"], ",.2f"), _shown(run["agreement"], ".1%"))
        known = [_told(run[name]) for name in ("language", "model", "seed")]
        view.add_row(run["name"], run["state"], *known, _epochs(run), *numbers)
    show_whole(view)
    for run in found:
        if run["why"]:
            console.print(f"{run['state']} {run['name']}: {run['why']}", markup=False, soft_wrap=True)
    states = [run["state"] for run in found]
    counts = [f"{states.count(name)} {name}" for name in ("done", "running", "stopped", "failed", "damaged") if name in states]
    console.print(f"{len(found)} run{'' if len(found) == 1 else 's'}: {', '.join(counts) or 'none'}")


def _told(value: object) -> str:
    return "" if value is None else str(value)


def _epochs(run: RunOverview) -> str:
    return "" if run["epoch"] is None else f"{run['epoch']}/{_told(run['epochs'])}"


def _shown(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)
