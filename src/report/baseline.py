"""The baseline: which model it is, and which models cannot be compared with it."""

from collections.abc import Sequence
from pathlib import Path

from ..errors import UserError
from .comparison import compare_models
from .conditions import RunCondition, comparison_key
from .results import Result
from .wording import construction_name, language_name

Baseline = tuple[Path, str]  # folder and name: evaluate.py may have put several models in one folder


def find_baseline(conditions: Sequence[RunCondition], asked: str) -> Baseline:
    """Find the run named by its folder or by its name."""
    every = [result for condition in conditions for result in condition.results]
    found = [r for r in every if r.path.resolve() == Path(asked).resolve()] or [r for r in every if r.name == asked.rstrip("/")]
    names = list(dict.fromkeys((r.path, r.name) for r in found))
    if len(names) == 1:
        _must_be_comparable(asked, found, every)
        return names[0]
    if names:
        places = ", ".join(f"{path} ({name})" for path, name in names[:8])
        raise UserError(f"--baseline {asked}: matches {len(names)} models; name one of them: {places}")
    known = ", ".join(list(dict.fromkeys(r.name for r in every))[:8])
    raise UserError(f"--baseline {asked}: no such run in this report; available: {known}")


def _must_be_comparable(asked: str, base: Sequence[Result], every: Sequence[Result]) -> None:
    """A German baseline among French runs would produce empty tables."""
    keys = {comparison_key(result) for result in base}
    others = [result for result in every if (result.path, result.name) != (base[0].path, base[0].name)]
    if others and not any(comparison_key(result) in keys for result in others):
        of, there = (", ".join(dict.fromkeys(language_name(result.language) for result in some)) for some in (base, others))
        raise UserError(
            f"--baseline {asked}: no other model in the report was evaluated on the same items "
            f"(the baseline: {of}; the others: {there}); choose a baseline with the same language and set, or drop --baseline"
        )


def explain_uncovered(conditions: Sequence[RunCondition], baseline: Baseline) -> list[str]:
    """What in the report is not compared with the baseline, and why; one line per reason."""
    bases = [result for condition in conditions for result in condition.results if (result.path, result.name) == baseline]
    found: dict[str, list[str]] = {}
    for condition in conditions:
        others = [result for result in condition.results if (result.path, result.name) != baseline]
        for why in dict.fromkeys(why for result in others for why in _reasons(result, bases)):
            own = [result.name for result in others if why in _reasons(result, bases)]
            some = "" if len(own) == len(others) else f" ({', '.join(own)})"
            found.setdefault(why, []).append(f"{condition.title}, {condition.first.set}{some}")
    return [f"not compared with the baseline {baseline[1]}: {'; '.join(names)}: {why}" for why, names in found.items()]


def _reasons(result: Result, bases: Sequence[Result]) -> list[str]:
    """Why a model, or some of its constructions, cannot be compared; empty if everything can."""
    same = next((base for base in bases if comparison_key(base) == comparison_key(result)), None)
    if same is None:
        return [_what_differs(result, bases)]
    tested = {each.construction for each in compare_models(result, same)}
    if not tested:
        return ["the per-item verdicts are missing"]
    missing = [construction_name(name) for name in result.scores if name not in tested]
    return [f"no item of {', '.join(missing)} is covered by both"] if missing else []


def _what_differs(result: Result, bases: Sequence[Result]) -> str:
    of_language = [base for base in bases if base.language == result.language]
    other = next((base for base in of_language if base.set == result.set), None)
    if not of_language:
        return f"the baseline was not evaluated in {language_name(result.language)}"
    if other is None:
        return f"the baseline was not evaluated on {result.set}"
    if not (result.finished and other.finished):
        return f"{'this run' if other.finished else 'the baseline'} is not finished, so only its sample of items is known"
    if other.label != result.label:
        return f"different scoring rules ({result.label}; the baseline: {other.label})"
    return "the items differ"
