"""Sets read once are read again in a fraction of the time, from plain columns in which nothing can execute."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from ..files import JsonObject, write_atomically
from ..settings.languages import Clitics
from .challenge_set import ChallengeSet, Span
from .contrast_notation import contrast_from_plain, plain_contrast
from .groupings import read_groupings
from .readers import depends_on, reader

# Part of every cached file's name: raise it when readers or columns change.
VERSION = 7


def read_cached(
    file: Path,
    language: str,
    form: str,
    folder: Path,
    clitics: Clitics = "split",
    columns: Mapping[str, object] | None = None,
) -> list[ChallengeSet]:
    """The sets of a file, from the cache if the file and its dependencies are unchanged."""
    # Only grammars know what a script joins; other sources come as they are.
    how: dict[str, object] = {"clitics": clitics} if form == "grammar" else {}
    if columns:
        how["columns"] = dict(columns)
    place = folder / f"{_key(file, language, form, clitics, columns)}.json"
    if place.exists():
        try:
            return [_restored(each, str(file)) for each in json.loads(_checked(place.read_bytes()))]
        except (KeyError, ValueError, TypeError, IndexError):
            place.unlink(missing_ok=True)  # damaged: read the source again
    sets = list(reader(form).read(file, language, **how))
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps([_columns(made) for made in sets], ensure_ascii=False).encode()
    write_atomically(place, f"{_checksum(text)}\n".encode() + text)
    return sets


def _checked(content: bytes) -> bytes:
    digest, _, text = content.partition(b"\n")
    if digest.decode() != _checksum(text):
        raise ValueError("another checksum")
    return text


def _checksum(text: bytes) -> str:
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def _key(file: Path, language: str, form: str, clitics: str, columns: Mapping[str, object] | None) -> str:
    said = json.dumps(dict(columns), sort_keys=True, default=str) if columns else ""
    digest = hashlib.blake2b(f"{VERSION}\n{file.name}\n{language}\n{form}\n{clitics}\n{said}".encode(), digest_size=12)
    for each in [file, *depends_on(file, language, form)]:
        digest.update(each.read_bytes() if each.exists() else b"")
    return digest.hexdigest()


def _columns(made: ChallengeSet) -> dict[str, object]:
    """Repeated values are written once and referred to by number."""
    columns: dict[str, object] = {
        name: getattr(made, name) for name in ("construction", "language", "dataset", "firsts", "lines")
    }
    columns |= {name: getattr(made, name) for name in ("grammatical", "sentences")}
    columns["texts"] = made.texts if any(made.texts) else None
    columns["names"] = made.names
    columns["contrasts"] = [plain_contrast(contrast) for contrast in made.contrasts]
    columns["groupings"] = {grouping.name: grouping.plain() for grouping in made.groupings}
    columns |= {"together": made.together, "fixed_rules": dict(made.fixed_rules), "item_rule": made.item_rule}
    for name in ("features", "roles", "spans"):
        columns[name], columns[f"{name}_table"] = _numbered(getattr(made, name))
    return columns


def _numbered(values: list[object]) -> tuple[list[int], list[object]]:
    """Indices into a table of distinct values. Readers share equal objects, so most are recognised by identity."""
    known: dict[int, int] = {}
    table: dict[str, int] = {}
    numbers = []
    for value in values:
        number = known.get(id(value))
        if number is None:
            text = json.dumps(dict(value) if isinstance(value, Mapping) else value, ensure_ascii=False)
            number = known[id(value)] = table.setdefault(text, len(table))
        numbers.append(number)
    return numbers, [json.loads(text) for text in table]


def _restored(columns: JsonObject, file: str) -> ChallengeSet:
    count = len(columns["sentences"])
    spans = [tuple(Span(*span) for span in spans) for spans in columns["spans_table"]]
    if len(columns["roles"]) != count or columns["firsts"][-1] != count:
        raise ValueError("columns of unequal length")
    return ChallengeSet(
        columns["construction"],
        columns["language"],
        columns["dataset"],
        file,
        tuple(contrast_from_plain(contrast, file, None) for contrast in columns["contrasts"]),
        columns["firsts"],
        columns["lines"],
        [columns["features_table"][i] for i in columns["features"]],
        [columns["roles_table"][i] for i in columns["roles"]],
        columns["grammatical"],
        columns["sentences"],
        columns["texts"] or [None] * count,
        [spans[i] for i in columns["spans"]],
        names=columns["names"],
        together=columns["together"],
        groupings=read_groupings(columns["groupings"], file),
        fixed_rules=columns["fixed_rules"],
        item_rule=columns["item_rule"],
    )
