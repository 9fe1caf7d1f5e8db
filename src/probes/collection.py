"""Collections: the sets of a folder or file, selected, sampled and split as a study requires.

Dev and test are split by the tested forms, so that the verbs in test are not those in dev. A hash of the pair of forms decides,
so the split is the same everywhere and for ever: a dev verb is a dev verb in every set, however many others there are,
capitalised or not. If a set has fewer than four pairs of forms, the context decides: the word in the first position with at
least four different ones; if there is no such position, each item on its own.
"""

import hashlib
import itertools
import random
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..data.download import Downloads, default_downloads
from ..errors import UserError
from ..places import installed_folder, own_folder
from ..settings.languages import Clitics
from .cache import read_cached
from .challenge_set import TARGET, ChallengeSet, SetError, merge_sets
from .contract import Contract, apply_rules
from .feature_columns import check_feature_names
from .published_sets import fetch_dataset, fetch_published
from .readers import files_of, recognise
from .suites.tiers import of_tier

SHIPPED = ("grammars", "suites")  # folders of sets that come with the program
PUBLISHED, HUB, TABLE = "published:", "hf:", "table"  # what is fetched by name: sets we know, and any dataset on the hub
FEWEST = 4
# Any would do; with this one each half of all our own and the published French sets has at least a quarter of the items.
SALT = b"split 191"


@dataclass(frozen=True)
class ItemSelection:
    """Which constructions (by default all), at most how many items of each, sampled with the seed, and which split."""

    constructions: tuple[str, ...] = ()
    limit: int | None = None
    seed: int = 0
    part: Literal["all", "dev", "test"] = "all"
    contract: Contract | None = None  # None: the sentences as in their source, for viewing but not for scoring
    clitics: Clitics = "split"  # how grammars render what a script joins
    tiers: tuple[str, ...] = ()  # for suites: the first of these tiers that exists; none: all
    columns: Mapping[str, object] | None = None  # for tables: which columns hold the sentences, if their names do not tell
    lower: bool = False  # for suites, which are written with a capital: start in lower case, as the corpus's sentences do

    def __post_init__(self) -> None:
        if self.limit is not None and not (isinstance(self.limit, int) and self.limit > 0):
            raise UserError(f"probes.limit={self.limit}: must be a whole number above 0, or null for all")
        if self.part not in ("all", "dev", "test"):
            raise UserError(f"probes.split={self.part}: must be all, dev or test")


@dataclass(frozen=True)
class CollectedSet:
    """A set, the format it was read as, how many items it had, how many were duplicates, and the rule of its split.

    The contract is the one its sentences were prepared under, and so the only one they can be scored under. `words` says how
    its words were chosen, if they were. `dev` marks the items set aside for model selection: decided on the whole set, and kept
    by parts of it.
    """

    challenge_set: ChallengeSet
    form: str
    size: int
    repeated: int
    rule: str
    contract: Contract | None = None
    words: str = ""
    dev: NDArray[np.bool_] | None = field(default=None, compare=False)

    def subset(self, indices: Sequence[int]) -> "CollectedSet":
        """The same with fewer items."""
        return replace(self, challenge_set=self.challenge_set.subset(indices), dev=self.dev_items()[list(indices)])

    def dev_items(self) -> NDArray[np.bool_]:
        """One mark per item."""
        return mark_dev(self.challenge_set) if self.dev is None else self.dev


@dataclass(frozen=True)
class Fitted:
    """Sets whose words were chosen for a vocabulary, by construction, and how they were chosen."""

    sets: Mapping[str, ChallengeSet]
    told: str


