"""On the way to syntax, which surface rule a model follows, and when it leaves it: a table of phases."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..probes.phases import MISLED, STRUCTURE
from .conditions import RunCondition
from .grids import EMPTY, Cell, Grid, Head
from .learning_curves import Curve, rule_curve
from .wording import construction_labels, format_words, in_paper_order, language_name

ABOUT_PHASES = (
    "Surface rules that a model follows while it learns, with the words it had seen. A model is in the phase of a rule while it "
    "prefers what the rule prefers on more than half of the items on which the rule contradicts the grammar; where there are "
    "several such rules, of the one it follows most; where there is none, in structure. N-grams are counted in the training "
    "text; means over seeds, on the sample that is probed; the untrained model is in no phase."
)


@dataclass(frozen=True)
class PhaseSpan:
    """Probes one after the other in the same phase."""

    rule: str
    first: float  # words seen at its first probe
    last: float


def rules_of(condition: RunCondition, construction: str) -> list[str]:
    """The rules that contradict the grammar on some item of a construction."""
    start = f"{construction}/{MISLED}"
    names = [key for result in condition.results for moment in result.moments for key in moment.values if key.startswith(start)]
    return [name.removeprefix(start) for name in dict.fromkeys(names)]


def phases_of(condition: RunCondition, construction: str) -> list[PhaseSpan]:
    """From the first probe of a trained model to the last."""
    curves = {rule: rule_curve(condition, construction, rule) for rule in rules_of(condition, construction)}
    spans: list[PhaseSpan] = []
    for words, found in _moments(curves):
        rule = max(found, key=found.__getitem__)
        now = rule if found[rule] > 0.5 else STRUCTURE
        if spans and spans[-1].rule == now:
            spans[-1] = PhaseSpan(now, spans[-1].first, words)
        else:
            spans.append(PhaseSpan(now, words, words))
    return spans


def _moments(curves: dict[str, Curve]) -> list[tuple[float, dict[str, float]]]:
    by_words: dict[float, dict[str, float]] = {}
    for rule, curve in curves.items():
        for words, value in zip(curve.words, curve.mean, strict=True):
            if words > 0 and not math.isnan(value):
                by_words.setdefault(words, {})[rule] = value
    return sorted(by_words.items())


def phase_table(conditions: Sequence[RunCondition]) -> Grid | None:
    """One row per construction, one column per condition; none where no run was compared with rules."""
    told = {number: {name: phases_of(each, name) for name in each.constructions} for number, each in enumerate(conditions)}
    known = {number: phases for number, phases in told.items() if any(phases.values())}
    if not known:
        return None
    heads = tuple(Head(language_name(conditions[number].language), conditions[number].name) for number in known)
    names = in_paper_order(list(dict.fromkeys(name for phases in known.values() for name in phases)))
    labels = construction_labels(names)
    rows = tuple((labels[name], tuple(_cell(phases.get(name, [])) for phases in known.values())) for name in names)
    return Grid("phases", "Phases of learning", ABOUT_PHASES, "construction", heads, rows)


def _cell(spans: Sequence[PhaseSpan]) -> Cell:
    """`trigram 14 k–45 k, structure from 89 k`."""
    if not spans:
        return EMPTY
    told = [f"{each.rule.replace('_', ' ')} {_extent(each, each is spans[-1])}" for each in spans]
    starts = tuple((f"{number}: {each.rule}", each.first) for number, each in enumerate(spans, start=1))
    return Cell(", ".join(told), starts)


def _extent(span: PhaseSpan, is_last: bool) -> str:
    if is_last:
        return f"from {format_words(span.first)}"
    return format_words(span.first) if span.first == span.last else f"{format_words(span.first)}–{format_words(span.last)}"
