"""Tiers of suites: `core` for models of the built-in corpora, `full` for all others. A mean covers suites of one tier."""

import logging
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ..challenge_set import ChallengeSet, SetError

log = logging.getLogger(__name__)
SUITES = "syntaxgym"  # the dataset of sets that are suites
FULL = "full"  # for suites that declare none


def tier_of(made: ChallengeSet) -> str:
    """Empty for sets that are not suites."""
    if made.dataset != SUITES or not len(made):
        return ""
    return str(made.features[0].get("tier", FULL))


def of_tier(sets: Sequence[ChallengeSet], tiers: Sequence[str], path: Path) -> list[ChallengeSet]:
    """The suites of the first of these tiers that exists; how many others are left out is reported. Other sets all stay."""
    there = Counter(tier_of(made) for made in sets if tier_of(made))
    if not tiers or not there:
        return list(sets)
    chosen = next((tier for tier in tiers if tier in there), None)
    if chosen is None:
        raise SetError(path, None, f"no suite of the tier {tiers[0]}; available: {', '.join(sorted(there))}")
    others = ", ".join(f"{count} of the tier {tier}" for tier, count in sorted(there.items()) if tier != chosen)
    log.info("suites     %d of the tier %s%s", there[chosen], chosen, others and f"; left out (probes.tier=): {others}")
    return [made for made in sets if tier_of(made) in ("", chosen)]
