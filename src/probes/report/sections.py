"""The parts of the page that are text: summary, runs, links to constructions, how it was measured."""

import math
from collections.abc import Sequence
from typing import Any

import yaml

from probes.accuracy import MEAN

from .conditions import Group, apart
from .gathering import LeftOut
from .page import element, escaped
from .page_data import results_of
from .paper_tables import Estimates
from .results import Result
from .statistics_tables import words_shown
from .wording import construction_name, language_name, ordered

CARDS = 12


def summary(title: str, estimates: Estimates, left_out: Sequence[LeftOut]) -> str:
    """What there is, how well it does, and what is not here."""
    groups = estimates.groups
    cards = "".join(_card(group, estimates) for group in groups[:CARDS])
    more = f'<p class="note">and {len(groups) - CARDS} more conditions, in the tables below.</p>' if len(groups) > CARDS else ""
    return element("h1", escaped(title)) + element("p", _lead(groups), class_="lead") + element("div", cards, class_="cards") + more + warnings(groups, left_out)


def _lead(groups: Sequence[Group]) -> str:
    results = results_of(groups)
    languages = list(dict.fromkeys(language_name(group.language) for group in groups))
    running = sum(not result.finished for result in results)
    said = f"{_count(len(results), 'model')} in {_count(len(groups), 'condition')}, {_and(languages)}; "
    said += f"{_count(len({r.set for r in results}), 'collection')} of challenge sets ({', '.join(dict.fromkeys(r.set for r in results))})."
    return escaped(said + (f" {running} not finished: known by the last probe so far." if running else ""))


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + f" and {names[-1]}"


def _card(group: Group, estimates: Estimates) -> str:
    mean = estimates.of(group, MEAN)
    known = {name: estimates.of(group, name).mean for name in group.constructions if estimates.of(group, name).known}
    facts = [("seeds", str(len(group.results)))] if len(group.results) > 1 else []
    perplexities = [result.perplexity for result in group.results if not math.isnan(result.perplexity)]
    facts += [("perplexity", f"{sum(perplexities) / len(perplexities):,.2f}")] if perplexities else []
    if known:
        facts += [(what, f"{construction_name(name)} {known[name]:.2f}") for what, name in (("best", max(known, key=known.__getitem__)), ("hardest", min(known, key=known.__getitem__)))]
    rows = "".join(f"<dt>{what}</dt><dd>{escaped(value)}</dd>" for what, value in facts)
    interval = "" if math.isnan(mean.low) else f" <small>{mean.low:.2f}–{mean.high:.2f}</small>"
    shown = "–" if not mean.known else f"{mean.mean:.2f}{interval}"
    who = f"{escaped(language_name(group.language))} · {escaped(group.name)}"
    return element("div", f'<div class="who">{who}</div><div class="big" title="mean accuracy, 95 %">{shown}</div><dl>{rows}</dl>', class_="card")


def warnings(groups: Sequence[Group], left_out: Sequence[LeftOut]) -> str:
    """Nothing is left out or kept apart in silence."""
    made = ""
    notes = apart(groups)
    if notes:
        made += element("div", "<strong>Shown apart</strong><ul>" + "".join(f"<li>{escaped(note)}</li>" for note in notes) + "</ul>", class_="warn")
    if left_out:
        rows = "".join(f"<li><code>{escaped(each.path)}</code>: {escaped(each.why)}</li>" for each in left_out)
        made += f'<details class="warn" id="left-out"{" open" if len(left_out) < 7 else ""}><summary>Left out: {len(left_out)}</summary><ul>{rows}</ul></details>'
    return made


# ------------------------------------------------------------------------ runs

COLUMNS = ("run", "language", "condition", "seed", "state", "words seen", "test perplexity", "mean accuracy", "mismatched", "ties", "uncovered")


def runs(groups: Sequence[Group]) -> str:
    """A table that can be sorted by any column."""
    text = ("run", "language", "condition", "state")
    heads = "".join(f'<th scope="col"{_left(name in text)}><button>{name}</button></th>' for name in COLUMNS)
    rows = []
    for group in groups:
        for result in group.results:
            cells = [_run_cell(value, name in text) for name, value in zip(COLUMNS, _row(group, result), strict=True)]
            rows.append(f"<tr>{''.join(cells)}</tr>")
    body = f"<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return element("div", element("table", body, class_="grid sortable", id="run-table"), class_="scroll", tabindex="0")


