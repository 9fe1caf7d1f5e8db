"""Collections: the sets of a folder or file, chosen, sampled and split as a study asks for them."""

import random
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .cache import read_cached
from .challenge_set import ChallengeSet, SetError
from .readers import files_of, recognise
from .rules import Rules, applied
from .splits import split


@dataclass(frozen=True)
class Selection:
    """Which constructions (all if none are named), at most how many items of each, drawn by the seed, and which part."""

    constructions: tuple[str, ...] = ()
    limit: int | None = None
    seed: int = 0
    part: Literal["all", "dev", "test"] = "all"
    rules: Rules | None = None  # None: the sentences as their source has them


@dataclass(frozen=True)
class Collected:
    """A set, the format it was read as, how many items it had, how many of them were repetitions, and the rule of its split."""

    challenge_set: ChallengeSet
    form: str
    size: int
    repeated: int
    rule: str


def collect(path: Path, language: str, form: str | None, cache: Path, selection: Selection) -> list[Collected]:
    """All sets below a path that the selection asks for."""
    sets = []
    for file in files_of(path, form):
        name = form or recognise(file)
        sets += [(made, name) for made in read_cached(file, language, name, cache)]
    _known([made.construction for made, _ in sets], selection.constructions, path)
    wanted = [(made, name) for made, name in sets if not selection.constructions or made.construction in selection.constructions]
    return [_selected(made, name, selection) for made, name in wanted]


def _known(there: Collection[str], asked: Sequence[str], path: Path) -> None:
    unknown = [name for name in asked if name not in there]
    if unknown:
        raise SetError(path, None, f"no construction {', '.join(unknown)}; there are: {', '.join(sorted(set(there)))}")


def _selected(made: ChallengeSet, form: str, selection: Selection) -> Collected:
    size, repeated, rule = len(made), 0, ""
    if selection.rules is not None:
        made, repeated = applied(made, selection.rules)
    if selection.part != "all":
        halves = split(made)
        made, rule = made.subset(halves.dev if selection.part == "dev" else halves.test), halves.rule
    if selection.limit is not None and selection.limit < len(made):
        made = made.subset(stratified(made, selection.limit, selection.seed))
    return Collected(made, form, size, repeated, rule)


def stratified(made: ChallengeSet, limit: int, seed: int) -> list[int]:
    """`limit` items, as many from each combination of subject and attractor number as there are to be had."""
    cells: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    for index, features in enumerate(made.features):
        cells[features.get("subject_number"), features.get("attractor_number")].append(index)
    rng = random.Random(seed)
    for members in cells.values():
        rng.shuffle(members)
    chosen: list[int] = []
    while len(chosen) < limit:
        for members in cells.values():
            if members and len(chosen) < limit:
                chosen.append(members.pop())
    return sorted(chosen)
