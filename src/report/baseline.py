"""The model that every other is compared with: which it is, and what it cannot be compared with."""

from collections.abc import Sequence
from pathlib import Path

from ..errors import UserError
from .comparison import compare_models
from .conditions import RunCondition, comparison_key
from .results import Result
from .wording import construction_name, language_name

Baseline = tuple[Path, str]  # folder and name: evaluate.py may have put several models into one folder


def find_baseline(conditions: Sequence[RunCondition], asked: str) -> Baseline:
    """The run that was asked for by its folder or by its name."""
    every = [result for condition in conditions for result in condition.results]
    found = [r for r in every if r.path.resolve() == Path(asked).resolve()] or [r for r in every if r.name == asked.rstrip("/")]
    names = list(dict.fromkeys((r.path, r.name) for r in found))
    if len(names) == 1:
        _must_be_comparable(asked, found, every)
        return names[0]
    if names:
        places = ", ".join(f"{path} ({name})" for path, name in names[:8])
        raise UserError(f"--baseline {asked}: this could be any of {len(names)} models; name one of them: {places}")
    known = ", ".join(list(dict.fromkeys(r.name for r in every))[:8])
    raise UserError(f"--baseline {asked}: this run is not among those of the report; there are: {known}")


def _must_be_comparable(asked: str, base: Sequence[Result], every: Sequence[Result]) -> None:
    """A German baseline among French runs would make empty tables."""
    keys = {comparison_key(result) for result in base}
    others = [result for result in every if (result.path, result.name) != (base[0].path, base[0].name)]
    if others and not any(comparison_key(result) in keys for result in others):
        of, there = (", ".join(dict.fromkeys(language_name(result.language) for result in some)) for some in (base, others))
        raise UserError(
            f"--baseline {asked}: no other model of the report was asked the same (the baseline: {of}; the others: {there}); "
            "name a baseline of the same language and set, or leave --baseline out"
        )


def explain_uncovered(conditions: Sequence[RunCondition], baseline: Baseline) -> list[str]:
    """What of the report is not compared with the baseline, and why, one line per reason."""
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
    """Why a model, or some constructions of it, cannot be compared; none where everything can."""
    same = next((base for base in bases if comparison_key(base) == comparison_key(result)), None)
    if same is None:
        return [_what_differs(result, bases)]
    tested = {each.construction for each in compare_models(result, same)}
    if not tested:
        return ["the verdicts of single items are not there"]
    missing = [construction_name(name) for name in result.scores if name not in tested]
    return [f"no item of {', '.join(missing)} that both cover"] if missing else []


def _what_differs(result: Result, bases: Sequence[Result]) -> str:
    of_language = [base for base in bases if base.language == result.language]
    other = next((base for base in of_language if base.set == result.set), None)
    if not of_language:
        return f"the baseline was not asked in {language_name(result.language)}"
    if other is None:
        return f"the baseline was not asked {result.set}"
    if not (result.finished and other.finished):
        return f"{'this run' if other.finished else 'the baseline'} is not finished, and only a sample of its items is known"
    if other.label != result.label:
        return f"other rules of scoring ({result.label}; the baseline: {other.label})"
    return "the items are not the same"
