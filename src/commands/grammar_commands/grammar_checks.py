"""`concord grammar check`: faults in sets, and words missing from the corpus."""

import argparse
import itertools
import sys
from pathlib import Path

from ...data.grammar.audit import Audit, audit
from ...data.grammar.folder import CORPUS, folder_of, load
from ...data.grammar.sample import Draw
from ...settings.languages import Clitics
from ...terminal import console, table
from .grammar_arguments import add_grammar_arguments, expansions
from .grammar_views import say_notices
from .vocabulary_check import check_vocabulary


def add_check(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=run_check)
    add_grammar_arguments(command)
    command.add_argument(
        "--vocab", type=Path, metavar="FILE", help="one word per line; anything after the first space is ignored"
    )


def run_check(arguments: argparse.Namespace) -> int:
    """Exit status 1 if a set has a fault."""
    if arguments.vocab:
        return check_vocabulary(arguments)
    view = table(
        f"{arguments.folder}: challenge sets",
        "construction",
        numbers=["groups", "twice", "tauto-\nlogical", "syn-\ncretic", "no bad\nform", "words not\nin corpus"],
        last="cells",
    )
    known, faults = _corpus_words(arguments.folder, arguments.clitics), 0
    for expansion in expansions(arguments):
        expansion.must_vary()
        found = audit(expansion)
        absent = sorted(found.words - known) if known else []
        faults += bool(found.faults or absent)
        view.add_row(expansion.grammar.name, *_figures(found, absent, bool(known)), _cells(found))
        say_notices(expansion.notices)
        if absent:
            print(f"{expansion.grammar.file}: not in the corpus: {', '.join(absent[:20])}", file=sys.stderr)
    console.print(view)
    console.print("no faults" if not faults else f"faults in {faults} set{'' if faults == 1 else 's'}")
    return int(faults > 0)


def _figures(found: Audit, absent: list[str], has_corpus: bool) -> list[str]:
    missing = f"{len(absent):,}" if has_corpus else "–"
    return [*(f"{n:,}" for n in (found.groups, found.duplicates, found.tautologies, found.syncretic, found.alone)), missing]


def _cells(found: Audit) -> str:
    """Groups for each combination of subject and attractor number."""
    if found.balanced:
        return " + ".join(f"{len(cells)}×{max(cells.values()):,}" for cells in found.shapes().values())
    return "unbalanced: " + ", ".join(f"{'-'.join(cell)} {count:,}" for cell, count in sorted(found.cells.items()))


def _corpus_words(folder: str, clitics: Clitics) -> set[str]:
    """Every word that the corpus grammar of this folder or its parent can produce; empty if there is none."""
    places = [folder_of(folder), folder_of(folder).absolute().parent]
    path = next((place for place in places if (place / f"{CORPUS}.avg").exists()), None)
    if path is None:
        return set()
    draw = Draw(load(path, CORPUS), seed=0, clitics=clitics)
    # Joined clitics fuse pairs into words, so words are collected from sentences, not from the rules.
    return {word for sentence in itertools.islice(draw, 200_000) for word in sentence.split()}
