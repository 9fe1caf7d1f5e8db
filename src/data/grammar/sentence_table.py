"""Groups of sentences in the terminal."""

import itertools
import random

from rich.table import Table
from rich.text import Text

from ...terminal import table, width
from .expand import Expansion, Group

SENTENCE = 48  # minimum width of the sentences, in columns


def groups_table(title: str, groups: list[Group]) -> Table:
    """One row per group. What is the same for all goes into the title; `subject_number` is headed `subject`.

    Features that would leave too little room for the sentences are listed at the end of the title.
    """
    names = dict.fromkeys(name for group in groups for name in group.features)
    values = {name: {group.features.get(name) for group in groups} for name in names}
    shared = ", ".join(f"{name} {next(iter(seen))}" for name, seen in values.items() if len(seen) == 1 and len(groups) > 1)
    shown = [name for name in names if len(values[name]) > 1 or len(groups) == 1]
    shown, hidden = _fitting(shown, values)
    further = f"; not shown: {', '.join(hidden)}" if hidden else ""
    view = table(f"{title}  {shared}{further}", *(_head(name) for name in shown), last="sentence")
    for group in groups:
        view.add_row(*(str(group.features.get(name, "")) for name in shown), marked(group))
    return view


def _fitting(names: list[str], values: dict[str, set]) -> tuple[list[str], list[str]]:
    """The first features that fit beside the sentences, and the rest."""
    room = width() - SENTENCE
    for at, name in enumerate(names):
        room -= 2 + max(len(text) for text in (_head(name), *map(str, values[name])))
        if room < 0:
            return names[:at], names[at:]
    return names, []


def _head(name: str) -> str:
    return name.removesuffix("_number")


def marked(group: Group) -> Text:
    """The grammatical sentence, with each varied slot as [good / *bad]."""
    good, *bad = group.sentences
    words = good.text.split()
    text, at = Text(), 0
    for number, (start, end) in enumerate(good.spans):
        text.append(" ".join(words[at:start]) + " " if start > at else "")
        text.append("[" + " ".join(words[start:end]), style="bold green")
        others = dict.fromkeys(" ".join(s.text.split()[slice(*s.spans[number])]) for s in bad)
        for other in others:
            text.append(" / ", style="dim")
            text.append(f"*{other}", style="red")
        text.append("] ", style="bold green")
        at = end
    text.append(" ".join(words[at:]))
    text.rstrip()
    return text


def sample_groups(expansion: Expansion, n: int, seed: int) -> list[Group]:
    """Every template appears before any appears twice; one reservoir per template, so that memory stays small."""
    rng = random.Random(seed)
    reservoirs: dict[int, list[Group]] = {}
    seen: dict[int, int] = {}
    for group in expansion:
        reservoir = reservoirs.setdefault(group.template, [])
        seen[group.template] = seen.get(group.template, 0) + 1
        if len(reservoir) < n:
            reservoir.append(group)
        elif (place := rng.randrange(seen[group.template])) < n:
            reservoir[place] = group
    rounds = itertools.zip_longest(*reservoirs.values())
    chosen = [group for row in rounds for group in row if group is not None][:n]
    return sorted(chosen, key=lambda group: group.number)
