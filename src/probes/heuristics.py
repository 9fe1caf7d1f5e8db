"""Surface rules that need no model at all: what a number means depends on how far these get."""

from collections.abc import Callable, Mapping

import numpy as np

from .challenge_set import Value
from .probe import Probe
from .verdicts import Verdicts

# Where the attractor stands before the subject, the subject itself is the noun that was read last.
ATTRACTOR_FIRST = ("within", "sent_comp")
# Objects of the first verb stand between subject and second verb, and the sets do not say their number.
UNSAID = ("long_vp_coord",)


def singular(construction: str, features: Mapping[str, Value]) -> str | None:
    """Always the singular form."""
    return "singular" if "subject_number" in features else None


def recent_noun(construction: str, features: Mapping[str, Value]) -> str | None:
    """The form that agrees with the noun read last."""
    subject = features.get("subject_number")
    if subject is None or construction in UNSAID:
        return None
    if any(part in construction for part in ATTRACTOR_FIRST):
        return str(subject)
    return str(features.get("attractor_number", subject))


HEURISTICS: dict[str, Callable[[str, Mapping[str, Value]], str | None]] = {
    "always singular": singular,
    "recent noun": recent_noun,
}


def judge_by_rule(probe: Probe, rule: Callable[[str, Mapping[str, Value]], str | None]) -> Verdicts:
    """Right where the number that the rule chooses is that of the subject; uncovered where it has nothing to say."""
    choices = [[rule(made.construction, features) for features in made.features] for made in probe.sets]
    subjects = [[features.get("subject_number") for features in made.features] for made in probe.sets]
    places = list(zip(probe.contrasts.set.tolist(), probe.contrasts.item.tolist(), strict=True))
    covered = np.array([choices[s][i] is not None for s, i in places])
    right = np.array([choices[s][i] == subjects[s][i] for s, i in places])
    none = np.zeros(len(places), bool)
    return Verdicts(right.astype(float), (~right).astype(float), right.astype(float), none, covered, none)
