"""BLiMP (Warstadt et al. 2020): a JSON object a line with a good and a bad sentence of raw text."""

from collections.abc import Iterator
from pathlib import Path

from ..challenge_set import ChallengeSet, Contrast
from ..files import objects, text_field
from ..pairs import raw_pair

SUFFIXES = {".jsonl"}


def recognises(file: Path, head: str) -> bool:
    return '"sentence_good"' in head and '"sentence_bad"' in head


def read(file: Path, language: str) -> Iterator[ChallengeSet]:
    made = ChallengeSet(file.stem, language, dataset="blimp", file=str(file))
    prefixed = True
    for number, item in objects(file):
        good, bad = (text_field(item, key, file, number) for key in ("sentence_good", "sentence_bad"))
        names = ("field", "linguistics_term", "UID", "pairID")
        features = {name: str(item[name]) for name in names if name in item}
        made.add(number, features, raw_pair(good, bad))
        prefixed = prefixed and bool(item.get("one_prefix_method"))
    if prefixed and len(made):
        # Their second measure: the critical word after one and the same beginning.
        made.contrasts = (Contrast("sentence", "good", "bad"), Contrast("one prefix", "good", "bad", span="target"))
    yield made
