"""Arguments that select grammars, and the expansions they select."""

import argparse
from collections.abc import Iterator

from ...data.grammar.expand import Expansion
from ...data.grammar.folder import constructions, folder_of, load
from ...data.grammar.notices import GrammarError


def count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number}: must be a number above 0")
    return number


def add_grammar_arguments(command: argparse.ArgumentParser) -> None:
    """All the arguments that select the grammars which a command works on."""
    command.add_argument("folder", metavar="LANGUAGE", help="a language code, or a folder of grammar files")
    command.add_argument("constructions", nargs="*", metavar="CONSTRUCTION", help="only these (default: all)")
    add_clitics(command)


def add_clitics(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--clitics", choices=["split", "joined"], default="split", help="words marked with +: separate, or attached to the next"
    )


def expansions(arguments: argparse.Namespace) -> Iterator[Expansion]:
    folder = folder_of(arguments.folder)
    names = arguments.constructions or constructions(folder)
    if not names:
        raise GrammarError(str(folder), "no grammar files (*.avg) here")
    for name in names:
        yield Expansion(load(folder, name), arguments.clitics)
