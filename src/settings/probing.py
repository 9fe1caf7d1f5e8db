"""Which challenge sets are asked, under which rules, and when."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from .reading import AtLeast, Count, Natural, Plain, added, machine, read

Moments = tuple[Annotated[float, AtLeast(0)], ...]


@dataclass(frozen=True)
class ScheduleSettings:
    """When a model is probed while it learns."""

    every_epochs: Count = 1
    epochs: Moments = ()
    steps: tuple[Natural, ...] = ()
    words: tuple[Natural, ...] = ()


@dataclass(frozen=True)
class ProbeSettings:
    """A collection of challenge sets. `rules` are those that were given; the protocol fills in the rest."""

    name: str
    format: str | None = None
    path: str | None = None
    constructions: tuple[str, ...] = ()
    limit: Count | None = None
    seed: Natural = 0
    split: Literal["all", "dev", "test"] = "all"
    protocol: str = "default"
    rules: dict[str, Plain] = field(default_factory=dict)
    scoring: tuple[str, ...] | None = None
    sample: Count | None = None
    schedule: ScheduleSettings = field(default_factory=ScheduleSettings)
    groupings: dict[str, Plain] | None = machine(None)  # how items are shown together, not how they are judged
    tier: Literal["core", "full", "all"] | None = added(None)

    @property
    def is_none(self) -> bool:
        return self.name == "none"

    def tiers(self, built_in: bool | None) -> tuple[str, ...]:
        """The tiers of suites by preference; none: all. `built_in`: whether those asked have read the built-in corpus, if known.

        Suites that are asked for by name are asked whatever their tier.
        """
        if self.tier is not None:
            return () if self.tier == "all" else (self.tier,)
        if self.constructions or built_in is None:
            return ()
        return ("core", "full") if built_in else ("full", "core")

    @property
    def given_rules(self) -> Mapping[str, Plain]:
        """Those that were typed; null leaves a rule to the protocol."""
        return {name: value for name, value in self.rules.items() if value is not None}


def read_probe_settings(values: object) -> ProbeSettings:
    return read(ProbeSettings, values, "probes")
