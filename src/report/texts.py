"""The sentences behind the verdicts: from the items of a finished run; of a run that goes on, from its challenge sets."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa
from pyarrow import compute, parquet

from ..errors import UserError
from .results import Result

# Columns of items.parquet that are no features of an item.
OTHER = {
    *("uid", "construction", "contrast", "language", "set", "dev"),
    *("good_score", "bad_score", "verdict", "tie", "covered", "unknown_context"),
    *(f"{side}{what}" for side in ("good", "bad") for what in ("", "_logprobs", "_unknown", "_target")),
}


class Text(NamedTuple):
    """A minimal pair on one line: before, the good words, the bad words, after; and its features."""

    before: str
    good: str
    bad: str
    after: str
    features: str


def find_texts(results: Sequence[Result], keys: Sequence[tuple[str, str, int]]) -> list[Text | None]:
    """None where nobody knows the sentence."""
    found: dict[tuple[str, str, int], Text] = {}
    files = {result.items: None for result in results if result.items}
    for file in files:
        missing = [key for key in keys if key not in found]
        if not missing:
            break
        found |= _from_items(file, missing)
    for result in [r for r in results if r.kind == "run"][:1]:
        if any(key not in found for key in keys):
            found |= _from_sets(result)
    return [found.get(key) for key in keys]


def _from_items(file: Any, keys: Sequence[tuple[str, str, int]]) -> dict[tuple[str, str, int], Text]:
    table = parquet.read_table(file, columns=["uid"])
    wanted = compute.is_in(table["uid"], pa.array([uid for uid, _, _ in keys]))
    rows = compute.indices_nonzero(wanted)
    if not len(rows):
        return {}
    names = parquet.read_schema(file).names
    features = [name for name in names if name not in OTHER]
    columns = ["uid", "contrast", "good", "bad", "good_target", "bad_target", *features]
    some = parquet.read_table(file, columns=columns).take(rows).to_pylist()
    found: dict[tuple[str, str, int], Text] = {}
    seen: dict[tuple[str, str], int] = {}
    for row in some:
        pair = (row["uid"], row["contrast"])
        key = (*pair, seen.get(pair, 0))
        seen[pair] = key[2] + 1
        described = ", ".join(f"{name}={row[name]}" for name in features if row[name] is not None)
        found[key] = pair_text(row["good"], row["bad"], row["good_target"], row["bad_target"], described)
    return found


def pair_text(good: Sequence[str], bad: Sequence[str], at: Sequence[int], bad_at: Sequence[int], features: str) -> Text:
    """What stands left and right of the tested words is the same in both sentences."""
    return Text(
        " ".join(good[: at[0]]),
        " ".join(good[at[0] : at[1]]),
        " ".join(bad[bad_at[0] : bad_at[1]]),
        " ".join(good[at[1] :]),
        features,
    )


def _from_sets(result: Result) -> dict[tuple[str, str, int], Text]:
    """Read again what the run was told to ask; nothing where that is no longer there."""
    from ..probes.preparation import make_probe  # noqa: PLC0415 torch is needed for nothing else here

    run = result.model.run
    if run is None:
        return {}
    try:
        language = next(each for each in run.languages if each.code == result.language)
        whole = make_probe(run.probes, result.language, run.clitics(language))
    except (UserError, OSError, StopIteration):
        return {}
    found: dict[tuple[str, str, int], Text] = {}
    seen: dict[tuple[str, str], int] = {}
    contrasts, pairs = whole.contrasts, whole.contrasts.pairs
    for at, row in enumerate(pairs.rows.tolist()):
        made = whole.sets[int(contrasts.set[row])]
        pair = (made.uid(int(contrasts.item[row])), contrasts.names[row])
        key = (*pair, seen.get(pair, 0))
        seen[pair] = key[2] + 1
        good, bad = (whole.sentences[int(number)].words.split() for number in pairs.sentences[at])
        features = ", ".join(f"{key}={value}" for key, value in made.features[int(contrasts.item[row])].items())
        found[key] = pair_text(good, bad, pairs.varied[at, 0].tolist(), pairs.varied[at, 1].tolist(), features)
    return found
