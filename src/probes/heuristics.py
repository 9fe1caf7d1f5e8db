"""Surface rules that need no model at all: what an accuracy means depends on how far these get.

They use what the items state about themselves. What is not stated is unknown, never "no attractor".
"""

from collections.abc import Callable, Mapping

import numpy as np

from ..data.prefix_heuristics import RIGHT
from .challenge_set import Value
from .probe import Probe
from .verdicts import Verdicts

Features = Mapping[str, Value]
OTHER = {"singular": "plural", "plural": "singular"}


def tests_number(features: Features) -> bool:
    """Whether an item's forms differ in number: unless its source says otherwise."""
    return "subject_number" in features and features.get("tested", "number") == "number"


def always_singular(features: Features) -> str | None:
    """The singular form."""
    return "singular" if tests_number(features) else None


def last_noun(features: Features) -> str | None:
    """The form that agrees with the last noun read: h2 if the source has it, otherwise as far as attractors tell."""
    subject, attractor = features.get("subject_number"), features.get("attractor_number")
    between, attractors = features.get("n_intervening"), features.get("n_attractors")
    if subject not in OTHER or not tests_number(features):
        return None
    if "h2" in features:
        return str(subject) if features["h2"] == RIGHT else OTHER[str(subject)]
    if features.get("distance") == 0 or between == 0 or attractors == 0:
        return str(subject)  # no noun in between, or none with the other number
    if attractors is not None and attractors == between:
        return OTHER[str(subject)]  # all nouns in between have the other number
    stands_between = between == 1 or (between is None and "distance" in features)
    return str(attractor) if attractor in OTHER and stands_between else None


HEURISTICS: dict[str, Callable[[Features], str | None]] = {"always singular": always_singular, "last noun": last_noun}


def judge_by_rule(probe: Probe, rule: Callable[[Features], str | None]) -> Verdicts:
    """Right if the number the rule picks is the subject's; uncovered if the rule makes no prediction.

    Only for pairs of a good and a bad form: contrasts stated by the source involve more than a number.
    """
    choices = [[None if made.contrasts_are_stated else rule(features) for features in made.features] for made in probe.sets]
    subjects = [[features.get("subject_number") for features in made.features] for made in probe.sets]
    contrasts = probe.contrasts
    places = list(zip(contrasts.set.tolist(), contrasts.item.tolist(), strict=True))
    covered = np.array([choices[s][i] is not None for s, i in places]) & contrasts.is_pair
    right = np.array([choices[s][i] == subjects[s][i] for s, i in places])
    none = np.zeros(len(places), bool)
    return Verdicts(right.astype(float), none, covered, none, np.where(right, 1.0, -1.0))
