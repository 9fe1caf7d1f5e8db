"""What checkpoint names tell: the steps, tokens or words seen in training, and the seed of a suite of models.

Our own are named by words seen, at the points of the BabyLM challenge.
"""

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ..errors import UserError
from .watched import Axis

AXES: tuple[Axis, ...] = ("words", "tokens", "steps")  # what curves are plotted against, best first
# step1000, stage1-step150-tokens1B, checkpoint-80, chck_7M (words, as in BabyLM), seed_0-step_20k
LABELLED = re.compile(
    r"(?<![a-z])(global[-_]?step|step|iter|checkpoint|ckpt|tokens|words|chck)[-_=]?(\d+(?:\.\d+)?)([kmbt]?)(?![a-z0-9])",
    re.IGNORECASE,
)
NUMBER = re.compile(r"(\d+(?:\.\d+)?)([kmbt]?)", re.IGNORECASE)
UNITS = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
AXIS_OF: dict[str, Axis] = {"tokens": "tokens", "words": "words", "chck": "words"}  # every other label counts steps
PLACEHOLDERS: dict[str, Axis] = {"{step}": "steps", "{tokens}": "tokens", "{words}": "words"}
SEED = re.compile(r"[-_.]?(?<![a-z])seed[-_=]?(\d+)(?![0-9])", re.IGNORECASE)  # pythia-160m-seed3, multiberts-seed_3
FEW = 4  # names listed in a message
MILLION = 1_000_000
# Every million words to 10 M, every 10 M to 100 M, every 100 M to 1,000 M.
BABYLM = (*(unit * n for unit in (MILLION, 10 * MILLION, 100 * MILLION) for n in range(1, 10)), 1000 * MILLION)

Choice = Literal["all", "log"] | tuple[str, ...]


@dataclass(frozen=True)
class CheckpointPlace:
    """Where in training a checkpoint belongs. `part` is what else its name says: `stage1`, whose steps are not stage2's."""

    name: str
    seen: Mapping[Axis, int]
    part: str = ""

    @property
    def step(self) -> int:
        """What its results are filed under: the step, or whatever is known instead."""
        return next(self.seen[axis] for axis in ("steps", "tokens", "words") if axis in self.seen)


@dataclass(frozen=True)
class Places:
    """The checkpoints of a curve in order, and why others are not on it."""

    axis: Axis
    points: list[CheckpointPlace]
    left_out: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class NamingRule:
    """How names are read: by a table, by a pattern, or by default the way publishers usually write them."""

    pattern: str | None = None
    table: Mapping[str, CheckpointPlace] = field(default_factory=dict)

    def read(self, name: str) -> CheckpointPlace | None:
        if name in self.table:
            return self.table[name]
        short = name.rstrip("/").rpartition("/")[2]
        return _read_usual(name, short) if self.pattern is None else _read_by(self.pattern, name, short)


def naming_rule(pattern: str | None, table: str | None) -> NamingRule:
    """From user input: `ckpt_{step}`, `*-{tokens}-*`; a CSV file with the columns name and step, tokens or words."""
    if pattern is not None and not any(each in pattern for each in PLACEHOLDERS):
        raise UserError(
            f"model.pattern={pattern}: it has no placeholder; write {{step}}, {{tokens}} or {{words}} in place of the number"
        )
    return NamingRule(pattern, {} if table is None else _read_table(Path(table)))


def _read_usual(name: str, short: str) -> CheckpointPlace | None:
    if short.isascii() and short.isdigit():
        return CheckpointPlace(name, {"steps": int(short)})
    seen: dict[Axis, int] = {}
    for found in LABELLED.finditer(short):
        seen.setdefault(AXIS_OF.get(found[1].lower(), "steps"), _count(found[2], found[3]))
    return CheckpointPlace(name, seen, LABELLED.sub("", short).strip("-_./ ")) if seen else None


def _read_by(pattern: str, name: str, short: str) -> CheckpointPlace | None:
    written = re.escape(pattern).replace(r"\*", ".*")
    for placeholder, axis in PLACEHOLDERS.items():
        written = written.replace(re.escape(placeholder), rf"(?P<{axis}>\d+(?:\.\d+)?[kmbtKMBT]?)", 1)
    found = re.fullmatch(written, name) or re.fullmatch(written, short)
    if found is None:
        return None
    counts = {axis: NUMBER.fullmatch(text) for axis, text in found.groupdict().items()}
    return CheckpointPlace(name, {axis: _count(*count.groups()) for axis, count in counts.items() if count})  # type: ignore[misc]


def _count(number: str, unit: str) -> int:
    return round(float(number) * UNITS[unit.lower()])


