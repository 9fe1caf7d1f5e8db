"""Which surface rule a model follows on its way to structure, and when it leaves it.

A rule is anything that prefers one form without knowing the structure: an n-gram model, the number of the noun read last. What
tells is where a rule contradicts the grammar: a model that follows it there is wrong with it; one that has the structure is not.
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
# What metrics of a model beside a rule begin with: shares, the number of items behind `misled_`, and the rank correlation.
AGREES, MISLED, HELPED, CONTRADICTED, RHO = RULE_METRICS = ("agrees_", "misled_", "helped_", "contradicted_", "rho_")
DIGITS = 4  # of nats: scores are exact to 1e-4, and preferences that differ by less have one rank
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class RuleAgreement:
    """A model beside a rule, on the items where both prefer something."""

    n: int
    agrees: float  # the share on which the model prefers what the rule prefers
    contradicted: int  # items on which the rule prefers what is wrong
    misled: float  # the share of these on which the model does, too
    helped: float  # of the items on which the rule is right, the share on which the model is
    rho: float = math.nan  # rank correlation of how much each prefers it, where the rule says how much

    @property
    def misled_interval(self) -> tuple[float, float]:
        return wilson(self.misled * self.contradicted, self.contradicted) if self.contradicted else (math.nan, math.nan)


def agree_with_rules(probe: Probe, model: Verdicts, rules: Mapping[str, Verdicts]) -> dict[str, dict[str, RuleAgreement]]:
    """For every construction, the model beside every rule that has something to say of its items.

    Under `mean` stands what is true over the items of all constructions that the mean is over, taken together.
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
    """Over these contrasts; where either is tied it prefers nothing."""
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
    """The rule that the model follows most where it contradicts the grammar, if it does so more often than not; `structure` if it
    follows none; `undecided` while the numbers cannot tell, as before the first step of training. Of rules that it follows
    equally often there, the one with which it agrees on more of all items.
    """
    telling = {name: each for name, each in beside.items() if each.contradicted}
    if not telling:
        return UNDECIDED
    most = max(telling, key=lambda name: (telling[name].misled, telling[name].agrees))
    low, high = telling[most].misled_interval
    return most if low > 0.5 else STRUCTURE if high < 0.5 else UNDECIDED


def rule_metrics(beside: Mapping[str, Mapping[str, RuleAgreement]], prefix: str) -> dict[str, float]:
    """Under the names of a run's metrics, as `prefix/<construction>/agrees_<rule>`."""
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
    """Of ranks, the same for values that are equal but for rounding; nothing where one side has no order."""
    ranks = [_ranks(values) for values in (one, other)]
    if len(one) < 2 or any(np.ptp(each) == 0 for each in ranks):
        return math.nan
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    _, which, counts = np.unique(values.round(DIGITS), return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[which]
