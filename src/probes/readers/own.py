"""Users' own sets: a table (.tsv) with the columns good and bad and any features, JSON lines with the same fields, or our own
JSON lines, which are lossless. Sentences whose final mark is attached to the last word are raw text; others are tokenised.

Several bad forms that must all be beaten at once (chance 1 / (k + 1)) are the columns bad, bad2, bad3 …, or a list in JSON.
Other kinds of contrasts, and groupings, are declared in the head of our own JSON lines: {"challenge_set": {…, "contrasts":
[…], "groupings": {"mood": {"by": "mood"}}}}; see `contrast_notation` and `groupings`. `fixed_rules` in the head apply
under every protocol; an item's `uid` is its name, which sister sets share.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ...errors import UserError
from ...files import JsonObject
from ..challenge_set import ChallengeSet, SetError, Span, Value, Variant, numbered_roles
from ..contract import make_contract
from ..contrast_notation import contrast_from_plain
from ..groupings import read_groupings
from ..pairs import is_raw, pair, words_of
from ..set_file import objects, rows, text_field

SUFFIXES = {".tsv", ".jsonl"}
NOT_FEATURES = ("good", "bad", "construction")
FURTHER = re.compile(r"bad[2-9]|bad[1-9]\d+")


def recognises(file: Path, head: str) -> bool:
    if file.suffix == ".jsonl":
        return '"variants"' in head or '"challenge_set"' in head or ('"good"' in head and '"bad"' in head)
    names = head.splitlines()[0].split("\t") if head.strip() else []
    return {"good", "bad"} <= set(names)


def read(file: Path, language: str) -> Iterator[ChallengeSet]:
    yield from (_table(file, language) if file.suffix == ".tsv" else _objects(file, language))


def _table(file: Path, language: str) -> Iterator[ChallengeSet]:
    """A column `construction` divides the table into sets; all other columns are features."""
    sets: dict[str, ChallengeSet] = {}
    for number, row in rows(file, "good", "bad"):
        if not row["good"].split() or not row["bad"].split():
            raise SetError(file, number, "the columns good and bad must hold a sentence each")
        bad = [row["bad"], *(value for key, value in row.items() if FURTHER.fullmatch(key) and value.split())]
        made = _named(sets, row.get("construction") or file.stem, file, language)
        features = {key: value for key, value in row.items() if key not in NOT_FEATURES and not FURTHER.fullmatch(key) and value}
        add_forms(made, number, features, row["good"], bad)
    yield from sets.values()


def _named(sets: dict[str, ChallengeSet], name: str, file: Path, language: str) -> ChallengeSet:
    return sets.setdefault(name, ChallengeSet(name, language, dataset="own", file=str(file), together=True))


def add_forms(made: ChallengeSet, number: int, features: Mapping[str, Value], good: str, bad: list[str]) -> None:
    """One good sentence and the bad ones it must beat, all at once."""
    raw = any(map(is_raw, (good, *bad)))
    texts = (good, *bad)
    words = [tuple(words_of(text, made.language) if raw else text.split()) for text in texts]
    roles = numbered_roles([True, *[False] * len(bad)])
    variants = pair(words[0], words[1], (good, bad[0]) if raw else (None, None))
    for at in range(2, len(words)):
        other = pair(words[0], words[at])[1]
        variants.append(Variant(roles[at], False, words[at], texts[at] if raw else None, other.spans))
    made.add(number, features, variants)


def _objects(file: Path, language: str) -> Iterator[ChallengeSet]:
    """A line `challenge_set` names the set that follows; any other line is a minimal set, or a pair with features as fields."""
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


def _add_pair(sets: dict[str, ChallengeSet], item: JsonObject, language: str, file: Path, number: int) -> None:
    good, bad = text_field(item, "good", file, number), _bad_forms(item, file, number)
    name = text_field(item, "construction", file, number) if "construction" in item else file.stem
    features = {key: value for key, value in item.items() if key not in NOT_FEATURES}
    _plain_features(features, file, number)
    add_forms(_named(sets, name, file, language), number, features, good, bad)


def _bad_forms(item: JsonObject, file: Path, number: int) -> list[str]:
    if not isinstance(item.get("bad"), list):
        return [text_field(item, "bad", file, number)]
    bad: list[str] = item["bad"]
    if not bad or not all(isinstance(each, str) and each.split() for each in bad):
        raise SetError(file, number, f"the field 'bad' must be a sentence or a list of sentences; it is {str(bad)[:40]!r}")
    return bad


def _head(item: object, file: Path, number: int) -> ChallengeSet:
    fields = ("construction", "language", "dataset")
    if not isinstance(item, dict) or not all(isinstance(item.get(name), str) for name in fields):
        raise SetError(file, number, f"challenge_set needs {', '.join(fields)}, each as text")
    made = ChallengeSet(item["construction"], item["language"], item["dataset"], str(file))
    made.contrasts = tuple(contrast_from_plain(c, file, number) for c in item.get("contrasts") or [])
    if not isinstance(item.get("together", False), bool):
        raise SetError(file, number, f"together must be true or false; it is {item['together']!r}")
    made.together = item.get("together", False)
    made.fixed_rules = _fixed_rules(item.get("fixed_rules") or {}, file, number)
    made.groupings = read_groupings(item.get("groupings") or {}, f"{file}:{number}: groupings")
    return made


def _fixed_rules(rules: object, file: Path, number: int) -> dict[str, str | bool]:
    """Scoring rules that apply to a set under every protocol: {"contrast": "target"}."""
    if not isinstance(rules, dict) or not all(isinstance(value, str | bool) for value in rules.values()):
        raise SetError(file, number, f"fixed_rules must be scoring rules by name; they are {str(rules)[:60]!r}")
    try:
        make_contract("default", rules)
    except UserError as error:
        raise SetError(file, number, f"fixed_rules: {error}") from None
    return rules


def _add(made: ChallengeSet, item: JsonObject, file: Path, number: int) -> None:
    variants, features = item.get("variants"), item.get("features", {})
    if not isinstance(variants, list) or not variants:
        raise SetError(file, number, "a minimal set needs a list of variants")
    _plain_features(features, file, number)
    made.add(number, features, [_variant(variant, file, number) for variant in variants])
    if "uid" in item:
        made.names.append(text_field(item, "uid", file, number))
    if len(made.names) not in (0, len(made)):
        raise SetError(file, number, "some items of this set have a uid and others do not; name all of them or none")


def _plain_features(features: object, file: Path, number: int) -> None:
    if not isinstance(features, dict) or not all(isinstance(v, str | int) for v in features.values()):
        raise SetError(file, number, f"features must be texts or whole numbers by name; they are {str(features)[:60]!r}")


def _variant(item: object, file: Path, number: int) -> Variant:
    if not isinstance(item, dict) or not isinstance(item.get("role"), str) or not isinstance(item.get("sentence"), str):
        raise SetError(file, number, "a variant needs a role and a sentence")
    words = tuple(item["sentence"].split())
    grammatical, text = item.get("grammatical"), item.get("text")
    if grammatical not in (True, False, None) or not (text is None or isinstance(text, str)) or not words:
        raise SetError(
            file, number, "grammatical must be true, false or null; text must be text or null; a sentence must have words"
        )
    spans = tuple(_span(span, len(words), file, number) for span in item.get("spans") or [])
    return Variant(item["role"], grammatical, words, text, spans)


def _span(item: object, length: int, file: Path, number: int) -> Span:
    match item:
        case [str(name), int(start), int(end)] if 0 <= start <= end <= length:
            return Span(name, start, end)
    raise SetError(file, number, f"a span must be [name, start, end] within {length} words; this is {str(item)[:60]!r}")
