"""Suites as CSV, one row per region: item_number,condition_name,region_number,region_name,content.

A table has no place for predictions and metadata; they are kept beside it in `<name>.head.json`.
"""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

from ..challenge_set import SetError
from ..set_file import parse_json, whole_number
from .json_files import document_of, suite_from
from .suite import Json, Suite, sentences

COLUMNS = ("item_number", "condition_name", "region_number", "region_name", "content")
NEEDED = ("item_number", "condition_name", "region_number", "content")
HEAD = ("meta", "region_meta", "predictions")


def head_file(file: Path) -> Path:
    return file.with_name(f"{file.name.removesuffix('.csv')}.head.json")


def write_csv(suite: Suite, file: Path) -> None:
    """The table and its head. Keys that neither can hold are an error, not silently lost."""
    _check_extra(suite, file)
    keys = list(dict.fromkeys(key for _, c in sentences(suite) for r in c.regions for key in r.extra))
    with file.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow([*COLUMNS, *keys])
        for item, condition in sentences(suite):
            for region in condition.regions:
                extra = [json.dumps(region.extra[key], ensure_ascii=False) if key in region.extra else "" for key in keys]
                name = suite.region_names.get(region.number, "")
                table.writerow([item.number, condition.name, region.number, name, region.content, *extra])
    document = document_of(suite)
    del document["items"]
    head_file(file).write_text(json.dumps(document, indent=4, ensure_ascii=False), encoding="utf-8")


def read_csv(file: Path) -> Suite:
    """A suite from its table and the head beside it; without a head it has no predictions."""
    items, names = _items(file)
    head: Json = {"meta": {"name": file.stem}, "region_meta": names, "predictions": []}
    if head_file(file).is_file():
        head = parse_json(_text(head_file(file)), head_file(file))
    if not isinstance(head, dict):
        raise SetError(
            head_file(file), None, "the head of a suite must be one JSON object with meta, region_meta and predictions"
        )
    return suite_from({**head, "items": items}, str(file))


def _check_extra(suite: Suite, file: Path) -> None:
    for item in suite.items:
        extra = [*item.extra, *(key for condition in item.conditions for key in condition.extra)]
        if extra:
            raise SetError(file, None, f"item {item.number} has {', '.join(extra)}, which CSV cannot hold; write JSON instead")


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SetError(file, None, f"not UTF-8 (offset {error.start}); save the file as UTF-8") from None
    except OSError as error:
        raise SetError(file, None, f"cannot be read ({error.strerror})") from None


def _items(file: Path) -> tuple[list[Json], dict[str, Json]]:
    """The items in JSON form, and the region names."""
    regions: dict[int, dict[str, list[Json]]] = {}
    names: dict[str, Json] = {}
    for line, row in _rows(file):
        item, number = whole_number(row.pop("item_number")), whole_number(row.pop("region_number"))
        if item is None or number is None:
            raise SetError(file, line, "item_number and region_number must be whole numbers")
        name = row.pop("region_name", "")
        if names.setdefault(str(number), name) != name:
            raise SetError(file, line, f"region {number} is named {name!r} here but {names[str(number)]!r} above")
        condition, content = row.pop("condition_name"), row.pop("content")
        extra = {key: _value(cell, file, line) for key, cell in row.items() if cell}
        regions.setdefault(item, {}).setdefault(condition, []).append({"region_number": number, "content": content, **extra})
    items: list[Json] = []
    for item, conditions in regions.items():
        made: list[Json] = [{"condition_name": name, "regions": each} for name, each in conditions.items()]
        items.append({"item_number": item, "conditions": made})
    return items, {number: name for number, name in names.items() if name}


def _value(cell: str, file: Path, line: int) -> Json:
    """Further columns hold JSON; anything that is not JSON is text."""
    try:
        value: Json = json.loads(cell)
    except (ValueError, RecursionError):
        return cell
    return value


def _rows(file: Path) -> Iterator[tuple[int, dict[str, str]]]:
    table = csv.reader(io.StringIO(_text(file), newline=""), strict=True)
    try:
        head = next(table, [])
        if missing := [name for name in NEEDED if name not in head]:
            raise SetError(file, 1, f"the columns {', '.join(missing)} are missing; a suite needs {','.join(COLUMNS)}")
        if len(set(head)) < len(head):
            raise SetError(file, 1, f"the header has a column twice: {','.join(head)}")
        for row in table:
            if not row:
                continue
            if len(row) != len(head):
                raise SetError(
                    file, table.line_num, f"{len(row)} cells, but the header has {len(head)}; quote cells that contain a comma"
                )
            yield table.line_num, dict(zip(head, row, strict=True))
    except csv.Error as error:
        raise SetError(file, table.line_num, f"not CSV ({error})") from None
