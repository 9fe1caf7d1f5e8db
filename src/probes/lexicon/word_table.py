"""The chosen words for readers: one row per list in the terminal, one row per word in a file."""

import logging
from pathlib import Path

from rich.table import Table

from ...terminal import show, table
from .fitting import FittedLexicon, LexiconWord

log = logging.getLogger(__name__)

LEXICON = "lexicon.tsv"  # beside the results of an evaluation


def lists_table(fitted: FittedLexicon, title: str) -> Table:
    """Each list: its words, how many the vocabulary lacks, how many are rare, how many are used, and how the numbers match."""
    view = table(
        title,
        "list",
        numbers=["words", "unknown", "rare", "spare", "chosen", "sg : pl, all", "sg : pl, chosen"],
        last="chosen words",
    )
    for name in dict.fromkeys(word.lists for word in fitted.words):
        own = [word for word in fitted.words if word.lists == name]
        chosen = [word for word in own if word.outcome == "chosen"]
        fit = [word for word in own if word.outcome in ("chosen", "spare")]
        counts = (sum(word.outcome == outcome for word in own) for outcome in ("unknown", "rare", "spare", "chosen"))
        shown = ", ".join(word.row.word for word in chosen)
        view.add_row(name, *(str(n) for n in (len(own), *counts)), number_ratio(fit), number_ratio(chosen), shown)
    return view


def number_ratio(words: list[LexiconWord]) -> str:
    """The geometric mean ratio of singular to plural frequency; empty for words without number."""
    told = [word.imbalance for word in words if word.shows_number]
    return f"{2 ** (sum(told) / len(told)):.2f}" if told else ""


def show_choice(fitted: FittedLexicon, title: str) -> None:
    """Show the table, and say what was not available."""
    show(lists_table(fitted, title))
    if short := fitted.short():
        rare = any(word.outcome == "rare" and word.lists in short for word in fitted.words)
        remedy = "lower probes.least= to admit rarer ones" if rare else "the others are not in the vocabulary"
        said = ", ".join(f"{name} {taken} of {wanted}" for name, (taken, wanted) in short.items())
        log.warning("lexicon    fewer words fit than wanted (%s); %s", said, remedy)
    if fixed := [name for name, grammar in fitted.grammars.items() if grammar is None]:
        log.warning("lexicon    taken from the fixed sets for lack of words: %s", ", ".join(fixed))
    if fitted.unknown_context:
        log.warning("lexicon    template words not in the vocabulary: %s", ", ".join(fitted.unknown_context))


def save_choice(file: Path, fitted: FittedLexicon) -> None:
    """Write every word with its fate, why, and how often each of its forms occurs."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write("list\tword\toutcome\treason\tfrequencies\n")
        for word in fitted.words:
            counts = ", ".join(f"{form} {word.counts.get(form, 0):g}" for form in word.words)
            stream.write(f"{word.lists}\t{word.row.word}\t{word.outcome}\t{word.reason}\t{counts}\n")
