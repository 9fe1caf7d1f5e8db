"""`concord sets list` and `show`: which sets there are, and a few items."""

import argparse
from pathlib import Path

from rich.text import Text

from ...probes.challenge_set import MinimalSet
from ...probes.collection import CollectedSet, split, stratified_sample
from ...probes.suites.suite_files import read as read_suite
from ...probes.suites.suite_screen import suite_lines
from ...terminal import console, table
from .set_arguments import add_set_arguments, positive

SHORT = 24  # letters: the longest feature shown beside the sentences


def add_list(command: argparse.ArgumentParser) -> None:
    add_set_arguments(command, run_list)


def add_show(command: argparse.ArgumentParser) -> None:
    add_set_arguments(command, run_show)
    command.add_argument("-n", type=positive, default=4, metavar="N", help="how many per set (default 4)")


def run_list(_: argparse.Namespace, found: list[CollectedSet]) -> None:
    forms = {each.form for each in found}
    several = ["format"] if len(forms) > 1 else []
    title = "challenge sets" + ("" if several else f" ({', '.join(forms)})")
    view = table(title, "construction", *several, numbers=["items", "sentences", "dev", "test"], last="split by")
    for each in found:
        made = each.challenge_set
        halves = split(made)
        numbers = (f"{n:,}" for n in (len(made), len(made.sentences), len(halves.dev), len(halves.test)))
        view.add_row(made.construction, *([each.form] if several else []), *numbers, halves.rule)
    console.print(view)
    features = dict.fromkeys(name for each in found for name in each.challenge_set.feature_names())
    console.print(f"features: {', '.join(features) or 'none'}")


def run_show(arguments: argparse.Namespace, found: list[CollectedSet]) -> None:
    for each in found:
        made = each.challenge_set
        if made.is_suite:
            suite = read_suite(Path(made.file))
            for line in suite_lines(suite, made.language or suite.language, suite.items[: arguments.n]):
                console.print(line, markup=False, soft_wrap=True)
            continue
        view = table(f"{made.construction}  ({len(made):,} items)", "features", last="variants")
        for index in stratified_sample(made, min(arguments.n, len(made)), arguments.seed):
            item = made[index]
            view.add_row(described(item), variants(item))
        console.print(view)


def described(item: MinimalSet) -> str:
    """The numbers of subject and attractors if known, otherwise whatever else is known and short."""
    numbers = [str(value) for name, value in item.features.items() if name.endswith("_number")]
    others = [text for text in map(str, item.features.values()) if len(text) <= SHORT]
    return " ".join(numbers) or ", ".join(others[:2]) or "–"


def variants(item: MinimalSet) -> Text:
    """One line per variant: target in brackets, ungrammatical ones starred."""
    text = Text()
    for number, variant in enumerate(item.variants):
        star = {True: "  ", False: "* ", None: f"{variant.role}: "}[variant.grammatical]
        text.append("\n" if number else "")
        text.append(star, style="red" if variant.grammatical is False else "dim")
        starts = {start for name, start, end in variant.spans if name.startswith("target") and end > start}
        ends = {end - 1 for name, start, end in variant.spans if name.startswith("target") and end > start}
        words = (f"{'[' if i in starts else ''}{word}{']' if i in ends else ''}" for i, word in enumerate(variant.words))
        text.append(" ".join(words))
    return text