def _read_table(file: Path) -> dict[str, CheckpointPlace]:
    remedy = "it must be a CSV file with the columns name and step, tokens or words"
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            rows = list(csv.DictReader(stream))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"model.places={file}: cannot be read ({error}); {remedy}") from None
    columns: dict[str, Axis] = {"step": "steps", "tokens": "tokens", "words": "words"}
    found = {}
    for line, row in enumerate(rows, start=2):
        given = {axis: row[column] for column, axis in columns.items() if row.get(column)}
        counts = {axis: NUMBER.fullmatch(text.strip()) for axis, text in given.items()}
        if not row.get("name") or not counts or not all(counts.values()):
            raise UserError(f"{file}:{line}: {remedy}")
        seen = {axis: _count(*count.groups()) for axis, count in counts.items() if count}
        found[row["name"].strip()] = CheckpointPlace(row["name"].strip(), seen)
    return found


def place_checkpoints(names: Sequence[str], choice: Choice, rule: NamingRule) -> Places:
    """The chosen checkpoints, on one axis. Those that cannot be placed are left out; if chosen by name, refused."""
    named = isinstance(choice, tuple)
    left_out: dict[str, str] = {}
    read: list[CheckpointPlace] = []
    for name in dict.fromkeys(choice if isinstance(choice, tuple) else names):
        place = rule.read(name)
        if place is None:
            left_out[name] = "its name gives neither steps nor tokens nor words; use model.pattern= or model.places="
        else:
            read.append(place)
    if not read or (named and left_out):
        raise UserError(_cannot_be_placed(left_out or dict.fromkeys(names, ""), rule))
    part, axis = _most_common(read)
    kept = [place for place in read if place.part == part and axis in place.seen]
    for place in read:
        if place not in kept:
            what = f"of {place.part or 'another part'}, not of {part or 'the others'}" if place.part != part else f"no {axis}"
            left_out[place.name] = f"{what}: its place on this curve is unknown; for a separate curve use model.revisions=[…]"
    if named and left_out:
        raise UserError(f"model.revisions: {next(iter(left_out))} is {next(iter(left_out.values()))}")
    axis = _distinct_axis(kept, axis)
    kept = _without_repetitions(sorted(kept, key=lambda place: place.seen[axis]), axis, left_out)
    return Places(axis, _doublings(kept, axis) if choice == "log" else kept, left_out)


def _cannot_be_placed(names: Mapping[str, str], rule: NamingRule) -> str:
    shown = ", ".join([*list(names)[:FEW], *(["…"] if len(names) > FEW else [])])
    how = f"model.pattern={rule.pattern} fits none" if rule.pattern else "these names give neither steps nor tokens nor words"
    return (
        f"{shown}: {how}; say where the number is (model.pattern=run_{{step}}, {{tokens}}, {{words}}) or give a table "
        "(model.places=places.csv with the columns name and step)"
    )


def _most_common(read: Sequence[CheckpointPlace]) -> tuple[str, Axis]:
    """The part and axis that most names have; among ties, the first part and the best axis."""
    parts = Counter(place.part for place in read)
    part = max(sorted(parts), key=lambda name: parts[name])
    own = [place for place in read if place.part == part]
    return part, max(AXES, key=lambda axis: sum(axis in place.seen for place in own))


def _distinct_axis(kept: Sequence[CheckpointPlace], axis: Axis) -> Axis:
    """Names round tokens (`tokens1B`): if two points would coincide, their steps distinguish them."""
    if len({place.seen[axis] for place in kept}) < len(kept) and all("steps" in place.seen for place in kept):
        return "steps"
    return axis


def _without_repetitions(ordered: Sequence[CheckpointPlace], axis: Axis, left_out: dict[str, str]) -> list[CheckpointPlace]:
    first: dict[int, CheckpointPlace] = {}
    for place in ordered:
        if first.setdefault(place.seen[axis], place) is not place:
            left_out[place.name] = f"the same {axis} as {first[place.seen[axis]].name}"
    return list(first.values())


def _doublings(ordered: Sequence[CheckpointPlace], axis: Axis) -> list[CheckpointPlace]:
    """The first, the last, and the one nearest to each doubling in between: evenly spread on a logarithmic axis."""
    positive = [place for place in ordered if place.seen[axis] > 0]
    if not positive:
        return list(ordered)
    kept = {ordered[0].name, ordered[-1].name}
    mark = positive[0].seen[axis]
    while mark <= positive[-1].seen[axis]:
        near = min(positive, key=lambda place: max(place.seen[axis] / mark, mark / place.seen[axis]))
        kept.add(near.name)
        mark *= 2
    return [place for place in ordered if place.name in kept]


def suite_and_seed(name: str) -> tuple[str, int | None]:
    """`pythia-160m-seed3` is seed 3 of `pythia-160m`, `multiberts-seed_0-step_20k` seed 0 of `multiberts`."""
    short = LABELLED.sub("", name).strip("-_./ ") or name
    found = SEED.search(short)
    return (SEED.sub("", short, count=1).strip("-_. "), int(found[1])) if found else (short, None)


def checkpoint_name(words: int) -> str:
    """`chck_1M`, as BabyLM names them; `chck_500k`, `chck_1234` for other than whole millions."""
    for unit, letter in ((MILLION, "M"), (1000, "k")):
        if words % unit == 0:
            return f"chck_{words // unit}{letter}"
    return f"chck_{words}"
