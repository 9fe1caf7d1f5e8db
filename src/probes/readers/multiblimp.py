"""MultiBLiMP (Jumelet et al. 2025): a table of raw sentences with the features that were exchanged."""

from collections.abc import Iterator
from pathlib import Path

from ..challenge_set import ChallengeSet, SetError, Value
from ..pairs import raw_pair
from ..set_file import rows, whole_number

SUFFIXES = {".tsv"}
KEPT = ("verb", "child", "feature_vals", "distance", "attractors", "swap_head")


def recognises(file: Path, head: str) -> bool:
    names = head.splitlines()[0].split("\t") if head.strip() else []
    return {"sen", "wrong_sen"} <= set(names)


def read(file: Path, language: str) -> Iterator[ChallengeSet]:
    made = ChallengeSet(file.stem, language, dataset="multiblimp", file=str(file))
    for number, row in rows(file, "sen", "wrong_sen"):
        good, bad = row["sen"], row["wrong_sen"]
        if not good.split() or not bad.split():
            raise SetError(file, number, "sen and wrong_sen must hold a sentence each")
        features: dict[str, Value] = {name: row[name] for name in KEPT if row.get(name)}
        if (distance := whole_number(row.get("distance", ""))) is not None:
            features["distance"] = distance
        made.add(number, features, raw_pair(good, bad, language))
    yield made
