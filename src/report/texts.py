"""The sentences behind the verdicts: from the items of a run or its sample; for older runs, from their challenge sets."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import compute, parquet

from ..data.download import Downloads
from ..errors import UserError
from ..probes.verdict_files import RULE
from ..settings.probing import all_collections
from .results import Result

# Columns of items.parquet that are not features of an item.
OTHER = {
    *("uid", "construction", "contrast", "language", "set", "dev"),
    *("good_score", "bad_score", "verdict", "tie", "covered", "unknown_context"),
    *("margin", "clause_margins", "term_values", "chance", "compared", "compared_logprobs", "compared_unknown"),
    *(f"{side}{what}" for side in ("good", "bad") for what in ("", "_logprobs", "_unknown", "_target")),
}


class Text(NamedTuple):
    """A minimal pair on one line: before, the good words, the bad words, after; and its features.

    For a contrast that is not between two sentences: everything it compares, and no pair.
    """

    before: str
    good: str
    bad: str
    after: str
    features: str
    compared: tuple[str, ...] = ()


def find_texts(results: Sequence[Result], keys: Sequence[tuple[str, str, int]]) -> list[Text | None]:
    """None where the sentence is unknown."""
    found: dict[tuple[str, str, int], Text] = {}
    files = dict.fromkeys(file for kind in ("items", "sample_file") for result in results if (file := getattr(result, kind)))
    for file in files:
        missing = [key for key in keys if key not in found]
        if not missing:
            break
        found |= _from_items(file, missing)
    for result in [r for r in results if r.kind == "run"][:1]:
        if any(key not in found for key in keys):
            found |= _from_sets(result)
    return [found.get(key) for key in keys]


def _from_items(file: object, keys: Sequence[tuple[str, str, int]]) -> dict[tuple[str, str, int], Text]:
    table = parquet.read_table(file, columns=["uid"])
    wanted = compute.is_in(table["uid"], pa.array([uid for uid, _, _ in keys]))
    rows = compute.indices_nonzero(wanted)
    if not len(rows):
        return {}
    names = parquet.read_schema(file).names
    features = [name for name in names if name not in OTHER and not name.startswith(RULE)]
    columns = ["uid", "contrast", "good", "bad", "good_target", "bad_target", *features]
    columns += ["compared"] if "compared" in names else []
    some = parquet.read_table(file, columns=columns).take(rows).to_pylist()
    found: dict[tuple[str, str, int], Text] = {}
    seen: dict[tuple[str, str], int] = {}
    for row in some:
        pair = (row["uid"], row["contrast"])
        key = (*pair, seen.get(pair, 0))
        seen[pair] = key[2] + 1
        described = ", ".join(f"{name}={row[name]}" for name in features if row[name] is not None)
        if row["good"] is None:
            found[key] = Text("", "", "", "", described, tuple(" ".join(words) for words in row["compared"]))
        else:
            found[key] = pair_text(row["good"], row["bad"], row["good_target"], row["bad_target"], described)
    return found


def pair_text(good: Sequence[str], bad: Sequence[str], at: Sequence[int], bad_at: Sequence[int], features: str) -> Text:
    """The words left and right of the tested words are the same in both sentences."""
    return Text(
        " ".join(good[: at[0]]),
        " ".join(good[at[0] : at[1]]),
        " ".join(bad[bad_at[0] : bad_at[1]]),
        " ".join(good[at[1] :]),
        features,
    )


def _from_sets(result: Result) -> dict[tuple[str, str, int], Text]:
    """Read again the sets the run was configured with; empty if they no longer exist."""
    from ..probes.probe_preparation import make_probe  # noqa: PLC0415 nothing else here needs torch

    run = result.model.run
    if run is None:
        return {}
    try:
        language = next(each for each in run.languages if each.code == result.language)
        collection = next(each for each in all_collections(run.probes) if each.name == result.set)
        nothing_new = Downloads(run.paths.fetched, allowed=False)
        whole = make_probe(collection, result.language, run.clitics(language), downloads=nothing_new)
    except (UserError, OSError, StopIteration):
        return {}
    found: dict[tuple[str, str, int], Text] = {}
    seen: dict[tuple[str, str], int] = {}
    contrasts, tested = whole.contrasts, whole.contrasts.tested
    firsts = np.searchsorted(tested.contrast, np.arange(len(contrasts) + 1)).tolist()
    for row in range(len(contrasts)):
        made = whole.sets[int(contrasts.set[row])]
        pair = (made.uid(int(contrasts.item[row])), contrasts.names[row])
        key = (*pair, seen.get(pair, 0))
        seen[pair] = key[2] + 1
        features = ", ".join(f"{key}={value}" for key, value in made.features[int(contrasts.item[row])].items())
        own = [at for at in range(firsts[row], firsts[row + 1]) if not tested.again[at]]
        sentences = [whole.sentences[int(tested.sentence[at])].words for at in own]
        if contrasts.is_pair[row]:
            places = [(int(tested.start[at]), int(tested.end[at])) for at in own]
            found[key] = pair_text(sentences[0].split(), sentences[1].split(), places[0], places[1], features)
        else:
            found[key] = Text("", "", "", "", features, tuple(sentences))
    return found
