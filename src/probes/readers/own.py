"""One's own sets: a table (.tsv) with the columns good and bad and any features, JSON lines with the same fields, or our own JSON
lines, which hold everything. Sentences whose final mark is glued to the last word are raw text, others are tokenised already.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..challenge_set import ChallengeSet, Contrast, SetError, Span, Variant
from ..pairs import is_raw, pair, raw_pair
from ..set_file import objects, rows, text_field

SUFFIXES = {".tsv", ".jsonl"}
NOT_FEATURES = ("good", "bad", "construction")


def recognises(file: Path, head: str) -> bool:
    if file.suffix == ".jsonl":
        return '"variants"' in head or '"challenge_set"' in head or ('"good"' in head and '"bad"' in head)
    names = head.splitlines()[0].split("\t") if head.strip() else []
    return {"good", "bad"} <= set(names)


def read(file: Path, language: str) -> Iterator[ChallengeSet]:
    yield from (_table(file, language) if file.suffix == ".tsv" else _objects(file, language))


def _table(file: Path, language: str) -> Iterator[ChallengeSet]:
    """A column `construction` makes sets of its own; every further column is a feature."""
    sets: dict[str, ChallengeSet] = {}
    for number, row in rows(file, "good", "bad"):
        if not row["good"].split() or not row["bad"].split():
            raise SetError(file, number, "the columns good and bad must hold a sentence each")
        made = _named(sets, row.get("construction") or file.stem, file, language)
        features = {key: value for key, value in row.items() if key not in NOT_FEATURES and value}
        made.add(number, features, _pair(row["good"], row["bad"], language))
    yield from sets.values()


def _named(sets: dict[str, ChallengeSet], name: str, file: Path, language: str) -> ChallengeSet:
    return sets.setdefault(name, ChallengeSet(name, language, dataset="own", file=str(file)))


def _pair(good: str, bad: str, language: str) -> list[Variant]:
    if is_raw(good) or is_raw(bad):
        return raw_pair(good, bad, language)
    return pair(tuple(good.split()), tuple(bad.split()))


def _objects(file: Path, language: str) -> Iterator[ChallengeSet]:
    """A line `challenge_set` names the set that follows; every other is a minimal set, or a pair with its features as fields."""
    made: ChallengeSet | None = None
    pairs: dict[str, ChallengeSet] = {}
    for number, item in objects(file):
        if "challenge_set" in item:
            if made is not None:
                yield made
            made = _head(item["challenge_set"], file, number)
        elif "variants" in item:
            made = made if made is not None else ChallengeSet(file.stem, language, dataset="own", file=str(file))
            _add(made, item, file, number)
        else:
            _add_pair(pairs, item, language, file, number)
    yield from ([made] if made is not None else [])
    yield from pairs.values()


def _add_pair(sets: dict[str, ChallengeSet], item: dict[str, Any], language: str, file: Path, number: int) -> None:
    good, bad = (text_field(item, key, file, number) for key in ("good", "bad"))
    name = text_field(item, "construction", file, number) if "construction" in item else file.stem
    features = {key: value for key, value in item.items() if key not in NOT_FEATURES}
    _plain_features(features, file, number)
    _named(sets, name, file, language).add(number, features, _pair(good, bad, language))


def _head(item: Any, file: Path, number: int) -> ChallengeSet:
    fields = ("construction", "language", "dataset")
    if not isinstance(item, dict) or not all(isinstance(item.get(name), str) for name in fields):
        raise SetError(file, number, f"challenge_set needs {', '.join(fields)}, each a text")
    made = ChallengeSet(item["construction"], item["language"], item["dataset"], str(file))
    made.contrasts = tuple(_contrast(c, file, number) for c in item.get("contrasts") or [])
    return made


def _contrast(item: Any, file: Path, number: int) -> Contrast:
    if not isinstance(item, dict) or not set(item) <= set(Contrast._fields) or not all(isinstance(v, str) for v in item.values()):
        raise SetError(file, number, f"a contrast has {', '.join(Contrast._fields)}, each a text; this is {str(item)[:60]!r}")
    if "name" not in item:
        raise SetError(file, number, "a contrast has a name")
    return Contrast(**item)


def _add(made: ChallengeSet, item: dict[str, Any], file: Path, number: int) -> None:
    variants, features = item.get("variants"), item.get("features", {})
    if not isinstance(variants, list) or not variants:
        raise SetError(file, number, "a minimal set has a list of variants")
    _plain_features(features, file, number)
    made.add(number, features, [_variant(variant, file, number) for variant in variants])


def _plain_features(features: Any, file: Path, number: int) -> None:
    if not isinstance(features, dict) or not all(isinstance(v, str | int) for v in features.values()):
        raise SetError(file, number, f"features are texts or whole numbers by name; these are {str(features)[:60]!r}")


def _variant(item: Any, file: Path, number: int) -> Variant:
    if not isinstance(item, dict) or not isinstance(item.get("role"), str) or not isinstance(item.get("sentence"), str):
        raise SetError(file, number, "a variant has a role and a sentence")
    words = tuple(item["sentence"].split())
    grammatical, text = item.get("grammatical"), item.get("text")
    if grammatical not in (True, False, None) or not (text is None or isinstance(text, str)) or not words:
        raise SetError(file, number, "grammatical is true, false or null; text is text or null; a sentence has words")
    spans = tuple(_span(span, len(words), file, number) for span in item.get("spans") or [])
    return Variant(item["role"], grammatical, words, text, spans)


def _span(item: Any, length: int, file: Path, number: int) -> Span:
    match item:
        case [str(name), int(start), int(end)] if 0 <= start <= end <= length:
            return Span(name, start, end)
    raise SetError(file, number, f"a span is [name, start, end] within {length} words; this is {str(item)[:60]!r}")
