"""One type for every challenge set: minimal sets of variants with spans, features, and contrasts that must hold.

A set is stored in columns (one list entry per variant, shared objects for what repeats), since half a million sentences are
common; the small frozen objects are views, made on demand.
"""

import hashlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from ..errors import UserError
from .contrast import Contrast
from .groupings import Grouping

Value = str | int
TARGET = "target"
# Formats in which `lines` counts items: sentences of a grammar have no lines of their own.
NOT_BY_LINE = (".avg", ".pickle", ".pkl", ".json", ".parquet")


class SetError(UserError):
    """A challenge set that cannot be read: the file, the line, what is wrong, what to do."""

    def __init__(self, file: Path | str, line: int | None, message: str) -> None:
        super().__init__(f"{file}:{line}: {message}" if line is not None else f"{file}: {message}")


class Span(NamedTuple):
    """A stretch of words in a variant, from `start` up to `end`. It may be empty (a region without words)."""

    name: str
    start: int
    end: int


class Origin(NamedTuple):
    """Where a minimal set comes from."""

    dataset: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Variant:
    """One sentence of a minimal set. `grammatical` is None if the source does not say."""

    role: str
    grammatical: bool | None
    words: tuple[str, ...]
    text: str | None
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class MinimalSet:
    """Variants that differ in what is tested, and everything known about them."""

    uid: str
    construction: str
    features: Mapping[str, Value]
    variants: tuple[Variant, ...]
    source: Origin

    def __getitem__(self, role: str) -> Variant:
        for variant in self.variants:
            if variant.role == role:
                return variant
        raise KeyError(f"no variant {role!r}; available: {', '.join(variant.role for variant in self.variants)}")


@dataclass
class ChallengeSet(Sequence[MinimalSet]):
    """All minimal sets of one construction. Set i has the variants `firsts[i]` up to `firsts[i + 1]`."""

    construction: str
    language: str
    dataset: str
    file: str
    # Contrasts apply to all sets alike; none means that every grammatical variant must beat every ungrammatical one.
    contrasts: tuple[Contrast, ...] = ()
    firsts: list[int] = field(default_factory=lambda: [0])
    lines: list[int] = field(default_factory=list)
    features: list[Mapping[str, Value]] = field(default_factory=list)
    roles: list[str] = field(default_factory=list)
    grammatical: list[bool | None] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    texts: list[str | None] = field(default_factory=list)
    spans: list[tuple[Span, ...]] = field(default_factory=list)
    # The original sentences, if scoring rules have changed them; items are identified by these.
    originals: list[str] = field(default_factory=list)
    # The file of each minimal set, if there are several; empty if all come from `file`.
    files: list[str] = field(default_factory=list)
    # The source's own item names, if it has any: sister sets share them. Empty: names are derived from the sentences.
    names: list[str] = field(default_factory=list)
    # If no contrasts are stated: whether all ungrammatical variants must be beaten at once, or each is its own contrast.
    together: bool = False
    # What the file itself declares: how its items are grouped, and scoring rules that apply under every protocol.
    groupings: tuple[Grouping, ...] = ()
    fixed_rules: Mapping[str, str | bool] = field(default_factory=dict)
    # For a suite with several predictions: whether an item counts by all, by the first, or by each. Empty: not declared.
    item_rule: str = ""

    def add(self, line: int, features: Mapping[str, Value], variants: Sequence[Variant]) -> None:
        """Add one minimal set."""
        if len(variants) < 1 or len({v.role for v in variants}) < len(variants):
            raise SetError(self.file, line, f"the roles in a minimal set must differ; they are {[v.role for v in variants]}")
        for variant in variants:
            self.roles.append(variant.role)
            self.grammatical.append(variant.grammatical)
            self.sentences.append(" ".join(variant.words))
            self.texts.append(variant.text)
            self.spans.append(variant.spans)
        self.lines.append(line)
        self.features.append(features)
        self.firsts.append(len(self.roles))

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, index: int) -> MinimalSet:  # type: ignore[override]
        if not -len(self) <= index < len(self):
            raise IndexError(f"{self.construction} has {len(self):,} minimal sets, but no number {index}")
        index %= len(self)
        variants = tuple(self._variant(i) for i in range(self.firsts[index], self.firsts[index + 1]))
        source = Origin(self.dataset, self.file_of(index), self.lines[index])
        return MinimalSet(self.uid(index), self.construction, self.features[index], variants, source)

    def __iter__(self) -> Iterator[MinimalSet]:
        return (self[i] for i in range(len(self)))

    @property
    def declared(self) -> tuple[object, ...]:
        """What applies to all its items."""
        return self.contrasts, self.together, self.groupings, self.fixed_rules, self.item_rule

    @property
    def is_suite(self) -> bool:
        """Whether its variants are divided into regions, which its contrasts compare by name."""
        return bool(self.contrasts) and all(contrast.tested == "named" for contrast in self.contrasts)

    @property
    def contrasts_are_stated(self) -> bool:
        """Whether the source states contrasts beyond those between the targets of a good and a bad form."""
        return any(not contrast.is_pair or set(contrast.roles()) != {"good", "bad"} for contrast in self.contrasts)

    def file_of(self, index: int) -> str:
        return self.files[index] if self.files else self.file

    def place(self, index: int) -> str:
        """Where a minimal set is: the line of its file, or its number if the file is not line by line."""
        file = self.file_of(index)
        return f"{file}, item {self.lines[index]}" if file.endswith(NOT_BY_LINE) else f"{file}:{self.lines[index]}"

    def uid(self, index: int) -> str:
        """A name that stays the same when other sets come or go: the source's own, or derived from it and the sentences."""
        if self.names:
            return self.names[index]
        own = (self.originals or self.sentences)[self.firsts[index] : self.firsts[index + 1]]
        return item_uid(self.dataset, self.language, self.construction, own)

    def subset(self, indices: Sequence[int]) -> "ChallengeSet":
        """The same set with only these minimal sets, in this order."""
        chosen = [range(self.firsts[i], self.firsts[i + 1]) for i in indices]
        flat = [i for each in chosen for i in each]
        return replace(
            self,
            firsts=[0, *itertools.accumulate(map(len, chosen))],
            lines=[self.lines[i] for i in indices],
            features=[self.features[i] for i in indices],
            roles=[self.roles[i] for i in flat],
            grammatical=[self.grammatical[i] for i in flat],
            sentences=[self.sentences[i] for i in flat],
            texts=[self.texts[i] for i in flat],
            spans=[self.spans[i] for i in flat],
            originals=[self.originals[i] for i in flat] if self.originals else [],
            files=[self.files[i] for i in indices] if self.files else [],
            names=[self.names[i] for i in indices] if self.names else [],
        )

    def feature_names(self) -> list[str]:
        return list(dict.fromkeys(name for features in self.features for name in features))

    def _variant(self, i: int) -> Variant:
        words = tuple(self.sentences[i].split())
        return Variant(self.roles[i], self.grammatical[i], words, self.texts[i], self.spans[i])


