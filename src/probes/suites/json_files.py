"""Suites as JSON: a superset of the published format. Everything read is written back, unknown keys included."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

from ..challenge_set import SetError
from ..set_file import lines, parse_json
from .suite import Condition, Item, Json, Prediction, Region, Suite, prediction

Object = dict[str, Json]


def read_json(file: Path) -> Suite:
    """A suite from its file, which may be compressed (.xz, .gz)."""
    return suite_from(parse_json(read_text(file), file), str(file))


def read_text(file: Path) -> str:
    """The text of a file, which may be compressed; empty lines stay, so that errors give the right line."""
    numbered = dict(lines(file))
    return "\n".join(numbered.get(number, "") for number in range(1, max(numbered) + 1))


def suite_from(document: Json, file: str) -> Suite:
    """A suite from its JSON object."""
    if not isinstance(document, dict):
        raise SetError(file, None, "a suite must be one JSON object with meta, region_meta, predictions and items")
    reader = _Reader(file)
    meta = document.get("meta", {})
    if not isinstance(meta, dict):
        raise SetError(file, None, "meta must be a JSON object with name, metric and so on")
    return Suite(
        file,
        meta,
        reader.region_names(document.get("region_meta", {})),
        tuple(reader.prediction(n, p) for n, p in enumerate(reader.entries(document, "predictions", "the suite"), start=1)),
        tuple(reader.item(n, i) for n, i in enumerate(reader.entries(document, "items", "the suite"), start=1)),
        _others(document, "meta", "region_meta", "predictions", "items"),
    )


def document_of(suite: Suite) -> Object:
    """The JSON object of a suite."""
    regions: Object = {str(number): name for number, name in suite.region_names.items()}
    predictions: list[Json] = [_prediction_object(each) for each in suite.predictions]
    items: list[Json] = [_item_object(item) for item in suite.items]
    return {"meta": dict(suite.meta), "region_meta": regions, "predictions": predictions, "items": items, **suite.extra}


def write_json(suite: Suite, file: Path) -> None:
    """Laid out like the published files."""
    file.write_text(json.dumps(document_of(suite), indent=4, ensure_ascii=False), encoding="utf-8")


class _Reader:
    """Reads the parts of one file and reports errors by item and condition."""

    def __init__(self, file: str) -> None:
        self.file = file

    def error(self, where: str, message: str) -> SetError:
        return SetError(self.file, None, f"{where}: {message}")

    def entries(self, holder: Json, key: str, where: str) -> list[Object]:
        found = holder.get(key) if isinstance(holder, dict) else None
        if not isinstance(found, list):
            raise SetError(self.file, None, f"{where} has no list of {key}")
        for position, entry in enumerate(found, start=1):
            if not isinstance(entry, dict):
                raise self.error(where, f"entry {position} of {key} must be a JSON object; it is {_shown(entry)}")
        return cast("list[Object]", found)

    def text(self, holder: Object, key: str, where: str) -> str:
        value = holder.get(key)
        if not isinstance(value, str):
            raise self.error(where, f"{key} must be text; it is {_shown(value) if key in holder else 'missing'}")
        return value

    def number(self, holder: Object, key: str, position: int, where: str) -> int:
        """Numbers count from 1; if a file has none, the position is the number."""
        value = holder.get(key, position)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10**9:
            raise self.error(where, f"{key} must be a whole number; it is {_shown(value)}")
        return value

    def region_names(self, value: Json) -> dict[int, str]:
        if not isinstance(value, dict):
            raise SetError(self.file, None, "region_meta must be a JSON object from region numbers to names")
        for key, name in value.items():
            if not (key.isascii() and key.isdigit() and str(int(key[:10])) == key) or not isinstance(name, str):
                raise SetError(self.file, None, f"region_meta has {key[:40]!r}: {_shown(name)}; it maps region numbers to names")
        return {int(key): str(name) for key, name in value.items()}

    def prediction(self, position: int, entry: Object) -> Prediction:
        where = f"prediction {position}"
        formula, name = self.text(entry, "formula", where), entry.get("name", "")
        if not isinstance(name, str):
            raise self.error(where, f"name must be text; it is {_shown(name)}")
        if entry.get("type", "formula") != "formula":
            raise self.error(where, f"type is {_shown(entry['type'])}; it must be formula")
        if not formula.strip():
            raise self.error(where, "the formula is empty; write for instance (2;%match%) < (2;%mismatch%)")
        made = prediction(self.file, None, formula, name or str(position), _others(entry, "formula", *(["name"] if name else [])))
        return replace(made, name=name)

    def item(self, position: int, entry: Object) -> Item:
        number = self.number(entry, "item_number", position, f"item {position}")
        where = f"item {number}"
        conditions = tuple(self.condition(c, where) for c in self.entries(entry, "conditions", where))
        return Item(number, conditions, _others(entry, "item_number", "conditions"))

    def condition(self, entry: Object, where: str) -> Condition:
        name = self.text(entry, "condition_name", where)
        if not name or "%" in name:
            raise self.error(where, f"the condition name {name[:40]!r} is empty or has a %, which ends a name in formulas")
        where = f"{where}, {name}"
        regions = [self.region(p, r, where) for p, r in enumerate(self.entries(entry, "regions", where), start=1)]
        return Condition(name, tuple(regions), _others(entry, "condition_name", "regions"))

    def region(self, position: int, entry: Object, where: str) -> Region:
        number = self.number(entry, "region_number", position, where)
        content = self.text(entry, "content", f"{where}, region {number}")
        return Region(number, content, _others(entry, "region_number", "content"))


def _others(entry: Object, *known: str) -> Object:
    return {key: value for key, value in entry.items() if key not in known}


def _shown(value: Json) -> str:
    return repr(value)[:40]


def _prediction_object(each: Prediction) -> Object:
    named: Mapping[str, Json] = {"name": each.name} if each.name else {}
    head: Object = {"type": each.extra["type"]} if "type" in each.extra else {}
    return {**head, "formula": each.formula, **named, **each.extra}


def _item_object(item: Item) -> Object:
    conditions: list[Json] = [_condition_object(condition) for condition in item.conditions]
    return {"item_number": item.number, "conditions": conditions, **item.extra}


def _condition_object(condition: Condition) -> Object:
    regions: list[Json] = [
        {"region_number": region.number, "content": region.content, **region.extra} for region in condition.regions
    ]
    return {"condition_name": condition.name, "regions": regions, **condition.extra}
