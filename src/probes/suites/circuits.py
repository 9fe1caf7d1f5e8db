"""Circuits: which suite belongs to which, their means, the SG score, and suites with a modifier against those without."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from .suite import Suite

CIRCUIT = "circuit"  # the feature and the grouping
CIRCUITS = ("agreement", "licensing", "center_embedding", "long_distance", "gross_state", "garden_path", "linearization")
SAME_CHANCE = 0.01  # chance is estimated by sampling; different structures differ by more than this
# Names of the 34 published English suites. nn-nv-rpl belongs to none.
PUBLISHED = (
    (re.compile(r"number_.*"), "agreement"),
    (re.compile(r"(npi|reflexive)_.*"), "licensing"),
    (re.compile(r"center_.*"), "center_embedding"),
    (re.compile(r"(fgd|cleft).*"), "long_distance"),
    (re.compile(r"subordination.*"), "gross_state"),
    (re.compile(r"mvrr.*|npz_.*"), "garden_path"),
)
# Published suites with a modifier, by the suite without it.
MODIFIED = {
    "center_embed": ("center_embed_mod",),
    "cleft": ("cleft_modifier",),
    "mvrr": ("mvrr_mod",),
    "npz_ambig": ("npz_ambig_mod",),
    "npz_obj": ("npz_obj_mod",),
    "subordination": ("subordination_orc-orc", "subordination_pp-pp", "subordination_src-src"),
}


def circuit_name(key: str) -> str:
    """`circuit=center_embedding` for readers."""
    return key.removeprefix(f"{CIRCUIT}=").replace("_", " ")


def in_circuit_order(keys: Iterable[str]) -> list[str]:
    """Groups (`circuit=agreement`) in the order of CIRCUITS, then others as given."""
    known = list(keys)
    first = [key for name in CIRCUITS for key in known if key == f"{CIRCUIT}={name}"]
    return [*first, *(key for key in known if key not in first)]


class Stability(NamedTuple):
    """One phenomenon: the suite without a modifier, its versions with one, and the mean over the latter."""

    base: str
    modified: tuple[str, ...]
    without: float
    within: float


def circuit_of(suite: Suite) -> str:
    """The circuit a suite declares, otherwise that of its published name; empty if neither."""
    return suite.declared_circuit or published_circuit(suite.name)


def published_circuit(name: str) -> str:
    return next((circuit for pattern, circuit in PUBLISHED if pattern.fullmatch(name)), "")


def base_of(suite: Suite) -> str:
    """The suite without the modifier; empty if the suite has none."""
    if suite.base:
        return suite.base
    return next((base for base, versions in MODIFIED.items() if suite.name in versions), "")


def circuit_means(accuracies: Mapping[str, float], circuits: Mapping[str, str]) -> dict[str, float]:
    """The unweighted mean of each circuit's suites, in the order of CIRCUITS; suites without a circuit are in none."""
    names = [*CIRCUITS, *(c for c in dict.fromkeys(circuits.values()) if c and c not in CIRCUITS)]
    groups = {name: [value for suite, value in accuracies.items() if circuits.get(suite) == name] for name in names}
    return {name: _mean(values) for name, values in groups.items() if values}


def sg_score(accuracies: Mapping[str, float]) -> float:
    """The unweighted mean over suites."""
    return _mean(list(accuracies.values()))


def stability(accuracies: Mapping[str, float], bases: Mapping[str, str]) -> list[Stability]:
    """One row per phenomenon with both kinds; several modified versions are first averaged within it."""
    rows = []
    for base in dict.fromkeys(bases.values()):
        modified = tuple(suite for suite, its in bases.items() if its == base and suite in accuracies)
        if base in accuracies and modified:
            rows.append(Stability(base, modified, accuracies[base], _mean([accuracies[suite] for suite in modified])))
    return rows


def equal_chance(rows: Sequence[Stability], chance: Mapping[str, float]) -> list[Stability]:
    """The phenomena whose versions all have the same chance: only these compare."""
    return [row for row in rows if all(abs(chance[suite] - chance[row.base]) < SAME_CHANCE for suite in row.modified)]


def stability_means(rows: Sequence[Stability]) -> tuple[float, float]:
    """The means over phenomena without and with a modifier."""
    return _mean([row.without for row in rows]), _mean([row.within for row in rows])


def _mean(values: Sequence[float]) -> float:
    if not values:
        raise ValueError("the mean of no suites")
    return sum(values) / len(values)
