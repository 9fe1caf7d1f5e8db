"""Training that was watched, not started by us: what makes its model, as far as we know. Its config.yaml holds this."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

import yaml

from .reading import Plain, flatten, read

# What a curve is plotted against.
Axis = Literal["words", "tokens", "steps"]
KIND = "watched"


@dataclass(frozen=True)
class WatchedSettings:
    """`recipe` is what determines the result besides the seed: runs that differ only in the seed are averaged in reports."""

    watched: str  # watched by: a loop, lightning, transformers, published checkpoints
    model: str
    axis: Axis
    seed: int | None = None
    scoring: str = ""
    name: str | None = None
    recipe: dict[str, Plain] = field(default_factory=dict)
    probes: dict[str, Plain] = field(default_factory=dict)

    def flat_recipe(self) -> dict[str, Plain]:
        """By full names, the way our own runs' settings are compared."""
        return dict(flatten(self.recipe, ""))

    @property
    def languages(self) -> list[str]:
        """The languages it was evaluated in."""
        return list(dict.fromkeys(name.split("/")[0] for name in self.probes))

    def yaml(self) -> str:
        return yaml.safe_dump(asdict(self), sort_keys=False, allow_unicode=True)


def is_watched(values: object) -> bool:
    """Whether a config.yaml describes such training."""
    return isinstance(values, Mapping) and KIND in values


def read_watched_settings(values: object) -> WatchedSettings:
    return read(WatchedSettings, values)


def plain(value: object) -> Plain:
    """Anything in a form that YAML can express: other programs' settings hold all kinds of objects."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in value]
    return str(value)
