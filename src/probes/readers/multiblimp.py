"""MultiBLiMP (Jumelet et al. 2025): a table of raw sentences with the features that were swapped."""

from collections.abc import Iterator
from pathlib import Path

from ..challenge_set import ChallengeSet, SetError, Value
from ..pairs import raw_pair
from ..set_file import rows, whole_number

SUFFIXES = {".tsv"}
KEPT = ("phenomenon", "grammatical_feature", "verb", "child", "feature_vals", "distance", "attractors", "swap_head")
GENERIC = ("data", "train", "test")  # uninformative file names
NUMBERS = {"SG": "singular", "PL": "plural"}


def recognises(file: Path, head: str) -> bool:
    names = head.splitlines()[0].split("\t") if head.strip() else []
    return {"sen", "wrong_sen"} <= set(names)


def read(file: Path, language: str) -> Iterator[ChallengeSet]:
    """One set per phenomenon; if none is named, it is named after the file, or its folder if the file's name is uninformative."""
    name = file.parent.name if file.stem in GENERIC and file.parent.name else file.stem
    sets: dict[str, ChallengeSet] = {}
    for number, row in rows(file, "sen", "wrong_sen"):
        good, bad = row["sen"], row["wrong_sen"]
        if not good.split() or not bad.split():
            raise SetError(file, number, "sen and wrong_sen must hold a sentence each")
        construction = row.get("phenomenon") or name
        made = sets.setdefault(construction, ChallengeSet(construction, language, dataset="multiblimp", file=str(file)))
        made.add(number, _features(row), raw_pair(good, bad, language))
    yield from sets.values()


def _features(row: dict[str, str]) -> dict[str, Value]:
    """The subject's number is that of the right form, the first of the swapped values."""
    features: dict[str, Value] = {name: row[name] for name in KEPT if row.get(name)}
    if (distance := whole_number(row.get("distance", ""))) is not None:
        features["distance"] = distance
    right = row.get("feature_vals", "").split("_")[0]
    if right in NUMBERS:
        features["subject_number"] = NUMBERS[right]
    elif row.get("feature_vals"):
        features["tested"] = row.get("grammatical_feature") or "other"
    return features