def item_uid(dataset: str, language: str, construction: str, sentences: Sequence[str]) -> str:
    """The name of an item that its source does not name."""
    return hashlib.blake2b("\n".join([dataset, language, construction, *sentences]).encode(), digest_size=8).hexdigest()


def merge_sets(sets: Sequence[ChallengeSet]) -> list[ChallengeSet]:
    """Merge the sets of one construction that are spread over several files (one per condition, as in gevalm)."""
    groups: dict[tuple[str, str, str], list[ChallengeSet]] = {}
    for made in sets:
        groups.setdefault((made.dataset, made.language, made.construction), []).append(made)
    return [group[0] if len(group) == 1 else _joined(group) for group in groups.values()]


def _joined(group: Sequence[ChallengeSet]) -> ChallengeSet:
    first = group[0]
    if other := next((made for made in group if made.declared != first.declared), None):
        raise SetError(
            other.file,
            None,
            f"{first.construction} is also in {first.file}, with other contrasts or groupings; rename one of them",
        )
    names = [made.uid(i) for made in group for i in range(len(made))] if any(made.names for made in group) else []
    whole = replace(
        first,
        firsts=[0],
        lines=[],
        features=[],
        roles=[],
        grammatical=[],
        sentences=[],
        texts=[],
        spans=[],
        files=[],
        names=names,
    )
    for made in group:
        whole.firsts += [len(whole.roles) + end for end in made.firsts[1:]]
        whole.files += [made.file_of(i) for i in range(len(made))]
        for name in ("lines", "features", "roles", "grammatical", "sentences", "texts", "spans"):
            getattr(whole, name).extend(getattr(made, name))
    return whole


def numbered_roles(grammatical: Sequence[bool | None]) -> list[str]:
    """good, bad; with several of a kind bad, bad2, bad3 …"""
    names, seen = [], {True: 0, False: 0, None: 0}
    for flag in grammatical:
        seen[flag] += 1
        name = {True: "good", False: "bad", None: "variant"}[flag]
        names.append(name if seen[flag] == 1 else f"{name}{seen[flag]}")
    return names


def differing(one: Sequence[str], other: Sequence[str]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Where two sentences differ: what remains of each without their common beginning and end."""
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return (start, len(one) - end), (start, len(other) - end)
