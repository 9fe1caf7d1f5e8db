"""How everything was measured: the contracts in words, the sets, every condition's settings, the versions."""

from collections.abc import Mapping, Sequence

import yaml

from .conditions import RunCondition, contracts_of
from .page import element, escape
from .page_data import results_in
from .wording import language_name


def method_section(conditions: Sequence[RunCondition]) -> str:
    """The last section of the page."""
    made = element("h3", "Scoring contract") + _facts(contracts_of(conditions), id_="contract")
    made += element("h3", "Sets") + _facts(_sets(conditions)) + element("h3", "Settings")
    made += "".join(_settings(condition) for condition in conditions)
    return made + element("h3", "Versions") + _versions(conditions)


def _facts(pairs: Sequence[tuple[str, str]], **attributes: str) -> str:
    rows = "".join(element("dt", escape(name)) + element("dd", escape(text)) for name, text in pairs)
    return element("dl", rows, class_="facts", **attributes)


def _sets(conditions: Sequence[RunCondition]) -> list[tuple[str, str]]:
    rows = dict.fromkeys((g.language, g.first.set, g.first.digest, g.first.vocabulary) for g in conditions)
    return [
        (f"{language_name(lang)}, {name}", f"items {digest}, vocabulary {words} (digests: equal where these are the same)")
        for lang, name, digest, words in rows
    ]


def _settings(condition: RunCondition) -> str:
    names = ", ".join(result.name for result in condition.results)
    model = condition.first.model
    text = yaml.safe_dump(_plain(model.run.plain if model.run else model.recipe), allow_unicode=True, sort_keys=False, width=110)
    return _folded(condition.title, element("p", escape(names), class_="note") + element("pre", escape(text)))


def _folded(summary: str, content: str) -> str:
    return element("details", element("summary", escape(summary)) + content)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _versions(conditions: Sequence[RunCondition]) -> str:
    """Identical starts are listed once."""
    found: dict[str, list[str]] = {}
    for result in results_in(conditions):
        starts = result.provenance.get("starts") or [{}]
        known = {key: starts[-1][key] for key in ("git", "python", "platform", "versions") if starts[-1].get(key)}
        text = yaml.safe_dump(_plain(known), allow_unicode=True, sort_keys=False) if known else "not known"
        found.setdefault(text, []).append(result.name)
    return "".join(_folded(_few(names), element("pre", escape(text))) for text, names in found.items())


def _few(names: Sequence[str]) -> str:
    several = list(dict.fromkeys(names))
    return ", ".join(several[:3]) + (f" and {len(several) - 3} more" if len(several) > 3 else "")
