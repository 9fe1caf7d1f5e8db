"""The runs of a report as a sortable table."""

import math
from collections.abc import Sequence

from ..runs.run_folder import RunFolder
from ..runs.run_state import state
from .conditions import RunCondition
from .page import LONG, element, escape
from .results import Result
from .wording import format_words, language_name

# Most-wanted columns first: the table is wider than a phone.
FIRST = ("run", "language")
NUMBERS = ("seed", "mean accuracy", "test perplexity", "mismatched attractor", "words seen", "ties", "uncovered")
LAST = ("condition", "state")


def runs_table(conditions: Sequence[RunCondition]) -> str:
    """One row per model."""
    names = [(name, "text" if name in FIRST + LAST else None) for name in (*FIRST, *NUMBERS, *LAST)]
    heads = "".join(_head(name, kind) for name, kind in names)
    rows = "".join(element("tr", _row(condition, result)) for condition in conditions for result in condition.results)
    body = element("thead", element("tr", heads)) + element("tbody", rows)
    return element("div", element("table", body, class_="grid sortable", id_="run-table"), class_="scroll", tabindex="0")


def states_of(results: Sequence[Result]) -> list[str]:
    """The current state of their runs: finished, running, stopped, or failed and why."""
    return ["evaluated" if each.kind == "evaluation" else "finished" if each.finished else _state(each) for each in results]


def _state(result: Result) -> str:
    try:
        now, why = state(RunFolder(result.path))
    except (OSError, ValueError):
        return "not finished"
    return "not finished" if now == "done" else f"{now}: {why}" if why else now


def _head(name: str, kind: str | None) -> str:
    return element("th", element("button", name), scope="col", class_=kind or ("long" if len(name) > LONG else None))


def _row(condition: RunCondition, result: Result) -> str:
    mismatched = [score.parts["mismatched"].accuracy for score in result.scores.values() if "mismatched" in score.parts]
    counts = [sum(getattr(score, name) for score in result.scores.values()) for name in ("ties", "uncovered")]
    unequal = math.fsum(mismatched) / len(mismatched) if mismatched else math.nan
    numbers = (
        result.seed,
        result.mean,
        result.perplexity,
        unequal,
        (result.words or None) if result.axis == "words" else None,
        *counts,
    )
    cells = [
        _text(result.name),
        _text(language_name(result.language)),
        *map(_number, numbers),
        _text(condition.name, "text wide condition"),
        _text(states_of([result])[0], "text wide"),
    ]
    return "".join(cells)


def _text(text: str, kind: str = "text") -> str:
    return element("td", escape(text), data_v=text, class_=kind)


def _number(value: float | None) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return element("td", "–", data_v="")
    shown = f"{value:,.2f}" if isinstance(value, float) else format_words(value) if value >= 10_000 else str(value)
    return element("td", shown, data_v=value)
