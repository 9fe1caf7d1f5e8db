"""How groups of sentences look in a terminal."""

from rich.table import Table
from rich.text import Text

from ...terminal import table
from .expand import Group


def groups_table(title: str, groups: list[Group]) -> Table:
    """A row a group. What is the same for all goes into the title; `subject_number` is headed `subject`."""
    names = dict.fromkeys(name for group in groups for name in group.features)
    values = {name: {group.features.get(name) for group in groups} for name in names}
    shared = ", ".join(f"{name} {next(iter(seen))}" for name, seen in values.items() if len(seen) == 1 and len(groups) > 1)
    shown = [name for name in names if len(values[name]) > 1 or len(groups) == 1]
    view = table(f"{title}  {shared}", *(name.removesuffix("_number") for name in shown), last="sentence")
    for group in groups:
        view.add_row(*(str(group.features.get(name, "")) for name in shown), marked(group))
    return view


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
