"""The numbers of a report, as the page's script reads them."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..probes.accuracy import MEAN
from ..probes.suites.circuits import CIRCUIT, circuit_name, in_circuit_order
from . import items
from .conditions import RunCondition
from .estimates import Estimates
from .learning_curves import Curve, accuracy_curve, perplexity_curve
from .phase_tables import phases_of, rule_curves, rule_name
from .results import Result
from .wording import PARTS, axis_of, construction_name, direction, families, in_paper_order, language_name


def page_data(estimates: Estimates) -> dict[str, object]:
    """Everything but the items."""
    numbered = results_in(estimates.conditions)
    places = {id(result): number for number, result in enumerate(numbered)}
    names = [*estimates.constructions, MEAN]
    return {
        "axis": axis_of(numbered),
        "constructions": {name: construction_name(name) for name in names},
        "families": families(estimates.constructions, circuits_of(numbered)),
        "parts": _part_labels(numbered),
        "languages": {condition.language: language_name(condition.language) for condition in estimates.conditions},
        "conditions": [_condition(condition, estimates, places) for condition in estimates.conditions],
        "results": [_result(result) for result in numbered],
    }


def circuits_of(results: Sequence[Result]) -> dict[str, str]:
    """Every suite's circuit, by the names readers know."""
    found: dict[str, str] = {}
    for result in results:
        for key in in_circuit_order(result.groups):
            group = result.groups[key]
            found |= {name: circuit_name(key) for name in group.over if group.grouping == CIRCUIT}
    return found


def _part_labels(results: Sequence[Result]) -> dict[str, str]:
    """The labels of all item groups in any result."""
    names = [part for result in results for score in result.scores.values() for part in score.parts]
    return {part: PARTS.get(part, part) for part in dict.fromkeys([*PARTS, *names]) if part in names}


def results_in(conditions: Sequence[RunCondition]) -> list[Result]:
    return [result for condition in conditions for result in condition.results]


def _condition(condition: RunCondition, estimates: Estimates, places: dict[int, int]) -> dict[str, object]:
    names = in_paper_order(condition.constructions)
    curves = {name: _curve(accuracy_curve(condition, name), condition) for name in [*names, MEAN]}
    return {
        "name": condition.name,
        "language": condition.language,
        "set": condition.first.set,
        "direction": direction(condition.language),
        "finished": condition.first.finished,
        "label": condition.first.label,
        "results": [places[id(result)] for result in condition.results],
        "constructions": names,
        "estimates": {name: _estimate(estimates, condition, name) for name in [*names, MEAN]},
        "curves": {name: curve for name, curve in curves.items() if curve},
        "perplexity": _curve(perplexity_curve(condition), condition),
        "phases": {name: found for name in [*names, MEAN] if (found := _phases(condition, name))},
    }


def _phases(condition: RunCondition, construction: str) -> dict[str, Any] | None:
    """For every rule: words, accuracy where it helps and where it misleads, each with its half-width over seeds; phases."""
    found = rule_curves(condition, construction)
    if not found:
        return None
    rules = {}
    for rule, own in found.items():
        right = replace(own.misled, mean=[1 - share for share in own.misled.mean])
        rules[rule_name(rule)] = [_interval_curve(own.helped), _interval_curve(right)]
    spans = [[rule_name(span.rule), round(span.first), round(span.last)] for span in phases_of(condition, construction)]
    return {"rules": rules, "spans": spans}


def _interval_curve(curve: Curve) -> list[list[float | None]]:
    return [[round(words) for words in curve.words], [_number(v) for v in curve.mean], [_number(v) for v in curve.half_widths()]]


def _estimate(estimates: Estimates, condition: RunCondition, name: str) -> list[float | None]:
    found = estimates.of(condition, name)
    return [_number(value) for value in (found.mean, found.sd, found.low, found.high, found.n, found.chance)]


def _curve(curve: Curve, condition: RunCondition) -> list[list[float | None]] | None:
    """Words, means, deviations; and the number of seeds behind a point, unless it is all of them."""
    if not curve.words:
        return None
    fewer: list[list[float | None]] = [[*curve.seeds]] if min(curve.seeds) < len(condition.results) else []
    return [[round(words) for words in curve.words], [_number(v) for v in curve.mean], [_number(v) for v in curve.sd], *fewer]


def _number(value: float) -> float | None:
    return None if not math.isfinite(value) else round(float(value), 4)


def _result(result: Result) -> dict[str, object]:
    parts = {name: {part: _number(own.accuracy) for part, own in score.parts.items()} for name, score in result.scores.items()}
    return {
        "name": result.name,
        "seed": result.seed,
        "steps": [moment.words for moment in result.moments],
        "scores": {name: _number(score.accuracy) for name, score in result.scores.items()} | {MEAN: _number(result.mean)},
        "parts": {name: part for name, part in parts.items() if part},
    }


def items_data(conditions: Sequence[RunCondition]) -> dict[str, dict[str, object]]:
    """By language and set: the items, and every model's scores on them."""
    numbered = results_in(conditions)
    found = {}
    for language, name in dict.fromkeys((result.language, result.set) for result in numbered):
        own = [(n, r) for n, r in enumerate(numbered) if (r.language, r.set) == (language, name)]
        chosen = items.select_items([r for _, r in own], [n for n, _ in own])
        if chosen is not None:
            found[f"{language}/{name}"] = items.items_for_page(chosen)
    return found
