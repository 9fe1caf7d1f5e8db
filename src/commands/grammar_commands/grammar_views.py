"""`concord grammar list`, `count` and `show`: sizes, and a few sentences."""

import argparse
import itertools
import random
import sys

from ...data.grammar.audit import audit
from ...data.grammar.expand import Expansion, Group
from ...data.grammar.folder import constructions, folder_of, languages, load
from ...data.grammar.notices import Notice
from ...data.grammar.sentence_table import groups_table
from ...terminal import console, print_view, table
from .grammar_arguments import expansions


def run_list(_: argparse.Namespace) -> None:
    """One row per construction, one column per language."""
    sizes = {
        (c, lang): Expansion(load(folder_of(lang), c)).count() for lang in languages() for c in constructions(folder_of(lang))
    }
    names = dict.fromkeys(c for c, _ in sizes)
    view = table("minimal sets", "construction", numbers=languages())
    for name in names:
        view.add_row(name, *(str(sizes.get((name, lang), "")) for lang in languages()))
    console.print(view)


def run_count(arguments: argparse.Namespace) -> None:
    """Exact numbers, by going through every group."""
    view = table(f"{arguments.folder}", "construction", numbers=["groups", "sentences", "words"])
    for expansion in expansions(arguments):
        found = audit(expansion)
        view.add_row(expansion.grammar.name, f"{found.groups:,}", f"{found.sentences:,}", f"{len(found.words):,}")
    console.print(view)


def run_show(arguments: argparse.Namespace) -> None:
    """Show a sample in which every template appears before any appears twice."""
    for expansion in expansions(arguments):
        chosen = _sample(expansion, arguments.n, arguments.seed)
        print_view(groups_table(f"{expansion.grammar.name}  ({expansion.count():,} groups)", chosen))
        say_notices(expansion.notices)


def _sample(expansion: Expansion, n: int, seed: int) -> list[Group]:
    """One reservoir per template, so that memory stays small."""
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


def say_notices(notices: tuple[Notice, ...]) -> None:
    for notice in notices[:10]:
        print(f"note: {notice}", file=sys.stderr)
    if len(notices) > 10:
        print(f"note: … and {len(notices) - 10} more", file=sys.stderr)
