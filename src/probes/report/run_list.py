"""The runs of a report as a table that can be sorted by any column."""

import math
from collections.abc import Sequence
from typing import Any

from .conditions import Group
from .page import element, escaped
from .results import Result
from .wording import language_name, words_shown

TEXT = ("run", "language", "condition", "state")
NUMBERS = ("seed", "words seen", "test perplexity", "mean accuracy", "mismatched", "ties", "uncovered")


def runs(groups: Sequence[Group]) -> str:
    """A row a model."""
    heads = "".join(_head(name, "text") for name in TEXT) + "".join(_head(name, None) for name in NUMBERS)
    rows = "".join(element("tr", _row(group, result)) for group in groups for result in group.results)
    body = element("thead", element("tr", heads)) + element("tbody", rows)
    return element("div", element("table", body, class_="grid sortable", id_="run-table"), class_="scroll", tabindex="0")


def _head(name: str, kind: str | None) -> str:
    return element("th", element("button", name), scope="col", class_=kind)


def _row(group: Group, result: Result) -> str:
    state = "evaluated" if result.kind == "evaluation" else "finished" if result.finished else "not finished"
    texts = (result.name, language_name(result.language), group.name, state)
    mismatched = [score.parts["mismatched"][0] for score in result.scores.values() if "mismatched" in score.parts]
    counts = [sum(getattr(score, name) for score in result.scores.values()) for name in ("ties", "uncovered")]
    unequal = math.fsum(mismatched) / len(mismatched) if mismatched else math.nan
    numbers = (result.seed, result.words, result.perplexity, result.mean, unequal, *counts)
    return "".join(element("td", escaped(text), data_v=text, class_="text") for text in texts) + "".join(map(_number, numbers))


def _number(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return element("td", "–", data_v="")
    shown = f"{value:,.2f}" if isinstance(value, float) else words_shown(value) if value >= 10_000 else str(value)
    return element("td", shown, data_v=value)
