"""SyntaxGym suites (Hu et al. 2020; Pérez-Mayos et al. 2021): conditions made of regions, and formulas that must be true."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..challenge_set import ChallengeSet, SetError, Span, Variant
from ..contrast import Contrast
from ..pairs import words_of
from ..set_file import parse_json

SUFFIXES = {".json"}


def recognises(file: Path, head: str) -> bool:
    return '"region' in head or '"items"' in head or '"predictions"' in head


def read(file: Path, language: str) -> Iterator[ChallengeSet]:
    suite = _suite(file)
    name = suite.get("meta", {}).get("name") if isinstance(suite.get("meta"), dict) else None
    made = ChallengeSet(name if isinstance(name, str) and name else file.stem, language, dataset="syntaxgym", file=str(file))
    made.contrasts = tuple(_formulas(suite, file))
    labels = suite.get("region_meta") if isinstance(suite.get("region_meta"), dict) else {}
    for index, item in enumerate(_list(suite, "items", file, "the suite")):
        number = item.get("item_number", index + 1) if isinstance(item, dict) else index + 1
        conditions = _list(item, "conditions", file, f"item {number}")
        variants = [_variant(condition, labels, language, file, number) for condition in conditions]
        if not variants or len({v.role for v in variants}) < len(variants):
            raise SetError(file, None, f"item {number}: its conditions must be there and have different names")
        made.add(index + 1, {"item": str(number)}, variants)
    if not len(made):
        raise SetError(file, None, "the suite has no items")
    yield made


def _suite(file: Path) -> dict[str, Any]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise SetError(file, None, f"not UTF-8 (offset {error.start}); save the file as UTF-8") from None
    suite = parse_json(text, file)
    if not isinstance(suite, dict):
        raise SetError(file, None, "a suite is one JSON object")
    return suite


def _list(value: Any, key: str, file: Path, where: str) -> list[Any]:
    found = value.get(key) if isinstance(value, dict) else None
    if not isinstance(found, list):
        raise SetError(file, None, f"{where} has no list of {key}")
    return found


def _formulas(suite: dict[str, Any], file: Path) -> Iterator[Contrast]:
    for number, prediction in enumerate(_list(suite, "predictions", file, "the suite"), start=1):
        formula = prediction.get("formula") if isinstance(prediction, dict) else None
        if not isinstance(formula, str) or not formula.strip():
            raise SetError(file, None, f"prediction {number} has no formula")
        yield Contrast(f"prediction {number}", formula=formula)


def _variant(condition: Any, labels: Any, language: str, file: Path, number: Any) -> Variant:
    name = condition.get("condition_name") if isinstance(condition, dict) else None
    if not isinstance(name, str) or not name:
        raise SetError(file, None, f"item {number}: a condition has no condition_name")
    words: list[str] = []
    contents: list[str] = []
    spans: list[Span] = []
    for region in _list(condition, "regions", file, f"item {number}, {name}"):
        content = region.get("content") if isinstance(region, dict) else None
        if not isinstance(content, str):
            raise SetError(file, None, f"item {number}, {name}: a region's content must be text")
        key = str(region.get("region_number", len(spans) + 1))
        label = str(labels.get(key, "")) if isinstance(labels, dict) else ""
        start = len(words)
        words += words_of(content, language)
        contents += content.split()
        spans.append(Span(f"region:{key}:{label}" if label else f"region:{key}", start, len(words)))
    if not words:
        raise SetError(file, None, f"item {number}, {name}: all regions are empty")
    return Variant(name, None, tuple(words), " ".join(contents), tuple(spans))