def _left(yes: bool) -> str:
    return ' class="text"' if yes else ""


def _row(group: Group, result: Result) -> list[Any]:
    state = "evaluated" if result.kind == "evaluation" else "finished" if result.finished else "not finished"
    mismatched = [score.parts["mismatched"][0] for score in result.scores.values() if "mismatched" in score.parts]
    counts = [sum(getattr(score, name) for score in result.scores.values()) for name in ("ties", "uncovered")]
    unequal = sum(mismatched) / len(mismatched) if mismatched else math.nan
    return [result.name, language_name(result.language), group.name, result.seed, state, result.words, result.perplexity, result.mean, unequal, *counts]


def _run_cell(value: Any, text: bool) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return '<td data-v="">–</td>'
    shown = words_shown(value) if isinstance(value, int) and value >= 10_000 else f"{value:.2f}" if isinstance(value, float) else str(value)
    return f'<td data-v="{escaped(value)}"{_left(text)}>{escaped(shown)}</td>'


def constructions(estimates: Estimates) -> str:
    """Links to the pages of constructions."""
    made = ""
    for language, name in dict.fromkeys((group.language, group.first.set) for group in estimates.groups):
        own = [group for group in estimates.groups if (group.language, group.first.set) == (language, name)]
        links = []
        for construction in ordered(list(dict.fromkeys(c for group in own for c in group.constructions))):
            values = [estimates.of(group, construction).mean for group in own if estimates.of(group, construction).known]
            shown = f"{min(values):.2f}–{max(values):.2f}" if len(values) > 1 else f"{values[0]:.2f}" if values else "–"
            links.append(f'<li><a href="#/{escaped(f"{language}/{name}/{construction}")}">{escaped(construction_name(construction))}<b>{shown}</b></a></li>')
        made += element("h3", escaped(f"{language_name(language)}, {name}")) + element("ul", "".join(links), class_="links")
    return made


# --------------------------------------------------------------------- sources


def sources(groups: Sequence[Group]) -> str:
    """The contracts in words, the settings of every condition, the versions."""
    contracts = {group.first.label: group.first.contract.get("statement", "not known") for group in groups}
    facts = "".join(f"<dt>{escaped(label)}</dt><dd>{escaped(text)}</dd>" for label, text in contracts.items())
    made = element("h3", "Scoring contract") + element("dl", facts, class_="facts", id="contract")
    made += element("h3", "Sets") + element("dl", _sets(groups), class_="facts") + element("h3", "Settings")
    for group in groups:
        text = yaml.safe_dump(_plain(group.first.settings), allow_unicode=True, sort_keys=False, width=110)
        size = f"{len(group.results)} runs: {', '.join(result.name for result in group.results)}" if len(group.results) > 1 else group.first.name
        made += f"<details><summary>{escaped(group.title)}</summary><p class=\"note\">{escaped(size)}</p><pre>{escaped(text)}</pre></details>"
    return made + element("h3", "Versions") + _versions(groups)


def _sets(groups: Sequence[Group]) -> str:
    rows = dict.fromkeys((g.language, g.first.set, g.first.digest, g.first.vocabulary) for g in groups)
    return "".join(f"<dt>{escaped(language_name(lang))}, {escaped(name)}</dt><dd>items {escaped(digest)}, vocabulary {escaped(vocabulary)}</dd>" for lang, name, digest, vocabulary in rows)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _versions(groups: Sequence[Group]) -> str:
    """Starts that were alike are told once."""
    found: dict[str, list[str]] = {}
    for result in results_of(groups):
        starts = result.provenance.get("starts") or [{}]
        known = {key: starts[-1][key] for key in ("git", "python", "platform", "versions") if starts[-1].get(key)}
        text = yaml.safe_dump(_plain(known), allow_unicode=True, sort_keys=False) if known else "not known\n"
        found.setdefault(text, []).append(result.name)
    return "".join(f"<details><summary>{escaped(_few(names))}</summary><pre>{escaped(text)}</pre></details>" for text, names in found.items())


def _few(names: Sequence[str]) -> str:
    several = list(dict.fromkeys(names))
    return ", ".join(several[:3]) + (f" and {len(several) - 3} more" if len(several) > 3 else "")
