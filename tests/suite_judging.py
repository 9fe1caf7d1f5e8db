"""Formulas judged as an evaluation judges them: written to suites, read, asked of a model that gives each region its value."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from concord.probes.models import wrap_function
from concord.probes.probe import Probe
from concord.probes.probe_preparation import make_probe
from concord.probes.verdicts import Verdicts, judge
from concord.settings.probing import ProbeSettings

Values = dict[tuple[int, str], float]  # bits, by region and condition


class Asked(NamedTuple):
    """A formula, and what its regions are worth in each item."""

    formula: str
    items: list[Values]


def suite_probe(folder: Path, **settings) -> Probe:
    described = {"name": "suites", "format": "syntaxgym", "path": str(folder), "groupings": {}, "tier": "all"}
    return make_probe(ProbeSettings(**described | settings), "en", "joined")


def judge_formulas(folder: Path, asked: Sequence[Asked]) -> Verdicts:
    """One suite of one prediction for each formula; the verdicts are in their order, item by item."""
    folder.mkdir(exist_ok=True)
    for number, (formula, items) in enumerate(asked):
        (folder / f"suite{number:05}.json").write_text(json.dumps(_document(number, formula, items)), encoding="utf-8")
    values = {
        _word(number, item, region, condition): value
        for number, (_, items) in enumerate(asked)
        for item, own in enumerate(items, start=1)
        for (region, condition), value in own.items()
    }
    probe = suite_probe(folder, rules={"duplicates": "all"})
    model = wrap_function(lambda texts: [[-values[word] * math.log(2) for word in text.split()] for text in texts], "table")
    return judge(probe, model.scorer.score(probe.sentences))


def as_scored(bits: float) -> float:
    """What is left of a value in the 32 bits of a score."""
    return float(np.float32(-bits * math.log(2))) / -math.log(2)


def _word(number: int, item: int, region: int, condition: str) -> str:
    return f"w{number}x{item}x{region}x{condition.replace('_', 'x')}"


def _document(number: int, formula: str, items: Sequence[Values]) -> dict:
    regions = sorted({region for region, _ in items[0]})
    conditions = sorted({condition for _, condition in items[0]})
    made = [
        {
            "item_number": item,
            "conditions": [
                {
                    "condition_name": condition,
                    "regions": [
                        {"region_number": region, "content": _word(number, item, region, condition)} for region in regions
                    ],
                }
                for condition in conditions
            ],
        }
        for item in range(1, len(items) + 1)
    ]
    return {
        "meta": {"name": f"suite{number:05}", "metric": "sum"},
        "region_meta": {str(region): f"r{region}" for region in regions},
        "predictions": [{"type": "formula", "formula": formula}],
        "items": made,
    }
