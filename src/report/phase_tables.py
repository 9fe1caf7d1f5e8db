"""Which surface rule a model follows on its way to syntax, and when it abandons it: phases, and a table of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..probes.accuracy import MEAN
from ..probes.phases import AGREES, CONTRADICTED, HELPED, MISLED, RuleAgreement, phase
from .conditions import RunCondition
from .grids import EMPTY, Cell, Grid, Head
from .learning_curves import Curve, metric_curve
from .wording import construction_labels, format_words, in_paper_order, language_name

ABOUT_PHASES = (
    "Surface rules that a model follows during training, with the words seen by then. A model is in a rule's phase while it "
    "sides with the rule on more than half of the items where the rule contradicts the grammar. If that holds for several "
    "rules, the phase is that of the rule it follows most; if for none, it is structure; if one half lies within the "
    "95\u00a0% interval (Wilson's, over these items; not for runs that did not count them), it is undecided. N-grams are counted "
    "in the training text; means over seeds, on the probed sample; the untrained model is in no phase."
)
UNCOUNTED = 10**6  # items: older runs did not record where a rule contradicts the grammar; for them the share alone decides
ALL = "all constructions"


@dataclass(frozen=True)
class PhaseSpan:
    """Consecutive probes in the same phase."""

    rule: str
    first: float  # words seen at its first probe
    last: float


@dataclass(frozen=True)
class RuleCurves:
    """A model against one rule during training, over its seeds."""

    agrees: Curve
    misled: Curve
    helped: Curve
    contradicted: Curve


def rules_of(condition: RunCondition, construction: str) -> list[str]:
    """The rules that contradict the grammar on some item of a construction."""

    def find() -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for key in dict.fromkeys(key for result in condition.results for moment in result.moments for key in moment.values):
            name, _, what = key.rpartition("/")
            if what.startswith(MISLED):
                found.setdefault(name, []).append(what.removeprefix(MISLED))
        return found

    return condition.memory.recall(rules_of, find).get(construction, [])


def rule_curves(condition: RunCondition, construction: str) -> dict[str, RuleCurves]:
    """By rule; for a construction, or for `mean`: the items of all constructions."""

    def find() -> dict[str, RuleCurves]:
        told = (AGREES, MISLED, HELPED, CONTRADICTED)
        return {
            rule: RuleCurves(*(metric_curve(condition, f"{construction}/{what}{rule}") for what in told))
            for rule in rules_of(condition, construction)
        }

    return condition.memory.recall((rule_curves, construction), find)


def phases_of(condition: RunCondition, construction: str) -> list[PhaseSpan]:
    """From the first probe of a trained model to the last."""
    return condition.memory.recall((phases_of, construction), lambda: _phases_of(condition, construction))


def _phases_of(condition: RunCondition, construction: str) -> list[PhaseSpan]:
    spans: list[PhaseSpan] = []
    for words, beside in _moments(rule_curves(condition, construction)):
        now = phase(beside)
        if spans and spans[-1].rule == now:
            spans[-1] = PhaseSpan(now, spans[-1].first, words)
        else:
            spans.append(PhaseSpan(now, words, words))
    return spans


def _moments(curves: dict[str, RuleCurves]) -> list[tuple[float, dict[str, RuleAgreement]]]:
    by_words: dict[float, dict[str, RuleAgreement]] = {}
    for rule, own in curves.items():
        agrees, contradicted = own.agrees.by_words(), own.contradicted.by_words()
        for words, misled in own.misled.by_words().items():
            if words > 0:
                found = mean_agreement(misled, agrees.get(words, math.nan), contradicted.get(words, math.nan))
                by_words.setdefault(words, {})[rule] = found
    return sorted(by_words.items())


def mean_agreement(misled: float, agrees: float, contradicted: float) -> RuleAgreement:
    """Computed from means over seeds, which are all probed on the same items."""
    items = UNCOUNTED if math.isnan(contradicted) else round(contradicted)
    return RuleAgreement(items, agrees, items, misled, math.nan)


def phase_table(conditions: Sequence[RunCondition]) -> Grid | None:
    """One row per construction, one column per condition; None if no run was compared with rules."""
    told = {
        number: {name: phases_of(each, name) for name in [*each.constructions, MEAN]} for number, each in enumerate(conditions)
    }
    known = {number: phases for number, phases in told.items() if any(phases.values())}
    if not known:
        return None
    heads = tuple(Head(language_name(conditions[number].language), conditions[number].name) for number in known)
    names = in_paper_order(list(dict.fromkeys(name for phases in known.values() for name in phases if phases[name])))
    names = [name for name in names if name != MEAN] + [MEAN] * (MEAN in names)
    labels = construction_labels(names) | {MEAN: ALL}
    rows = tuple((labels[name], tuple(_cell(phases.get(name, [])) for phases in known.values())) for name in names)
    return Grid("phases", "Phases of learning", ABOUT_PHASES, "construction", heads, rows)


def rule_name(rule: str) -> str:
    """The rule's name for readers, from its name in metrics."""
    return rule.replace("_", " ")


def _cell(spans: Sequence[PhaseSpan]) -> Cell:
    """`trigram 14 k–45 k, structure from 89 k`."""
    if not spans:
        return EMPTY
    told = [f"{rule_name(each.rule)} {_extent(each, each is spans[-1])}" for each in spans]
    starts = tuple((f"{number}: {each.rule}", each.first) for number, each in enumerate(spans, start=1))
    return Cell(", ".join(told), starts)


def _extent(span: PhaseSpan, is_last: bool) -> str:
    if is_last:
        return f"from {format_words(span.first)}"
    return format_words(span.first) if span.first == span.last else f"{format_words(span.first)}–{format_words(span.last)}"
