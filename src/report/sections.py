"""The beginning of the page, and the links to its constructions."""

import math
from collections.abc import Iterable, Sequence

from ..probes.accuracy import MEAN
from .acquisition import LEVELS, reached
from .conditions import Group, apart
from .estimates import Estimates
from .learning_curves import perplexity_curve
from .left_out import LeftOut
from .page import element, escaped
from .page_data import results_of
from .wording import construction_name, language_name, ordered, words_shown

CARDS = 12


def summary(title: str, estimates: Estimates, left_out: Sequence[LeftOut]) -> str:
    """What there is, how well it does, and what is not here."""
    groups = estimates.groups
    cards = element("div", "".join(_card(group, estimates) for group in groups[:CARDS]), class_="cards")
    rest = len(groups) - CARDS
    more = element("p", f"and {rest} more conditions, in the tables below.", class_="note") if rest > 0 else ""
    head = element("h1", escaped(title)) + element("p", _lead(groups), class_="lead")
    return head + cards + more + warnings(groups, left_out)


def _lead(groups: Sequence[Group]) -> str:
    results = results_of(groups)
    running = sum(not result.finished for result in results)
    models = len({(str(result.path), result.name) for result in results})  # one of several languages is one model
    said = f"{_count(models, 'model')} in {_count(len(groups), 'condition')}, {listed(languages(groups))}. "
    said += "The large number is mean accuracy over constructions (chance is 0.50), with its 95\u00a0% interval."
    return escaped(said + (f" Not finished: {running}, known by the last probe so far." if running else ""))


def languages(groups: Sequence[Group]) -> list[str]:
    """Their names."""
    return list(dict.fromkeys(language_name(group.language) for group in groups))


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + f" and {names[-1]}"


def _card(group: Group, estimates: Estimates) -> str:
    mean = estimates.of(group, MEAN)
    interval = "" if math.isnan(mean.low) else " " + element("small", f"{mean.low:.2f}–{mean.high:.2f}")
    rows = "".join(element("dt", what) + element("dd", escaped(value)) for what, value in _facts(group, estimates))
    who = element("div", escaped(f"{language_name(group.language)} · {group.name}"), class_="who")
    number = element("div", f"{mean.mean:.2f}{interval}" if mean.known else "–", class_="big", title="mean accuracy, 95\u00a0%")
    return element("div", who + number + element("dl", rows), class_="card")


def _facts(group: Group, estimates: Estimates) -> list[tuple[str, str]]:
    facts = [("seeds", str(len(group.results)))] if len(group.results) > 1 else []
    perplexities = [result.perplexity for result in group.results if not math.isnan(result.perplexity)]
    facts += [("test perplexity", f"{math.fsum(perplexities) / len(perplexities):,.2f}")] if perplexities else []
    facts += (
        [("validation perplexity", f"{valid[-1]:,.2f}")] if not perplexities and (valid := perplexity_curve(group).mean) else []
    )
    return facts + _extremes(group, estimates) + _firsts(group)


def _extremes(group: Group, estimates: Estimates) -> list[tuple[str, str]]:
    """The best and the hardest construction, where a reader would see a difference."""
    known = [(estimates.of(group, name).mean, name) for name in ordered(group.constructions) if estimates.of(group, name).known]
    if len(known) < 2:
        return []
    ends = (("best", max(known)), ("hardest", min(known)))
    if len({f"{value:.2f}" for _, (value, _) in ends}) == 1:
        return [("every construction", f"{known[0][0]:.2f}")]
    return [(what, f"{value:.2f} {construction_name(name)}") for what, (value, name) in ends]


def _firsts(group: Group) -> list[tuple[str, str]]:
    """What was learnt first and last: the mean over seeds of words seen to 75 %, of what all of them learnt."""
    known = []
    for name in ordered(group.constructions):
        words = [reached(result, name, LEVELS[0]) for result in group.results]
        known += [(math.fsum(words) / len(words), name)] if all(map(math.isfinite, words)) else []
    if len(known) < 2:
        return []
    ends = (("learnt first", min(known)), ("learnt last", max(known)))
    return [
        (what, f"{construction_name(name)}, " + f"{words_shown(words)} words".replace(" ", "\u00a0"))
        for what, (words, name) in ends
    ]


def warnings(groups: Sequence[Group], left_out: Sequence[LeftOut]) -> str:
    """Nothing is left out or kept apart in silence."""
    notes = apart(groups)
    made = element("div", "<strong>Shown apart</strong>" + _list(map(escaped, notes)), class_="warn") if notes else ""
    if left_out:
        lines = (f"<code>{escaped(each.path)}</code>: {escaped(each.why)}" for each in left_out)
        content = element("summary", f"Left out: {len(left_out)}") + _list(lines)
        made += element("details", content, class_="warn", id_="left-out", open_="" if len(left_out) < 7 else None)
    return made


def _list(lines: Iterable[str]) -> str:
    return element("ul", "".join(element("li", line) for line in lines))


def constructions(estimates: Estimates) -> str:
    """Links to the pages of constructions."""
    made = ""
    for language, name in dict.fromkeys((group.language, group.first.set) for group in estimates.groups):
        own = [group for group in estimates.groups if (group.language, group.first.set) == (language, name)]
        names = ordered(list(dict.fromkeys(c for group in own for c in group.constructions)))
        links = "".join(
            _link(f"#/{language}/{name}/{each}", each, [estimates.of(group, each).mean for group in own]) for each in names
        )
        made += element("h3", escaped(f"{language_name(language)}, {name}")) + element("ul", links, class_="links")
    return made


def _link(target: str, construction: str, accuracies: Sequence[float]) -> str:
    known = [value for value in accuracies if not math.isnan(value)]
    shown = "–" if not known else "–".join(dict.fromkeys((f"{min(known):.2f}", f"{max(known):.2f}")))
    return element("li", element("a", escaped(construction_name(construction)) + element("b", shown), href=target))
