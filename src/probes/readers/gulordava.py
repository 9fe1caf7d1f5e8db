"""Gulordava et al. (2018): a table with one row per form; the two forms of an item share its beginning.

The sentence is the prefix and the form, which the contrast compares: the word at the target's place in `sent` is neither form.
"""

from collections.abc import Iterator
from pathlib import Path

from ..challenge_set import TARGET, ChallengeSet, SetError, Span, Value, Variant
from ..contrast import pair_contrast
from ..set_file import rows, whole_number

SUFFIXES = {".tab"}
NEEDED = ("constr_id", "sent_id", "form", "class", "prefix")
NUMBERS = {"sing": "singular", "plur": "plural"}


def recognises(file: Path, head: str) -> bool:
    names = head.splitlines()[0].split("\t") if head.strip() else []
    return set(names) >= set(NEEDED)


def read(file: Path, language: str) -> Iterator[ChallengeSet]:
    made = ChallengeSet(file.stem, language, dataset="gulordava", file=str(file))
    made.contrasts = (pair_contrast("target", "good", "bad", TARGET),)
    items: dict[tuple[str, ...], list[tuple[int, dict[str, str]]]] = {}
    for number, row in rows(file, *NEEDED):
        key = (row.get("pattern", ""), row["constr_id"], row["sent_id"], row["prefix"])
        items.setdefault(key, []).append((number, row))
    for found in items.values():
        by_class = {row["class"]: row for _, row in found}
        if set(by_class) != {"correct", "wrong"} or len(found) != 2:
            raise SetError(file, found[0][0], "an item needs one form of class correct and one of class wrong")
        if not all(row["form"].split() for _, row in found):
            raise SetError(file, found[0][0], "the column form must hold a form")
        made.add(found[0][0], _features(found[0][1]), [_variant(by_class["correct"], True), _variant(by_class["wrong"], False)])
    yield made


def _variant(row: dict[str, str], good: bool) -> Variant:
    prefix, form = tuple(row["prefix"].split()), tuple(row["form"].split())
    span = Span(TARGET, len(prefix), len(prefix) + len(form))
    return Variant("good" if good else "bad", good, prefix + form, None, (span,))


def _features(row: dict[str, str]) -> dict[str, Value]:
    found: dict[str, Value] = {name: row[name] for name in ("pattern", "type", "constr_id") if row.get(name)}
    if row.get("correct_number") in NUMBERS:
        found["subject_number"] = NUMBERS[row["correct_number"]]
    if (attractors := whole_number(row.get("n_attr", ""))) is not None:
        found["n_attractors"] = attractors
    return found
