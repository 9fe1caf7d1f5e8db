"""Collections: the sets of a folder or file, chosen, sampled and split as a study asks for them."""

import itertools
import random
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ..data.download import Downloads, default_downloads
from ..errors import UserError
from ..places import installed_folder, own_folder
from ..settings.languages import Clitics
from .cache import read_cached
from .challenge_set import ChallengeSet, SetError, merge_sets
from .contract import Contract, apply_rules
from .dev_and_test import split
from .dev_and_test import target_forms as forms_of
from .feature_columns import check_feature_names
from .published_sets import fetch_dataset, fetch_published
from .readers import files_of, recognise
from .suites.tiers import of_tier

SHIPPED = ("grammars", "suites")  # folders of sets that come with the program
PUBLISHED, HUB, TABLE = "published:", "hf:", "table"  # what is fetched by name: sets that we know, and any data set of the hub


@dataclass(frozen=True)
class ItemSelection:
    """Which constructions (all if none are named), at most how many items of each, drawn by the seed, and which part."""

    constructions: tuple[str, ...] = ()
    limit: int | None = None
    seed: int = 0
    part: Literal["all", "dev", "test"] = "all"
    contract: Contract | None = None  # None: the sentences as their source has them, to be looked at but not to be scored
    clitics: Clitics = "split"  # how grammars render what a script glues together
    tiers: tuple[str, ...] = ()  # of suites: the first of these that there are; none: all
    columns: Mapping[str, object] | None = None  # of tables: which hold the sentences, where their names do not tell
    lower: bool = False  # of suites, which are written with a capital: begin in lower case, as the sentences of a corpus do

    def __post_init__(self) -> None:
        if self.limit is not None and not (isinstance(self.limit, int) and self.limit > 0):
            raise UserError(f"probes.limit={self.limit}: a whole number above 0 is needed, or null for all")
        if self.part not in ("all", "dev", "test"):
            raise UserError(f"probes.split={self.part}: write all, dev or test")


@dataclass(frozen=True)
class CollectedSet:
    """A set, the format it was read as, how many items it had, how many of them were repetitions, and the rule of its split.

    The contract is that by which its sentences look as they do, and so the only one by which they can be scored. `words` says how
    its words were chosen, if they were.
    """

    challenge_set: ChallengeSet
    form: str
    size: int
    repeated: int
    rule: str
    contract: Contract | None = None
    words: str = ""


@dataclass(frozen=True)
class Fitted:
    """Sets whose words were chosen for a vocabulary, by construction, and how they were."""

    sets: Mapping[str, ChallengeSet]
    told: str


def locate(path: str, language: str, downloads: Downloads | None = None) -> Path:
    """Where a collection is: `{lang}` is the language; what is not in the user's own folder may be part of the program.

    `published:blimp` is fetched if it is not there yet, and so is `hf:owner/name` (or a part of it, `hf:owner/name/folder`).
    """
    if path.startswith(PUBLISHED):
        return fetch_published(path.removeprefix(PUBLISHED), language, downloads or default_downloads())
    path = path.replace("{lang}", language)
    if path.startswith(HUB):
        return _fetch_from_hub(path, downloads or default_downloads())
    top, _, below = path.partition("/")
    if top in SHIPPED and not (own_folder() / path).exists():
        return installed_folder(top) / below
    return own_folder() / path if top in SHIPPED else Path(path)


def _fetch_from_hub(path: str, downloads: Downloads) -> Path:
    parts = path.removeprefix(HUB).split("/", 2)
    if len(parts) < 2 or not all(re.fullmatch(r"\w[\w.-]*", part) for part in parts[:2]):
        raise UserError(f"probes.path={path}: a data set of the hub is written hf:owner/name, or hf:owner/name/folder")
    folder = downloads.folder / "hub" / "--".join(parts[:2])
    return fetch_dataset("/".join(parts[:2]), folder, downloads, part="".join(parts[2:]))


def collect(
    path: Path, language: str, form: str | None, cache: Path, selection: ItemSelection, fitted: Fitted | None = None
) -> list[CollectedSet]:
    """All sets below a path that the selection asks for; `fitted` are taken in the place of those of the same construction."""
    sets: list[ChallengeSet] = []
    forms: dict[str, str] = {}
    if selection.columns and form not in (None, TABLE):
        raise UserError(f"probes.columns: for tables, and these sets are read as {form}; leave it out, or probes.format={TABLE}")
    form = TABLE if selection.columns else form
    for file in files_of(path, form):
        name = form or recognise(file)
        found = read_cached(file, language, name, cache, selection.clitics, selection.columns)
        for made in found:
            check_feature_names(made)
        forms |= {made.dataset: name for made in found}
        sets += found
    sets = merge_sets(sets)
    exchanged = fitted.sets if fitted else {}
    sets = [exchanged.get(each.construction, each) for each in sets]
    _known([made.construction for made in sets], selection.constructions, path)
    wanted = [made for made in sets if not selection.constructions or made.construction in selection.constructions]
    chosen = [_selected(made, forms[made.dataset], selection) for made in of_tier(wanted, selection.tiers, path)]
    if fitted is None:
        return chosen
    return [replace(each, words=fitted.told) if each.challenge_set.construction in exchanged else each for each in chosen]


def _known(there: Collection[str], asked: Sequence[str], path: Path) -> None:
    unknown = [name for name in asked if name not in there]
    if unknown:
        raise SetError(path, None, f"no construction {', '.join(unknown)}; there are: {', '.join(sorted(set(there)))}")


def _selected(made: ChallengeSet, form: str, selection: ItemSelection) -> CollectedSet:
    size, repeated, rule = len(made), 0, ""
    if selection.lower and made.is_suite:
        made = replace(made, fixed_rules={**made.fixed_rules, "capitalize": "lower"})
    if selection.contract is not None:
        made, repeated = apply_rules(made, selection.contract.rules_for(made))
    if selection.part != "all":
        halves = split(made)
        made, rule = made.subset(halves.dev if selection.part == "dev" else halves.test), halves.rule
    if selection.limit is not None and selection.limit < len(made):
        made = made.subset(stratified_sample(made, selection.limit, selection.seed))
    return CollectedSet(made, form, size, repeated, rule, selection.contract)


def stratified_sample(made: ChallengeSet, limit: int, seed: int) -> list[int]:
    """`limit` items: as many of each combination of subject and attractor number, and in it of each pair of forms, as there are.

    So a model that prefers one number, or one verb, stands as near to chance as it does on the whole set.
    """
    cells: defaultdict[tuple[object, ...], defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for index, features in enumerate(made.features):
        cells[features.get("subject_number"), features.get("attractor_number")][forms_of(made, index)].append(index)
    rng = random.Random(seed)
    for members in (members for groups in cells.values() for members in groups.values()):
        rng.shuffle(members)
    queues = [_in_turn(list(groups.values())) for groups in cells.values()]
    return sorted(itertools.islice(_in_turn(queues), limit))


def _in_turn(queues: Sequence[Iterable[int]]) -> Iterator[int]:
    """One of each, again and again, until all are empty."""
    for row in itertools.zip_longest(*queues):
        yield from (index for index in row if index is not None)
