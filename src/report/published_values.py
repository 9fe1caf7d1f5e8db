"""Numbers from papers, for columns beside ours. They are data, in published.csv: one row per number in a paper's table.

source, table   the paper, and its table (`text`: a number in its text)
language        ISO 639-1; `all` if it spans languages, empty if it has none
model, training as the paper names it; monolingual, multilingual or pretrained
construction    by our names; for gevalm, by its folder names; `average`: the paper's own
condition       a part of the items (`sgpl`), a version of them (`nonce, overall`), or the family that the table is about
metric          accuracy, accuracy_percent, perplexity, pairs, …
value, sd, n    as printed; `sd` over seeds or models, `n` items
note            what is known to be wrong in the paper
"""

import csv
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .wording import paper_name

FILE = Path(__file__).with_name("published.csv")
PERPLEXITY = "perplexity"
AVERAGE = "average"
SCALE = {"accuracy": 1.0, "accuracy_percent": 0.01, PERPLEXITY: 1.0}  # factors that turn a value into a share of one
# Conditions whose numbers stand for a whole construction.
WHOLE = ("", "test corpus", "subject-verb agreement", "reflexive anaphora", "negative polarity items", "original, overall")
SHARE = 0.5  # share of the rows that a column must fill to be shown by default


@dataclass(frozen=True)
class Published:
    """A number as a paper prints it."""

    source: str
    table: str
    language: str
    model: str
    training: str
    construction: str
    condition: str
    metric: str
    value: float
    sd: float | None
    n: int | None
    note: str

    @property
    def share(self) -> float:
        """An accuracy between 0 and 1, whatever the paper prints."""
        return self.value * SCALE[self.metric]


@dataclass(frozen=True)
class PublishedColumn:
    """What one paper reports for one model in one language, by construction; `average` is its own, over these constructions."""

    source: str
    tables: tuple[str, ...]
    model: str
    training: str
    values: dict[str, Published]
    average: Published | None

    @property
    def title(self) -> str:
        return f"{self.source} Table{'s' if len(self.tables) > 1 else ''} {', '.join(self.tables)}"

    def fills(self, constructions: Collection[str]) -> float:
        """The share of these constructions for which it has a number."""
        names = {paper_name(name) for name in constructions}
        return len(names & set(self.values)) / len(names) if names else 0.0


@cache
def published() -> tuple[Published, ...]:
    """All of them, in the order of the file."""
    with FILE.open(encoding="utf-8", newline="") as stream:
        return tuple(_read_row(row) for row in csv.DictReader(stream))


def _read_row(row: dict[str, str]) -> Published:
    words = {
        name: row[name] for name in ("source", "table", "language", "model", "training", "construction", "condition", "metric")
    }
    sd, n = (row[name] for name in ("sd", "n"))
    return Published(
        **words, value=float(row["value"]), sd=float(sd) if sd else None, n=int(float(n)) if n else None, note=row["note"]
    )


def published_columns(language: str, constructions: Collection[str], every: bool = False) -> list[PublishedColumn]:
    """The columns that fill half of the rows; `every`: all that fill any."""
    found = [column for column in _columns(language) if column.fills(constructions) > 0]
    return [column for column in found if every or column.fills(constructions) >= SHARE]


@cache
def _columns(language: str) -> tuple[PublishedColumn, ...]:
    """Tables of one paper that continue the same model with other constructions form one column."""
    tables: dict[tuple[str, str, str, str], dict[str, Published]] = {}
    for each in published():
        # An average with a condition belongs to a family of constructions.
        whole = each.condition in WHOLE and not (each.construction == AVERAGE and each.condition)
        if each.language == language and each.metric in SCALE and whole:
            key = (each.source, each.model, each.training, each.table)
            tables.setdefault(key, {})[each.construction or PERPLEXITY] = each
    columns: list[PublishedColumn] = []
    for (source, model, training, table), values in tables.items():
        average = values.pop(AVERAGE, None)
        earlier = [c for c in columns if (c.source, c.model, c.training) == (source, model, training)]
        begun = next((column for column in earlier if not set(column.values) & set(values)), None)
        if begun is None:
            columns.append(PublishedColumn(source, (table,), model, training, values, average))
        else:
            joined = PublishedColumn(source, (*begun.tables, table), model, training, begun.values | values, None)
            columns[columns.index(begun)] = joined
    return tuple(columns)
