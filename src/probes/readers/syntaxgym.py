"""Suites (Hu et al. 2020; Pérez-Mayos et al. 2021) and users' own: conditions made of regions, formulas that must be true."""

import math
from collections.abc import Iterator
from pathlib import Path

from ..challenge_set import ChallengeSet, Value
from ..contrast import Clause, Contrast, Relation, SpanTerm
from ..groupings import Grouping
from ..suites.chance import chance_of
from ..suites.circuits import CIRCUIT, base_of, circuit_of
from ..suites.formula import Comparison, Formula, Sum, normal_form
from ..suites.region_sentence import sentence_of
from ..suites.suite import ItemRule, Suite, counted_formulas
from ..suites.suite_files import read as read_suite
from ..suites.variants import span_name, variants_of

SUFFIXES = {".suite", ".json", ".csv"}
BITS = -1 / math.log(2)  # converts a log-probability in nats to surprisal in bits
# Suites are the same under every protocol: equal surprisals are not a preference, and a condition has its own full stop.
FIXED: dict[str, str | bool] = {"ties": "wrong", "final": False}
BY_CIRCUIT = Grouping(CIRCUIT, (CIRCUIT,), across=True, combine="mean")


def recognises(file: Path, head: str) -> bool:
    if file.suffix == ".csv":
        return head.startswith("item_number,condition_name,region_number")
    return file.suffix == ".suite" or '"region' in head or '"items"' in head or '"predictions"' in head


def read(file: Path, language: str) -> Iterator[ChallengeSet]:
    suite = read_suite(file)
    known: dict[str, Value] = {CIRCUIT: circuit_of(suite), "base": base_of(suite), "tier": str(suite.meta.get("tier", ""))}
    features = {name: value for name, value in known.items() if value}
    made = ChallengeSet(suite.name, language, dataset="syntaxgym", file=str(file), groupings=(BY_CIRCUIT,), fixed_rules=FIXED)
    made.item_rule = suite.item_rule if suite.meta.get("item_rule") or suite.declared_circuit else ""
    made.contrasts = tuple(_contrasts(suite, language))
    for index, item in enumerate(suite.items, start=1):
        made.add(index, features | {"item": str(item.number)}, variants_of(suite, item, language))
    yield made


def _contrasts(suite: Suite, language: str) -> Iterator[Contrast]:
    """Each prediction on its own, and all of them at once; with the item rules under which each counts."""
    first = sentence_of(suite, suite.items[0], suite.items[0].conditions[0], language)
    spans = {region.number: span_name(region) for region in first.regions}
    texts = {f"prediction {each.name or number}": each.formula for number, each in enumerate(suite.predictions, start=1)}
    shares = chance_of(suite)
    counted: dict[str, tuple[Formula, float, list[str]]] = {}
    rules_of_counting: tuple[ItemRule, ...] = ("all", "first", "each")
    for rule in rules_of_counting:
        for (name, tree), share in zip(counted_formulas(suite, rule), shares.under(rule), strict=True):
            counted.setdefault(name, (tree, share, []))[2].append(rule)
    for name, (tree, share, rules) in counted.items():
        groups = tuple(tuple(_clause(each, spans) for each in way) for way in normal_form(tree))
        every = len(rules) == len(rules_of_counting)
        formula = texts.get(name) or " & ".join(f"({text})" for text in texts.values())
        yield Contrast(
            name,
            groups,
            chance=share,
            metric=suite.metric,
            scale=BITS,
            tested="named",
            formula=formula,
            item_rules=() if every else tuple(rules),
        )


def _clause(comparison: Comparison, spans: dict[int, str]) -> Clause:
    """`a < b` is `b > a`."""
    greater, smaller = comparison.left, comparison.right
    if comparison.relation == "<":
        greater, smaller = smaller, greater
    relation: Relation = "=" if comparison.relation == "=" else ">"
    return Clause(_terms(greater, spans), _terms(smaller, spans), relation, (greater.constant, smaller.constant))


def _terms(side: Sum, spans: dict[int, str]) -> tuple[SpanTerm, ...]:
    return tuple(
        SpanTerm(each.reference.condition, "" if each.reference.region is None else spans[each.reference.region], each.weight)
        for each in side.terms
    )
