"""`concord grammar list`, `count` and `show`: sizes, and a few sentences."""

import argparse
import sys

from ...data.grammar.audit import audit
from ...data.grammar.expand import Expansion
from ...data.grammar.folder import constructions, folder_of, languages, load
from ...data.grammar.notices import Notice
from ...data.grammar.sentence_table import groups_table, sample_groups
from ...terminal import console, print_view, table
from .grammar_arguments import add_grammar_arguments, count, expansions


def add_list(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=run_list)


def add_show(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=run_show)
    add_grammar_arguments(command)
    command.add_argument("-n", type=count, default=4, metavar="N", help="how many groups per construction (default 4)")
    command.add_argument("--seed", type=int, default=0, help="which ones (default 0)")


def add_count(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=run_count)
    add_grammar_arguments(command)


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
    for expansion in expansions(arguments):
        chosen = sample_groups(expansion, arguments.n, arguments.seed)
        print_view(groups_table(f"{expansion.grammar.name}  ({expansion.count():,} groups)", chosen))
        say_notices(expansion.notices)


def say_notices(notices: tuple[Notice, ...]) -> None:
    for notice in notices[:10]:
        print(f"note: {notice}", file=sys.stderr)
    if len(notices) > 10:
        print(f"note: … and {len(notices) - 10} more", file=sys.stderr)
