"""Which runs may be averaged: those that differ in nothing but the seed, asked the same items under the same contract."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .results import Result
from .wording import language_name

# Of the settings: what does not change a result, and what is told apart in another way (language, items and contract).
ASIDE = ("seed", "name", "tags", "overwrite", "paths", "logger", "probes", "lang", "debug", "experiment", "summary")
MACHINE = ("accelerator", "devices", "num_nodes", "strategy", "threads", "profiler", "log_every_n_steps")
SHOWN = 3  # settings in the name of a condition


@dataclass(frozen=True)
class Condition:
    """Runs that differ in their seed alone. `name` tells the condition from the others of the report."""

    name: str
    results: tuple[Result, ...]

    @property
    def first(self) -> Result:
        return self.results[0]

    @property
    def language(self) -> str:
        return self.first.language

    @property
    def multilingual(self) -> bool:
        return len(self.first.languages) > 1

    @property
    def constructions(self) -> list[str]:
        return list(dict.fromkeys(name for result in self.results for name in result.scores))

    @property
    def title(self) -> str:
        """With its language."""
        return f"{language_name(self.language)}, {self.name}"


def condition_settings(result: Result) -> dict[str, Any]:
    """What makes the condition: a flat view of all settings that change the model, the seed aside."""
    kept = {key: value for key, value in result.settings.items() if key not in ASIDE}
    if kept.get("ckpt_path") in (None, "auto"):  # another file would be another beginning
        kept.pop("ckpt_path", None)
    if isinstance(kept.get("trainer"), Mapping):
        kept["trainer"] = {key: value for key, value in kept["trainer"].items() if key not in MACHINE}
    return dict(_flatten(kept)) | {"languages": "+".join(result.languages)}


def _flatten(settings: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    pairs: list[tuple[str, Any]] = []
    for key, value in settings.items():
        pairs += _flatten(value, f"{prefix}{key}.") if isinstance(value, Mapping) and value else [(f"{prefix}{key}", value)]
    return pairs


def condition_key(result: Result) -> str:
    """Equal for runs that differ in nothing but the seed."""
    return json.dumps(condition_settings(result), sort_keys=True, default=str)


def comparison_key(result: Result) -> tuple[str, ...]:
    """Accuracies of the same items under the same contract."""
    return result.language, result.set, result.digest, result.label


def _group_key(result: Result) -> tuple[str, ...]:
    return (condition_key(result), *comparison_key(result), result.sample, result.vocabulary, str(result.finished))


def group_by_condition(results: Sequence[Result]) -> list[Condition]:
    """The conditions, by language, one language before several, in the order in which they were found."""
    found: dict[tuple[str, ...], list[Result]] = {}
    for result in results:
        found.setdefault(_group_key(result), []).append(result)
    members = [tuple(sorted(condition, key=lambda r: (r.seed is None, r.seed, r.name))) for condition in found.values()]
    names = _names([condition[0] for condition in members])
    conditions = [Condition(name, condition) for name, condition in zip(names, members, strict=True)]
    return sorted(conditions, key=lambda condition: (condition.language, condition.first.set, condition.multilingual))


# ----------------------------------------------------------------------- names


def _names(firsts: Sequence[Result]) -> list[str]:
    """As short as tells them apart: the network, then the settings that differ, then how they were asked."""
    plain = [_name_by_settings(result, [other for other in firsts if other.language == result.language]) for result in firsts]
    names = [_add_what_differs(i, plain, firsts) for i in range(len(firsts))]
    return [_add_number(i, names, firsts) for i in range(len(firsts))]


def _add_number(i: int, names: Sequence[str], firsts: Sequence[Result]) -> str:
    """Two conditions of one language never share a name, whatever it does not show: tables and figures go by it."""
    before = [j for j in range(i) if names[j] == names[i] and firsts[j].language == firsts[i].language]
    return f"{names[i]} ({len(before) + 1})" if before else names[i]


def _name_by_settings(result: Result, others: Sequence[Result]) -> str:
    model = str((result.settings.get("model") or {}).get("name", "model"))
    alike = [condition_settings(other) for other in others if (other.settings.get("model") or {}).get("name", "model") == model]
    own = condition_settings(result)
    differing = [key for key in own if key != "languages" and len({str(each.get(key)) for each in alike}) > 1]
    shown = [f"{key.split('.', 1)[-1] if len(key) > 20 else key}={own[key]}" for key in differing[:SHOWN]]
    more = ["…"] if len(differing) > SHOWN else []
    several = [f"{len(result.languages)} languages"] if len(result.languages) > 1 else []
    scoring = [str(result.settings["scoring"])] if "scoring" in result.settings and "scoring" not in differing else []
    return ", ".join([model, *several, *shown, *more, *scoring])


def _add_what_differs(i: int, names: Sequence[str], firsts: Sequence[Result]) -> str:
    """Add what the settings do not show: contract, items, vocabulary, a run that is not finished."""
    own = firsts[i]
    rivals = [
        r for name, r in zip(names, firsts, strict=True) if name == names[i] and r.language == own.language and r is not own
    ]
    parts = [names[i]]
    if any(other.set != own.set for other in rivals):
        parts.append(own.set)
    if own.label != "default" and any(other.label != own.label for other in rivals):
        parts.append(own.label)
    alike = [
        other for other in rivals if other.label == own.label
    ]  # another contract may change the sentences, and so the digest
    if any(other.digest != own.digest and other.finished == own.finished for other in alike):
        parts.append(f"set {own.digest[:6]}")
    elif any(other.sample != own.sample and other.finished == own.finished for other in alike):
        parts.append(f"sample {own.sample[:6]}")
    if any(other.vocabulary != own.vocabulary for other in rivals):
        parts.append(f"vocabulary {own.vocabulary[-6:]}")
    if not own.finished:
        parts.append("unfinished")
    return " · ".join(parts)


def explain_separations(conditions: Sequence[Condition]) -> list[str]:
    """What one might have expected to be averaged, and why it was not."""
    notes = []
    by_condition: dict[tuple[str, str, str], list[Condition]] = {}
    for condition in conditions:
        by_condition.setdefault((condition_key(condition.first), condition.language, condition.first.set), []).append(condition)
    for (_, language, name), members in by_condition.items():
        reasons = _differences([condition.first for condition in members])
        if len(members) > 1 and reasons:
            sizes = " and ".join(str(len(condition.results)) for condition in members)
            what = f"{language_name(language)} {name}: {sizes} runs of the same settings"
            notes.append(f"{what} are shown apart, since they differ in {reasons}")
    return notes


def _differences(firsts: Sequence[Result]) -> str:
    finished = [result for result in firsts if result.finished]
    facts = {
        "the items of the set": [result.digest for result in finished],
        "the items asked on the way": [result.sample for result in firsts if result.kind == "run"],
        "the scoring contract": [result.label for result in firsts],
        "the vocabulary": [result.vocabulary for result in firsts],
        "how far they are": ["finished" if result.finished else "not finished" for result in firsts],
    }
    return ", ".join(f"{what} ({' / '.join(dict.fromkeys(v))})" for what, v in facts.items() if len(set(v)) > 1)
