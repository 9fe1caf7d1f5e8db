"""Arguments that select sets: where they are, which of them, and how to read them."""

import argparse
from collections.abc import Callable

from ...probes.collection import CollectedSet
from ...probes.readers import formats
from ...settings.probing import AGREEMENT

# What a command does with the selected sets; returns the exit status if it is not 0.
RunOnSets = Callable[[argparse.Namespace, list[CollectedSet]], int | None]


def add_set_arguments(command: argparse.ArgumentParser, run: RunOnSets) -> None:
    """All the arguments that select the sets which a command works on."""
    command.set_defaults(run=run)
    command.add_argument(
        "what", metavar="LANGUAGE | SET | PATH", help="a language code for our own sets, a published set, a folder or a file"
    )
    command.add_argument("constructions", nargs="*", default=[], metavar="CONSTRUCTION", help="only these (default: all)")
    command.add_argument(
        "--collection", default=AGREEMENT, help="for a language: agreement (ours, the default) or one of conf/probes"
    )
    command.add_argument("--path", metavar="FOLDER", help="where the collection is, if it is not part of the program")
    command.add_argument("--lang", default="", help="the language of a folder or file")
    command.add_argument("--format", choices=formats(), help="the format (default: recognised from the content)")
    command.add_argument(
        "--columns", type=columns, metavar="ROLE=NAME,…", help="for a table: good=…,bad=…,construction=…,masked=…"
    )
    command.add_argument("--as-scored", action="store_true", help="sentences as scored: closed by a full stop, duplicates once")
    command.add_argument("--capitalize", action="store_true", help="the same, starting with a capital")
    command.add_argument("--limit", type=positive, metavar="N", help="a stratified sample of N items per set")
    command.add_argument("--seed", type=int, default=0, help="which sample (default 0)")
    command.add_argument("--split", choices=["all", "dev", "test"], default="all", help="which part (default all)")


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text}: must be a whole number above 0")
    return int(text)


def columns(text: str) -> dict[str, str]:
    given = dict(part.partition("=")[::2] for part in text.split(","))
    if not all(given.values()):
        raise argparse.ArgumentTypeError(f"{text}: write good=NAME,bad=NAME (and construction=, masked=)")
    return given
