"""Numbers from papers, for columns beside ours. They are data, in published.csv: source, language, construction, model, value.

`checked` says whether a value has been compared with its paper. One that has not is shown only on request, with a question mark.
"""

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .wording import paper_name

FILE = Path(__file__).with_name("published.csv")
PERPLEXITY = "perplexity"


@dataclass(frozen=True)
class Published:
    source: str
    language: str
    construction: str
    model: str
    value: float
    checked: bool


@cache
def published() -> tuple[Published, ...]:
    """All of them, in the order of the file."""
    with FILE.open(encoding="utf-8", newline="") as stream:
        return tuple(
            Published(
                row["source"], row["language"], row["construction"], row["model"], float(row["value"]), row["checked"] == "yes"
            )
            for row in csv.DictReader(stream)
        )


def published_columns(
    language: str, constructions: list[str], unchecked: bool = False
) -> dict[tuple[str, str], dict[str, Published]]:
    """By source and model: what is known of these constructions in this language. Perplexity alone is no column."""
    wanted = {paper_name(name) for name in constructions}
    found: dict[tuple[str, str], dict[str, Published]] = {}
    for each in published():
        if each.language == language and each.construction in wanted | {PERPLEXITY} and (each.checked or unchecked):
            found.setdefault((each.source, each.model), {})[each.construction] = each
    return {key: values for key, values in found.items() if set(values) - {PERPLEXITY}}
