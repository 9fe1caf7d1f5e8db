"""Which surface rule a model follows on its way to structure, and when it abandons it.

A rule is anything that prefers one form without knowing the structure: an n-gram model, the number of the last noun read. What
matters is where a rule contradicts the grammar: a model that follows it there is wrong too; one that has the structure is not.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .accuracy import MEAN, constructions_of_mean, wilson
from .probe import Probe
from .verdicts import Verdicts

STRUCTURE = "structure"
UNDECIDED = "undecided"
# Prefixes of metrics that compare a model with a rule: shares, the items behind `misled_`, and the rank correlation.
AGREES, MISLED, HELPED, CONTRADICTED, RHO = RULE_METRICS = ("agrees_", "misled_", "helped_", "contradicted_", "rho_")
DIGITS = 4  # in nats: scores are exact to 1e-4, and preferences closer than this share a rank
TELLING = 4  # items on which a rule contradicts the grammar; of fewer, even none followed does not exclude one half
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class RuleAgreement:
    """A model against a rule, on the items where both have a preference."""

    n: int
    agrees: float  # the share on which the model agrees with the rule
    contradicted: int  # items on which the rule prefers the wrong form
    misled: float  # the share of these on which the model does too
    helped: float  # among items on which the rule is right, the share on which the model is
    rho: float = math.nan  # rank correlation of the strengths of their preferences, if the rule has strengths

    @property
    def misled_interval(self) -> tuple[float, float]:
        return wilson(self.misled * self.contradicted, self.contradicted) if self.contradicted else (math.nan, math.nan)


def agree_with_rules(probe: Probe, model: Verdicts, rules: Mapping[str, Verdicts]) -> dict[str, dict[str, RuleAgreement]]:
    """For every construction, the model against every rule that makes predictions for its items.

    `mean` pools the items of all constructions that the mean covers.
    """
    rows = {construction: probe.contrasts.of_set(number) for number, construction in enumerate(probe.constructions)}
    if rows:
        rows[MEAN] = np.concatenate([rows[name] for name in constructions_of_mean(probe.constructions)])
    found: dict[str, dict[str, RuleAgreement]] = {}
    for construction, own in rows.items():
        beside = {name: agree(model, rule, own) for name, rule in rules.items()}
        found[construction] = {name: each for name, each in beside.items() if each.n}
    return found


def agree(model: Verdicts, rule: Verdicts, rows: Rows) -> RuleAgreement:
    """Over these contrasts; a tie means no preference."""
    both = rows[model.covered[rows] & rule.covered[rows] & ~model.tie[rows] & ~rule.tie[rows]]
    right, by_rule = model.verdict[both] == 1, rule.verdict[both] == 1
    return RuleAgreement(
        n=len(both),
        agrees=_share(right == by_rule),
        contradicted=int((~by_rule).sum()),
        misled=_share(~right[~by_rule]),
        helped=_share(right[by_rule]),
        rho=_spearman(model.margin[both], rule.margin[both]) if rule.clauses is not None else math.nan,
    )


def phase(beside: Mapping[str, RuleAgreement]) -> str:
    """The rule that the model follows most where it contradicts the grammar, of those it follows there more often than not;
    `structure` if it follows none; `undecided` while the numbers cannot tell, as before the first training step. Among rules it
    follows equally often there, the one it agrees with on more items overall.
    """
    telling = {name: each for name, each in beside.items() if each.contradicted >= TELLING}
    if followed := [name for name, each in telling.items() if each.misled_interval[0] > 0.5]:
        return max(followed, key=lambda name: (telling[name].misled, telling[name].agrees))
    most = max(telling.values(), key=lambda each: each.misled, default=None)
    return STRUCTURE if most is not None and most.misled_interval[1] < 0.5 else UNDECIDED


def rule_metrics(beside: Mapping[str, Mapping[str, RuleAgreement]], prefix: str) -> dict[str, float]:
    """Under the run's metric names, `prefix/<construction>/agrees_<rule>`."""
    found: dict[str, float] = {}
    for construction, rules in beside.items():
        for rule, each in rules.items():
            start, key = f"{prefix}/{construction}", rule.replace(" ", "_")
            values = (each.agrees, each.misled, each.helped, float(each.contradicted), each.rho)
            found |= {f"{start}/{what}{key}": value for what, value in zip(RULE_METRICS, values, strict=True)}
    return {name: value for name, value in found.items() if not math.isnan(value)}


def _share(which: NDArray[np.bool_]) -> float:
    return float(which.mean()) if len(which) else math.nan


def _spearman(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Over ranks, equal for values that differ only by rounding; nothing if one side is constant."""
    ranks = [_ranks(values) for values in (one, other)]
    if len(one) < 2 or any(np.ptp(each) == 0 for each in ranks):
        return math.nan
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    _, which, counts = np.unique(values.round(DIGITS), return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[which]
