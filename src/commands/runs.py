"""`concord runs list [FOLDER] [--json]`: all runs below a folder and how they stand."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ..runs.run_folder import RunFolder
from ..runs.run_state import PERPLEXITY, History, runs_below, state
from ..settings.watched import WatchedSettings, is_watched, read_watched_settings
from ..terminal import console, show_whole, table

DESCRIPTION = """\
Runs and how they stand.

  concord runs list                    all in runs/: done, running, stopped or failed, and their numbers
  concord runs list elsewhere --json   of another folder, for programs
"""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="concord runs", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="all runs below a folder: done, running, stopped or failed, and their numbers")
    listing.add_argument("folder", nargs="?", type=Path, default=Path("runs"), help="where to look (default: runs)")
    listing.add_argument("--json", action="store_true", help="for programs")
    asked = parser.parse_args(arguments)
    if not asked.folder.is_dir():
        print(f"error: {asked.folder}: there is no such folder; name the one that paths.runs= names", file=sys.stderr)
        return 1
    found = [described(run) for run in runs_below(asked.folder)]
    if asked.json:
        print(json.dumps(found, indent=1, ensure_ascii=False))
    else:
        show(found, asked.folder)
    return 0


def described(run: RunFolder) -> dict[str, Any]:
    """A run in plain values; what is not known is null."""
    now, why = state(run)
    settings = {} if now == "damaged" else run.settings()
    history = History(run)
    if is_watched(settings):
        return _described_watch(run, read_watched_settings(settings), history)
    lang = _group(settings, "lang")
    language = lang.get("code")
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
        "valid/perplexity": history.of_best(PERPLEXITY),
        "test/perplexity": history.of_best("test/perplexity"),
        "agreement": _agreement(history, lang.get("languages") or [language]),
    }


def _described_watch(run: RunFolder, settings: WatchedSettings, history: History) -> dict[str, Any]:
    """A training that was not ours: neither its corpus nor its epochs are known."""
    now, why = state(run)
    known: dict[str, Any] = {
        "name": run.path.name,
        "folder": str(run.path),
        "state": now,
        "why": why,
        "language": "+".join(settings.languages),
    }
    known |= {"model": settings.model, "data": None, "seed": settings.seed, "epoch": None, "epochs": None}
    perplexities = {name: history.of_best(name) for name in (PERPLEXITY, "test/perplexity")}
    return {**known, **perplexities, "agreement": _agreement(history, settings.languages)}


def _group(settings: dict[str, Any], name: str) -> dict[str, Any]:
    group = settings.get(name)
    return group if isinstance(group, dict) else {}


def _agreement(history: History, languages: list[str]) -> float | None:
    """The mean over constructions, and over languages where there are several."""
    values = [history.of_best(f"probe/{language}/agreement/mean/accuracy") for language in languages]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def show(found: list[dict[str, Any]], folder: Path) -> None:
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


def _epochs(run: dict[str, Any]) -> str:
    return "" if run["epoch"] is None else f"{run['epoch']}/{_told(run['epochs'])}"


def _shown(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


if __name__ == "__main__":
    sys.exit(main())
