"""Everything as one pandas frame: one row per run, moment and construction."""

import math
from typing import TYPE_CHECKING

from ..probes.accuracy import MEAN
from ..probes.suites.circuits import CIRCUIT
from .conditions import RunCondition
from .estimates import Estimates
from .optional_packages import explain_missing
from .results import Result
from .training_sizes import find_size_series
from .wording import axis_of

if TYPE_CHECKING:
    import pandas as pd

NO_SUITE = {"circuit": "", "base": ""}
NO_SERIES: dict[str, object] = {"size_series": "", "training_words": math.nan}
STEP = "step "  # begins the names of moments during training
FINAL = "final"  # the whole sets with the best weights; other moments are probes of the sample


def make_frame(estimates: Estimates) -> "pd.DataFrame":
    """One row per run, moment and construction. `low` and `high`: the interval of the condition's mean, over items and seeds."""
    with explain_missing():
        import pandas as pd  # noqa: PLC0415
        import scipy.special  # noqa: F401, PLC0415 intervals over seeds need it
    rows: list[dict[str, object]] = []
    sizes = {
        id(condition): {"size_series": series.title, "training_words": words}
        for series in find_size_series(estimates.conditions)
        for condition, words in zip(series.conditions, series.words, strict=True)
    }
    for condition in estimates.conditions:
        for result in condition.results:
            identity = _identity(condition, result) | sizes.get(id(condition), NO_SERIES)
            rows += [identity | row for row in _final(estimates, condition, result)]
            rows += [identity | row for row in _moments(result)]
    made = pd.DataFrame(rows)
    made.attrs["axis"] = axis_of([result for condition in estimates.conditions for result in condition.results])
    return made


def _identity(condition: RunCondition, result: Result) -> dict[str, object]:
    return {
        "run": result.name,
        "language": result.language,
        "set": result.set,
        "condition": condition.name,
        "languages": len(result.model.languages) or 1,
        "seed": result.seed,
        "contract": result.label,
        "digest": result.digest,
        "vocabulary": result.vocabulary,
        "finished": result.finished,
    }


def _final(estimates: Estimates, condition: RunCondition, result: Result) -> list[dict[str, object]]:
    moment = {"moment": FINAL if result.finished else "last", "words": result.words, "perplexity": result.perplexity}
    rows = []
    suites = _suite_facts(result)
    for name, score in result.scores.items():
        found = estimates.of(condition, name)
        counts = {"chance": score.chance, "n": score.n, "ties": score.ties, "uncovered": score.uncovered}
        parts = {part: own.accuracy for part, own in score.parts.items()}
        rows.append(
            moment
            | {"construction": name, "accuracy": score.accuracy, "low": found.low, "high": found.high}
            | suites.get(name, NO_SUITE)
            | counts
            | parts
        )
    found = estimates.of(condition, MEAN)
    return [
        *rows,
        moment
        | {"construction": MEAN, "accuracy": result.mean, "low": found.low, "high": found.high, "chance": found.chance}
        | NO_SUITE,
    ]


def _suite_facts(result: Result) -> dict[str, dict[str, str]]:
    """For each suite, its circuit and the corresponding suite without the modifier."""
    circuits = {name: group.name for group in result.groups.values() if group.grouping == CIRCUIT for name in group.over}
    return {
        name: {"circuit": circuits.get(name, "").removeprefix(f"{CIRCUIT}="), "base": result.bases.get(name, "")}
        for name in result.scores
    }


def _moments(result: Result) -> list[dict[str, object]]:
    perplexity, suites = dict(result.perplexities), _suite_facts(result)
    rows = []
    for moment in result.moments:
        when = {"moment": f"{STEP}{moment.step}", "words": moment.words, "perplexity": perplexity.get(moment.words, math.nan)}
        for name in [*result.scores, MEAN]:
            own = {key.split("/", 1)[1]: value for key, value in moment.values.items() if key.startswith(f"{name}/")}
            if "accuracy" in own:
                kept = {key: value for key, value in own.items() if key != "accuracy_dev"}
                rows.append(when | {"construction": name, "chance": result.chance(name)} | suites.get(name, NO_SUITE) | kept)
    return rows
