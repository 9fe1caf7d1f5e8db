"""What a condition is called: what a person would call it, and no longer than needed to tell it from the others.

The given name or tags if there are any; otherwise the network and the settings that differ, in words. Differences that settings
do not show (items, vocabulary) get a letter, which the note of `conditions.explain_separations` explains.
"""

import re
from collections.abc import Callable, Sequence

from ..settings.setting_words import describe_setting, find_differences
from .results import Result

Members = tuple[Result, ...]  # the runs of one condition
SHOWN = 3  # settings in a condition's name
FEW = 3  # languages listed by name; more are just counted
# Facts that settings do not show, and what their letters stand for.
LETTERED: dict[str, Callable[[Result], str]] = {
    "items": lambda result: result.digest,
    "sample": lambda result: result.sample,
    "vocabulary": lambda result: result.vocabulary,
}


def name_conditions(members: Sequence[Members]) -> list[str]:
    """One name each; no two conditions of one language share one, since tables and figures identify conditions by name."""
    firsts = [own[0] for own in members]
    given = [_given_name(own) for own in members]
    plain = [given[i] or _name_by_settings(result, firsts) for i, result in enumerate(firsts)]
    names = [_add_what_differs(i, plain, firsts) for i in range(len(firsts))]
    return [_add_number(i, names, firsts) for i in range(len(firsts))]


def _given_name(members: Members) -> str:
    """`name=` without the part that tells seeds apart, or the tags, if all runs of the condition share them."""
    models = [result.model for result in members]
    names = {re.sub(r"[-_. ]*(s|seed)?[-_]?\d+$", "", model.given_name) for model in models}
    if len(members) == 1 and models[0].given_name:
        names = {models[0].given_name}
    tags = {", ".join(model.tags) for model in models}
    return next((found.copy().pop() for found in (names, tags) if len(found) == 1 and found != {""}), "")


def _name_by_settings(result: Result, firsts: Sequence[Result]) -> str:
    model = result.model
    alike = [other.model for other in firsts if other.language == result.language and other.model.name == model.name]
    same = [other for other in alike if other.languages == model.languages]
    settings = {key: value for key, value in model.recipe.items() if key != "scoring"}
    of_language = {key: value for key, value in settings.items() if key.startswith("lang.")}
    differing = find_differences(of_language, [other.recipe for other in same])
    differing |= find_differences({key: settings[key] for key in settings if key not in of_language}, [r.recipe for r in alike])
    shown = [describe_setting(key, value) for key, value in differing.items()]
    several = ["+".join(model.languages)] if 1 < len(model.languages) <= FEW else []
    several += [f"{len(model.languages)} languages"] if len(model.languages) > FEW else []
    more = ["…"] if len(shown) > SHOWN else []
    return ", ".join([model.name, *several, *shown[:SHOWN], *more, *([model.scoring] if model.scoring else [])])


def _add_what_differs(i: int, names: Sequence[str], firsts: Sequence[Result]) -> str:
    """Add what the settings do not show: the set, the contract, items, vocabulary, an unfinished run."""
    own = firsts[i]
    rivals = [r for name, r in zip(names, firsts, strict=True) if name == names[i] and r.language == own.language]
    parts = [names[i]]
    if any(other.set != own.set for other in rivals):
        parts.append(own.set)
    if own.label != "default" and any(other.label != own.label for other in rivals):
        parts.append(own.label)
    # A different contract may change the sentences and so the digest; an unfinished run knows only its sample.
    alike = [r for r in rivals if (r.set, r.label, r.finished) == (own.set, own.label, own.finished)]
    for what, fact in LETTERED.items():
        values = list(dict.fromkeys(fact(result) for result in alike))
        if len(values) > 1 and not (what == "sample" and "items" in parts[-1]):
            parts.append(f"{what} {_letter(values.index(fact(own)))}")
    if not own.finished:
        parts.append("unfinished")
    return " · ".join(parts)


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else str(place + 1)


def _add_number(i: int, names: Sequence[str], firsts: Sequence[Result]) -> str:
    before = [j for j in range(i) if names[j] == names[i] and firsts[j].language == firsts[i].language]
    return f"{names[i]} ({len(before) + 1})" if before else names[i]
