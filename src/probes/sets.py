"""Challenge sets for users of the library: by language, by collection, or from a folder or file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from ..data.grammar import languages
from ..places import cache_folder
from ..settings.probing import AGREEMENT, ProbeSettings
from ..settings.reading import Plain
from .challenge_set import ChallengeSet
from .collection import ItemSelection, collect
from .named_collections import named_collection
from .published_sets import PUBLISHED

OWN = "own"  # the name of a folder's or file's sets in metrics and files


@dataclass(frozen=True)
class Sets:
    """Challenge sets of one language: which ones, and how many items of each. `sets["prep"]` is one of them."""

    name: str
    language: str
    path: Path
    format: str | None = None
    constructions: tuple[str, ...] = ()
    limit: int | None = None
    seed: int = 0
    split: Literal["all", "dev", "test"] = "all"
    columns: Mapping[str, Any] | None = None  # for tables whose headers do not tell

    @cached_property
    def read(self) -> dict[str, ChallengeSet]:
        """The sets as in their source, by construction."""
        selection = ItemSelection(self.constructions, self.limit, self.seed, self.split, columns=self.columns)
        found = collect(self.path, self.language, self.format, cache_folder("sets"), selection)
        return {each.challenge_set.construction: each.challenge_set for each in found}

    def __iter__(self) -> Iterator[str]:
        return iter(self.read)

    def __getitem__(self, construction: str) -> ChallengeSet:
        return self.read[construction]

    def __len__(self) -> int:
        return len(self.read)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name} {len(made):,}" for name, made in self.read.items())
        return f"Sets({self.name}, {self.language}: {sizes})"

    def settings(self, protocol: str, rules: dict[str, Plain]) -> ProbeSettings:
        """As the commands use them."""
        return ProbeSettings(
            name=self.name,
            format=self.format,
            path=str(self.path),
            constructions=self.constructions,
            limit=self.limit,
            seed=self.seed,
            split=self.split,
            protocol=protocol,
            rules=rules,
            columns=None if self.columns is None else dict(self.columns),
        )


def sets(
    what: str | Path,
    *constructions: str,
    language: str = "",
    collection: str = AGREEMENT,
    path: str | Path | None = None,
    format: str | None = None,  # noqa: A002 - the word the commands use
    limit: int | None = None,
    seed: int = 0,
    split: Literal["all", "dev", "test"] = "all",
    columns: Mapping[str, Any] | None = None,
) -> Sets:
    """Our sets of a language (`concord.sets("de")`, `concord.sets("de", "prep")`), or those of a folder or a file in any format.

    A published collection has a name and is fetched once (`concord.sets("blimp")`, `concord.sets("multiblimp", language="nl")`),
    or is where you put it: `concord.sets("fr", collection="clams", path="clams/fr_evalset")`.
    `limit` draws a stratified sample of this many items per set, with the seed; `split="dev"` keeps the dev verbs.
    `columns` is for tables whose header does not tell: `{"good": "right", "bad": "wrong", "construction": "type"}`.
    """
    choice = (constructions, limit, seed, split)
    if str(what) in PUBLISHED and not Path(what).exists():
        code = language or next(iter(PUBLISHED[str(what)].languages), "")
        named = named_collection(str(what), code)
        return Sets(str(what), code, named.place(), format or named.format, *choice, columns or named.columns)
    if str(what) in languages():
        named = named_collection(collection, str(what))
        place = Path(path) if path else named.place()
        return Sets(collection, str(what), place, format or named.format, *choice, columns or named.columns)
    made = Sets(OWN, language, Path(what), format, *choice, columns)
    _ = made.read  # errors in a folder are raised here
    return made
