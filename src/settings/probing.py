"""Which challenge sets are probed, under which rules, and when."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

import yaml

from ..errors import UserError
from ..places import own_or_installed
from .reading import AtLeast, Count, Natural, Plain, added, machine, read

DEFAULT_PROTOCOL = "default"
AGREEMENT = "agreement"  # our own sets of a language
SHARED = "shared"
# fixed: the sets as they are; fit: words in the vocabulary; {shared: […]}: words that several vocabularies share. None: not
# decided yet; see `decide_lexicon`.
LexiconChoice = Literal["fit", "fixed"] | dict[str, tuple[str, ...]] | None
LEXICON_VALUES = "must be fit, fixed, or shared:[…] with runs, checkpoints or word files"
Moments = tuple[Annotated[float, AtLeast(0)], ...]


@dataclass(frozen=True)
class ScheduleSettings:
    """When a model is probed during training."""

    every_epochs: Count = 1
    epochs: Moments = ()
    steps: tuple[Natural, ...] = ()
    words: tuple[Natural, ...] = ()


@dataclass(frozen=True)
class ProbeSettings:
    """A collection of challenge sets. `rules` are the explicit ones; the protocol fills in the rest."""

    name: str
    format: str | None = None
    path: str | None = None
    constructions: tuple[str, ...] = ()
    limit: Count | None = None
    seed: Natural = 0
    split: Literal["all", "dev", "test"] = "all"
    protocol: str = DEFAULT_PROTOCOL
    # Rules added later are part of a run's name only if they are given.
    rules: dict[str, Plain] = field(default_factory=dict, metadata={"later": ("normalize",)})
    scoring: tuple[str, ...] | None = None
    sample: Count | None = None
    schedule: ScheduleSettings = field(default_factory=ScheduleSettings)
    groupings: dict[str, Plain] | None = machine(None)  # how items are grouped for display, not how they are judged
    screen: Literal["short", "full"] = machine("short")
    tier: Literal["core", "full", "all"] | None = added(None)
    lexicon: LexiconChoice = added("fixed")
    least: Count = added(10)  # occurrences of a form in the training text, for lexicon=fit and shared
    # Further collections on the same schedule: names from conf/probes, or {collection: own, name: mine, path: …} with overrides.
    also: tuple[str | dict[str, Plain], ...] = added(())
    # For a table: {good: …, bad: …, construction: …, masked: …} name the columns, if their own names do not tell.
    columns: dict[str, Plain] | None = added(None)

    def __post_init__(self) -> None:
        if isinstance(self.lexicon, Mapping) and (set(self.lexicon) != {SHARED} or not self.lexicon[SHARED]):
            raise UserError(f"probes.lexicon={dict(self.lexicon)}: {LEXICON_VALUES}")

    @property
    def fits_vocabulary(self) -> bool:
        """Whether the words of its sets are chosen to fit what models know."""
        return self.lexicon not in (None, "fixed")

    @property
    def is_none(self) -> bool:
        return self.name == "none"

    def tiers(self, built_in: bool | None) -> tuple[str, ...]:
        """The tiers of suites by preference; none: all. `built_in`: whether models were trained on the built-in corpus, if known.

        Suites requested by name are used whatever their tier.
        """
        if self.tier is not None:
            return () if self.tier == "all" else (self.tier,)
        if self.constructions or built_in is None:
            return ()
        return ("core", "full") if built_in else ("full", "core")

    @property
    def given_rules(self) -> Mapping[str, Plain]:
        """The explicit rules; null leaves a rule to the protocol."""
        return {name: value for name, value in self.rules.items() if value is not None}


def refuse_scoring(probes: ProbeSettings) -> None:
    """Our own models are scored in one way, left to right; another choice would be ignored."""
    if probes.scoring is not None:
        raise UserError(
            f"probes.scoring=[{','.join(probes.scoring)}]: only for pretrained models (model=hf); Concord models are "
            "scored left to right, word by word. Leave it out"
        )


def read_probe_settings(values: object) -> ProbeSettings:
    return read(ProbeSettings, values, "probes")


def decide_lexicon(probes: Mapping[str, Plain], built_in: bool) -> dict[str, Plain]:
    """The settings of a new run, in which our own sets are fitted to the vocabulary of real text; built-in corpora have the
    sets' words anyway.
    """
    if "lexicon" not in probes or probes["lexicon"] is not None:
        return dict(probes)
    also = probes.get("also") or ()
    further = also if isinstance(also, Sequence) and not isinstance(also, str) else (also,)
    return {**probes, "lexicon": "fit" if has_our_sets(probes.get("name"), further) and not built_in else "fixed"}


def has_our_sets(name: object, also: Sequence[object]) -> bool:
    """Whether our own sets are among the collections: the first one's name, and the further ones."""
    return AGREEMENT in (name, *(_collection(each) for each in also))


def _collection(entry: object) -> object:
    """What a further collection is called in conf/probes."""
    return entry.get("collection", entry.get("name", "")) if isinstance(entry, Mapping) else entry


def check_lexicon(probes: Mapping[str, Plain]) -> None:
    """Check the kind of value before it is read, to name all that it could be."""
    lexicon = probes.get("lexicon")
    if lexicon not in (None, "fit", "fixed") and not isinstance(lexicon, Mapping):
        shown = f"[{','.join(map(str, lexicon))}]" if isinstance(lexicon, list | tuple) else lexicon
        raise UserError(f"probes.lexicon={shown}: {LEXICON_VALUES}")


def all_collections(chosen: ProbeSettings) -> list[ProbeSettings]:
    """The collection itself and any further ones, each with its own path and rules, all on one schedule.

    None for probes=none.
    """
    found = [each for each in (chosen, *(_read_further(each, chosen) for each in chosen.also)) if not each.is_none]
    names = [each.name for each in found]
    if again := next((name for name in names if names.count(name) > 1), None):
        raise UserError(f"probes.also: two collections are named {again}; rename one (probes.name=)")
    return found


def _read_further(entry: str | Mapping[str, Plain], chosen: ProbeSettings) -> ProbeSettings:
    """A collection of conf/probes, with the settings of agreement.yaml as defaults."""
    given = {"collection": entry} if isinstance(entry, str) else dict(entry)
    collection = str(_collection(entry))
    given.pop("collection", None)
    files = collection_files()
    if collection not in files:
        raise UserError(f"probes.also: no collection {collection!r}; available: {', '.join(files)}")
    described = {name: yaml.safe_load(files[name].read_text(encoding="utf-8")) for name in (AGREEMENT, collection)}
    values = {**described[AGREEMENT], **described[collection], **given}
    values["rules"] = {**described[AGREEMENT]["rules"], **dict(given.get("rules") or {})}  # type: ignore[arg-type]
    values.pop("defaults", None)
    made = read(ProbeSettings, values, f"probes.also.{collection}")
    lexicon = chosen.lexicon if made.lexicon is None else made.lexicon
    return replace(made, sample=chosen.sample, schedule=chosen.schedule, lexicon=lexicon)


def collection_files() -> dict[str, Path]:
    """Every described collection, by its name: ours, the published ones, and the user's own."""
    files = {file.stem: file for folder in reversed(own_or_installed("conf/probes")) for file in folder.glob("*.yaml")}
    return dict(sorted(files.items()))
