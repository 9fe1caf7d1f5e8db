"""Groupings: named ways to divide items by their features, or to combine constructions. A collection declares them.

number: {by: [subject_number, attractor_number], groups: {matched: [[singular, singular], [plural, plural]], …}}
mood:   {by: mood}                                       one group per value that occurs: mood=calm
prep:   {by: construction, across: true, groups: {prep: [prep_anim, prep_inanim]}}      pooled over constructions
circuit: {by: circuit, across: true, combine: mean}      constructions weighted equally
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from ..errors import UserError

FeatureValue = str | int
Values = tuple[str, ...]
CONSTRUCTION = "construction"  # counts as a feature
RESERVED = ("all", "dev", "accuracy", "accuracy_dev", "n", "ties", "uncovered", "chance", "margin", "mean", "contrast")


@dataclass(frozen=True)
class Grouping:
    """`groups` names the combinations of values that belong together; without it each combination that occurs is a group."""

    name: str
    by: tuple[str, ...]
    groups: tuple[tuple[str, tuple[Values, ...]], ...] = ()
    across: bool = False  # across constructions, not within each
    combine: Literal["pool", "mean"] = "pool"  # for constructions: all items weighted equally, or all constructions

    def groups_of(self, features: Mapping[str, FeatureValue], construction: str) -> list[str]:
        """The groups an item belongs to: none if a feature is unknown, several if groups overlap."""
        values = tuple(str(self._value(features, construction, name)) for name in self.by)
        if self.groups:
            return [name for name, members in self.groups if values in members]
        if any(self._value(features, construction, name) is None for name in self.by):
            return []
        return [",".join(f"{name}={value}" for name, value in zip(self.by, values, strict=True))]

    def _value(self, features: Mapping[str, FeatureValue], construction: str, name: str) -> FeatureValue | None:
        return construction if name == CONSTRUCTION else features.get(name)

    def plain(self) -> dict[str, object]:
        """As it is declared."""
        found: dict[str, object] = {"by": list(self.by)}
        if self.groups:
            found["groups"] = {name: [list(values) for values in members] for name, members in self.groups}
        if self.across:
            found |= {"across": True, "combine": self.combine}
        return found

    def pooling(self, constructions: Collection[str]) -> "Grouping | None":
        """Only the groups that combine two or more of these constructions; None if there are none."""
        kept = tuple((name, own) for name, own in self.groups if sum(values[0] in constructions for values in own) > 1)
        return replace(self, groups=kept) if kept else None


_CELLS: dict[str, Values] = {
    "ss": ("singular", "singular"),
    "sp": ("singular", "plural"),
    "ps": ("plural", "singular"),
    "pp": ("plural", "plural"),
}
# Subject and attractor number, for everything that has them: the basis of every agreement table.
NUMBER = Grouping(
    "number",
    ("subject_number", "attractor_number"),
    (
        ("matched", (_CELLS["ss"], _CELLS["pp"])),
        ("mismatched", (_CELLS["sp"], _CELLS["ps"])),
        *((name, (values,)) for name, values in _CELLS.items()),
    ),
)
# Published sets with animate and with inanimate nouns, pooled in Tables 3 and 7 of Mueller et al. (2020).
_BOTH = (
    "prep",
    "obj_rel_across",
    "obj_rel_within",
    "obj_rel_no_comp_across",
    "obj_rel_no_comp_within",
    "npi_across",
    "simple_npi",
)
ANIMACY = Grouping(
    "animacy", (CONSTRUCTION,), tuple((name, ((f"{name}_anim",), (f"{name}_inanim",))) for name in _BOTH), across=True
)


def read_groupings(declared: object, place: str) -> tuple[Grouping, ...]:
    """From plain values; `place` is where they were written, for errors."""
    if not isinstance(declared, Mapping):
        raise UserError(f"{place}: groupings must be given by name, {{mood: {{by: mood}}}}; this is {str(declared)[:60]!r}")
    found = tuple(_read(str(name), value, f"{place}.{name}") for name, value in declared.items() if value is not None)
    names = [group for each in found if not each.across for group, _ in each.groups]
    if again := next((name for name in names if names.count(name) > 1 or name in RESERVED), None):
        raise UserError(f"{place}: the group name {again!r} is taken; choose another")
    return found


def _read(name: str, value: object, place: str) -> Grouping:
    if not isinstance(value, Mapping):
        raise UserError(f"{place}: a grouping must be a mapping with by, groups, across and combine; this is {str(value)[:60]!r}")
    if unknown := sorted(set(map(str, value)) - {"by", "groups", "across", "combine"}):
        raise UserError(f"{place}.{unknown[0]}: unknown key; available: by, groups, across, combine")
    by = _texts(value.get("by"), f"{place}.by")
    if not by:
        raise UserError(f"{place}.by: name one or more features to group by")
    across, combine = value.get("across", False), value.get("combine", "pool")
    if not isinstance(across, bool):
        raise UserError(f"{place}.across={across}: must be true or false")
    if combine not in ("pool", "mean"):
        raise UserError(f"{place}.combine={combine}: must be pool or mean")
    groups = _groups(value.get("groups"), len(by), f"{place}.groups")
    return Grouping(name, by, groups, across, cast("Literal['pool', 'mean']", combine))


def _groups(value: object, width: int, place: str) -> tuple[tuple[str, tuple[Values, ...]], ...]:
    if value is None:
        return ()
    if not isinstance(value, Mapping) or not value:
        raise UserError(f"{place}: groups must be lists of values by name; this is {str(value)[:60]!r}")
    found = []
    for name, members in value.items():
        rows = [members] if isinstance(members, str | int) else members
        if not isinstance(rows, Sequence):
            raise UserError(f"{place}.{name}: must be a list of values; this is {str(rows)[:60]!r}")
        made = tuple(_texts(row, f"{place}.{name}") for row in rows)
        if wrong := next((row for row in made if len(row) != width), None):
            raise UserError(f"{place}.{name}: {list(wrong)} has {len(wrong)} values where `by` names {width} features")
        found.append((str(name), made))
    return tuple(found)


def _texts(value: object, place: str) -> Values:
    rows = [value] if isinstance(value, str | int) and not isinstance(value, bool) else value
    if not isinstance(rows, list | tuple) or not all(isinstance(each, str | int) for each in rows):
        raise UserError(f"{place}: must be text or a list of texts; this is {str(value)[:60]!r}")
    return tuple(map(str, rows))
