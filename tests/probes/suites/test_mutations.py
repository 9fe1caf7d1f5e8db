"""A thousand damaged files: each is a suite that can be checked, or an error that says what is wrong."""

import json
import random
from pathlib import Path

import pytest
from concord.errors import UserError
from concord.probes.suites.checks import notes
from concord.probes.suites.suite_files import read

PAGE = """\
name: small
language: en
circuit: agreement
joiner: running
regions: a | b | c
conditions:
  x: {^n} | {v} | .
  y: The {n} ( | {w} | .
predictions:
  one: b@x < b@y & [*@x - 1 > 0 | c@y = c@x]
items:
  n: N_1[] | v | w
  soldier | laughs | laugh
  writer  | smiles | smile
"""
DOCUMENT = {
    "meta": {"name": "small", "metric": "sum", "joiner": "running"},
    "region_meta": {"1": "a", "2": "b"},
    "predictions": [{"type": "formula", "formula": "[(1;%x%) - (2;%x%)] < (*;%y%) & (2;%y%) > 0.5", "name": "one"}],
    "items": [
        {
            "item_number": n,
            "conditions": [
                {
                    "condition_name": c,
                    "regions": [{"region_number": 1, "content": "The man ,"}, {"region_number": 2, "content": w}],
                }
                for c, w in (("x", "laughs"), ("y", "laugh"))
            ],
        }
        for n in (1, 2)
    ],
}
TABLE = "item_number,condition_name,region_number,region_name,content\n" + "".join(
    f'{i},{c},{r},"r{r}",{w}\n' for i in (1, 2) for c in "xy" for r, w in ((1, '"a, b"'), (2, "c"))
)
PIECES = [
    "",
    "|",
    ":",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "&",
    "<",
    "%",
    ";",
    "@",
    "*",
    "#",
    '"',
    ",",
    "\n",
    "\t",
    "  ",
    "\x00",
    "é",
    "\u0301",
]
PIECES += [
    "9" * 12,
    "-1",
    "1e5",
    "null",
    "true",
    "[]",
    "{}",
    "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
    "name: x\n",
]
VALUES = [None, True, -1, 0, 10**12, 1.5, "", " ", "x%", "sum", [], {}, [[]], {"a": 1}, "(1;%x%) < 1", "\u2028"]


def damaged(text: str, draw: random.Random) -> str:
    """One to four pieces put in, cut out or exchanged."""
    for _ in range(draw.randint(1, 4)):
        start = draw.randrange(len(text) + 1)
        end = min(len(text), start + draw.choice([0, 0, 1, 1, 3, 20]))
        text = text[:start] + draw.choice(PIECES) + text[end:]
    return text


def damaged_document(draw: random.Random) -> str:
    """A place of the document with another value."""
    document = json.loads(json.dumps(DOCUMENT))
    holder = document
    while True:
        key = draw.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if isinstance(holder[key], dict | list) and holder[key] and draw.random() < 0.8:
            holder = holder[key]
            continue
        holder[key] = draw.choice(VALUES)
        return json.dumps(document)


def outcome(file: Path) -> str:
    try:
        suite = read(file)
        notes(suite, "en")
    except UserError as error:
        first, *caret = str(error).split("\n")
        assert first.startswith(str(file))
        assert first != str(file)
        assert len(caret) in (0, 2)
        return "error"
    return "suite"


@pytest.mark.parametrize(
    ("name", "make", "count"),
    [
        ("a.suite", lambda draw: damaged(PAGE, draw), 400),
        ("a.json", lambda draw: damaged(json.dumps(DOCUMENT, indent=1), draw), 200),
        ("b.json", damaged_document, 200),
        ("a.csv", lambda draw: damaged(TABLE, draw), 200),
    ],
)
def test_a_damaged_file_is_a_suite_or_a_clear_error(tmp_path, name, make, count):
    draw = random.Random(name)
    found = {"suite": 0, "error": 0}
    file = tmp_path / name
    for _ in range(count):
        file.write_bytes(make(draw).encode("utf-8", "surrogatepass"))
        found[outcome(file)] += 1
    assert min(found.values()) > count / 50  # some survive, some do not


def test_the_undamaged_files_are_suites(tmp_path):
    for name, text in (("a.suite", PAGE), ("a.json", json.dumps(DOCUMENT)), ("a.csv", TABLE)):
        (tmp_path / name).write_text(text)
        assert outcome(tmp_path / name) == "suite"