def locate(path: str, language: str, downloads: Downloads | None = None) -> Path:
    """Where a collection is: `{lang}` is the language; what is not in the user's own folder may come with the program.

    `published:blimp` is fetched if it is missing, and so is `hf:owner/name` (or a part of it, `hf:owner/name/folder`).
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
        raise UserError(f"probes.path={path}: write a dataset on the hub as hf:owner/name or hf:owner/name/folder")
    folder = downloads.folder / "hub" / "--".join(parts[:2])
    return fetch_dataset("/".join(parts[:2]), folder, downloads, part="".join(parts[2:]))


def collect(
    path: Path, language: str, form: str | None, cache: Path, selection: ItemSelection, fitted: Fitted | None = None
) -> list[CollectedSet]:
    """All selected sets under a path; `fitted` sets replace those of the same construction."""
    sets: list[ChallengeSet] = []
    forms: dict[str, str] = {}
    if selection.columns and form not in (None, TABLE):
        raise UserError(
            f"probes.columns: only for tables, but these sets are read as {form}; leave it out, or set probes.format={TABLE}"
        )
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
        raise SetError(path, None, f"no construction {', '.join(unknown)}; available: {', '.join(sorted(set(there)))}")


def _selected(made: ChallengeSet, form: str, selection: ItemSelection) -> CollectedSet:
    size, repeated, rule = len(made), 0, ""
    if selection.lower and made.is_suite:
        made = replace(made, fixed_rules={**made.fixed_rules, "capitalize": "lower"})
    if selection.contract is not None:
        made, repeated = apply_rules(made, selection.contract.rules_for(made))
    whole = CollectedSet(made, form, size, repeated, rule, selection.contract)
    if selection.part != "all":
        halves = split(made)
        marked = replace(whole, rule=halves.rule, dev=_marks(halves.dev, len(made)))
        whole = marked.subset(halves.dev if selection.part == "dev" else halves.test)
    if selection.limit is not None and selection.limit < len(whole.challenge_set):
        whole = whole.subset(stratified_sample(whole.challenge_set, selection.limit, selection.seed))
    return whole


def stratified_sample(made: ChallengeSet, limit: int, seed: int) -> list[int]:
    """`limit` items, balanced over subject and attractor number and, within each combination, over pairs of forms.

    A model that prefers one number, or one verb, is thus as close to chance as on the whole set.
    """
    cells: defaultdict[tuple[object, ...], defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for index, features in enumerate(made.features):
        cells[features.get("subject_number"), features.get("attractor_number")][target_forms(made, index)].append(index)
    rng = random.Random(seed)
    for members in (members for groups in cells.values() for members in groups.values()):
        rng.shuffle(members)
    queues = [_in_turn(list(groups.values())) for groups in cells.values()]
    return sorted(itertools.islice(_in_turn(queues), limit))


def _in_turn(queues: Sequence[Iterable[int]]) -> Iterator[int]:
    """One from each queue in turn, until all are empty."""
    for row in itertools.zip_longest(*queues):
        yield from (index for index in row if index is not None)


@dataclass(frozen=True)
class DevTestSplit:
    """Indices of the minimal sets, and the rule that separated them."""

    dev: list[int]
    test: list[int]
    rule: str


def split(made: ChallengeSet) -> DevTestSplit:
    """Every minimal set is in dev or in test."""
    everything = range(len(made))
    rule, keys = "forms", [target_forms(made, i) for i in everything]
    if len(set(keys)) < FEWEST:
        rule, keys = "context word", _context_words(made)
    if len(set(keys)) < FEWEST:
        rule, keys = "item", [_item(made, i) for i in everything]
    in_dev = _halves(sorted(set(keys)))
    dev, test = ([i for i in everything if in_dev[keys[i]] is half] for half in (True, False))
    return DevTestSplit(dev, test, rule)


def mark_dev(made: ChallengeSet) -> NDArray[np.bool_]:
    """Which minimal sets are in dev."""
    return _marks(split(made).dev, len(made))


def _marks(indices: Sequence[int], size: int) -> NDArray[np.bool_]:
    marks = np.zeros(size, bool)
    marks[indices] = True
    return marks


def _halves(keys: Sequence[str]) -> dict[str, bool]:
    """By the hash of each key alone; only if all would fall on one side, half of them each, in hash order."""
    ranks = {key: hashlib.blake2b(key.encode(), digest_size=8, salt=SALT).digest() for key in keys}
    in_dev = {key: rank[0] < 128 for key, rank in ranks.items()}
    if len(set(in_dev.values())) == 2:
        return in_dev
    order = sorted(keys, key=ranks.__getitem__)
    return {key: place < len(order) // 2 for place, key in enumerate(order)}


def target_forms(made: ChallengeSet, index: int) -> str:
    """The target words of all variants, whichever is good: lacht/lachen."""
    found = set()
    for i in range(made.firsts[index], made.firsts[index + 1]):
        words = _words(made.sentences[i])
        targets = (words[start:end] for name, start, end in made.spans[i] if name.startswith(TARGET))
        found.add(" … ".join(" ".join(target) for target in targets))
    return "/".join(sorted(found))


def _context_words(made: ChallengeSet) -> list[str]:
    """The words in the first position that distinguishes enough items and is not a target in any."""
    firsts = [_words(made.sentences[i]) for i in made.firsts[:-1]]
    spans = {span for i in made.firsts[:-1] for span in made.spans[i] if span.name.startswith(TARGET)}
    targets = {at for _, start, end in spans for at in range(start, end)}
    shortest = min((len(words) for words in firsts), default=0)
    places = (place for place in range(shortest) if place not in targets)
    place = next((place for place in places if len({words[place] for words in firsts}) >= FEWEST), None)
    return ["" if place is None else words[place] for words in firsts]


def _item(made: ChallengeSet, index: int) -> str:
    return "\n".join(" ".join(_words(made.sentences[i])) for i in range(made.firsts[index], made.firsts[index + 1]))


def _words(sentence: str) -> list[str]:
    """Scoring rules may add a capital and a full stop; neither moves an item between dev and test."""
    return sentence.lower().removesuffix(" .").split()
