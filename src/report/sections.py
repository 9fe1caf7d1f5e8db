"""The top of the page, and the links to its constructions."""

import math
from collections.abc import Iterable, Sequence
from urllib.parse import quote

from ..probes.accuracy import MEAN
from .acquisition import LEVELS, words_to_level
from .conditions import RunCondition, explain_separations
from .estimates import Estimates
from .learning_curves import perplexity_curve
from .left_out import LeftOut
from .page import element, escape
from .page_data import results_in
from .phase_tables import rules_of
from .wording import construction_name, format_words, in_paper_order, language_name

CARDS = 12


def summary_section(title: str, estimates: Estimates, left_out: Sequence[LeftOut], not_compared: Sequence[str] = ()) -> str:
    """What there is, how well it does, and what is missing."""
    conditions = estimates.conditions
    cards = element("div", "".join(_card(condition, estimates) for condition in conditions[:CARDS]), class_="cards")
    rest = len(conditions) - CARDS
    more = element("p", f"{rest} more conditions are in the tables below.", class_="note") if rest > 0 else ""
    head = element("h1", escape(title)) + element("p", _lead(conditions), class_="lead")
    return head + cards + more + warnings(conditions, left_out, not_compared)


def _lead(conditions: Sequence[RunCondition]) -> str:
    results = results_in(conditions)
    running = sum(not result.finished for result in results)
    models = len({(str(result.path), result.name) for result in results})  # a multilingual one is one model
    said = f"{_count(models, 'model')} in {_count(len(conditions), 'condition')}, {join_names(language_names(conditions))}. "
    said += f"Large numbers are mean accuracies over constructions ({_about_chance(conditions)}), with 95\u00a0% intervals."
    return escape(said + (f" Not finished: {running}, represented by the latest probe." if running else ""))


def language_names(conditions: Sequence[RunCondition]) -> list[str]:
    """The names of their languages."""
    return list(dict.fromkeys(language_name(condition.language) for condition in conditions))


def _about_chance(conditions: Sequence[RunCondition]) -> str:
    known = sorted({f"{condition.first.chance(MEAN):.2f}" for condition in conditions if condition.first.mean_over})
    return f"chance is {known[0]}" if len(known) == 1 else f"chance is {known[0]} to {known[-1]}" if known else "chance unknown"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def join_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + f" and {names[-1]}"


def _card(condition: RunCondition, estimates: Estimates) -> str:
    mean = estimates.of(condition, MEAN)
    interval = "" if math.isnan(mean.low) else " " + element("small", f"{mean.low:.2f}–{mean.high:.2f}")
    rows = "".join(element("dt", what) + element("dd", escape(value)) for what, value in _facts(condition, estimates))
    who = element("div", escape(f"{language_name(condition.language)} · {condition.name}"), class_="who")
    number = element("div", f"{mean.mean:.2f}{interval}" if mean.known else "–", class_="big", title="mean accuracy, 95\u00a0%")
    return element("div", who + number + element("dl", rows), class_="card")


def _facts(condition: RunCondition, estimates: Estimates) -> list[tuple[str, str]]:
    facts = [("seeds", str(len(condition.results)))] if len(condition.results) > 1 else []
    perplexities = [result.perplexity for result in condition.results if not math.isnan(result.perplexity)]
    facts += [("test perplexity", f"{math.fsum(perplexities) / len(perplexities):,.2f}")] if perplexities else []
    facts += (
        [("validation perplexity", f"{valid[-1]:,.2f}")]
        if not perplexities and (valid := perplexity_curve(condition).mean)
        else []
    )
    return facts + _extremes(condition, estimates) + _first_and_last_learnt(condition)


def _extremes(condition: RunCondition, estimates: Estimates) -> list[tuple[str, str]]:
    """The best and the hardest construction, if a reader would see a difference."""
    known = [
        (estimates.of(condition, name).mean, name)
        for name in in_paper_order(condition.constructions)
        if estimates.of(condition, name).known
    ]
    if len(known) < 2:
        return []
    ends = (("best", max(known)), ("hardest", min(known)))
    if len({f"{value:.2f}" for _, (value, _) in ends}) == 1:
        return [("every construction", f"{known[0][0]:.2f}")]
    return [(what, f"{value:.2f} {construction_name(name)}") for what, (value, name) in ends]


def _first_and_last_learnt(condition: RunCondition) -> list[tuple[str, str]]:
    """What was learnt first and last: mean words seen to 75 %, among the constructions that every seed learnt."""
    known = []
    for name in in_paper_order(condition.constructions):
        words = [words_to_level(result, name, LEVELS[0]) for result in condition.results]
        known += [(math.fsum(words) / len(words), name)] if all(map(math.isfinite, words)) else []
    if len(known) < 2:
        return []
    ends = (("learnt first", min(known)), ("learnt last", max(known)))
    return [
        (what, f"{construction_name(name)}, " + f"{format_words(words)} {condition.first.axis}".replace(" ", "\u00a0"))
        for what, (words, name) in ends
    ]


def warnings(conditions: Sequence[RunCondition], left_out: Sequence[LeftOut], not_compared: Sequence[str] = ()) -> str:
    """Nothing is left out or shown separately in silence."""
    notes = explain_separations(conditions)
    made = element("div", "<strong>Shown separately</strong>" + _list(map(escape, notes)), class_="warn") if notes else ""
    if not_compared:
        made += element("div", "<strong>Not compared</strong>" + _list(map(escape, not_compared)), class_="warn")
    if left_out:
        lines = (f"<code>{escape(each.path)}</code>: {escape(each.why)}" for each in left_out)
        content = element("summary", f"Left out: {len(left_out)}") + _list(lines)
        made += element("details", content, class_="warn", id_="left-out", open_="" if len(left_out) < 7 else None)
    return made


def _list(lines: Iterable[str]) -> str:
    return element("ul", "".join(element("li", line) for line in lines))


def _address(*parts: str) -> str:
    """The address of a construction's page, encoded part by part, since a name may contain a slash."""
    return "#/" + "/".join(quote(part, safe="") for part in parts)


def construction_links(estimates: Estimates) -> str:
    """Links to the pages of constructions."""
    made = ""
    for language, name in dict.fromkeys((condition.language, condition.first.set) for condition in estimates.conditions):
        own = [condition for condition in estimates.conditions if (condition.language, condition.first.set) == (language, name)]
        names = in_paper_order(list(dict.fromkeys(c for condition in own for c in condition.constructions)))
        links = "".join(
            _link(_address(language, name, each), each, [estimates.of(condition, each).mean for condition in own])
            for each in names
        )
        made += element("h3", escape(f"{language_name(language)}, {name}")) + element("ul", links, class_="links")
    return made


def _link(target: str, construction: str, accuracies: Sequence[float]) -> str:
    known = [value for value in accuracies if not math.isnan(value)]
    shown = "–" if not known else "–".join(dict.fromkeys((f"{min(known):.2f}", f"{max(known):.2f}")))
    return element("li", element("a", escape(construction_name(construction)) + element("b", shown), href=target))


def phases_section(conditions: Sequence[RunCondition]) -> str:
    """Placeholders for the phase charts, if any run was compared with surface rules."""
    if not any(rules_of(condition, name) for condition in conditions for name in [*condition.constructions, MEAN]):
        return ""
    charts = "".join(
        element("div", element("h4", title) + element("div", "", class_="chart", id_=place))
        for title, place in (("where the rule is right", "helped-chart"), ("where the rule is wrong", "misled-chart"))
    )
    inside = element("div", "", class_="controls", id_="phase-controls") + element("div", charts, class_="duo")
    inside += element("div", "", class_="chips", id_="phase-chips", role="group", aria_label="rules shown")
    said = (
        "The model's accuracy on the items where a surface rule picks the right form, and on those where it picks "
        "the wrong one, so that a model following the rule is wrong. Bands are 95\u00a0% intervals over seeds. Below the axes: "
        "the phase, that is, the rule that the model follows on more than half of the items where the rule "
        "contradicts the grammar, or structure."
    )
    note = element("p", said, class_="note")
    return element("section", element("h2", "Phases of learning") + element("div", inside, class_="panel") + note, id_="phases")
