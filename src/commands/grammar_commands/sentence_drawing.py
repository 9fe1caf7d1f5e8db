"""`concord grammar sample`: sentences sampled from the corpus grammar."""

import argparse
import itertools
import sys
from collections.abc import Collection
from pathlib import Path

from ...data.grammar.folder import CORPUS, folder_of, load
from ...data.grammar.sample import Draw
from ...data.sources import challenge_sentences
from .grammar_arguments import add_clitics, count


def add_sample(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=run_sample)
    command.add_argument("folder", metavar="LANGUAGE", help="a language code, or a folder of grammar files")
    command.add_argument("-n", type=count, default=10, metavar="N", help="how many (default 10)")
    command.add_argument("--seed", type=int, default=0, help="the same seed gives the same sentences (default 0)")
    command.add_argument("--withhold", nargs="+", default=[], metavar="TAG", help="leave out rules with these tags")
    command.add_argument("--exclude-sets", action="store_true", help="leave out the sentences of the challenge sets")
    command.add_argument("--out", type=Path, metavar="FILE", help="write to this file instead of the screen")
    add_clitics(command)


def run_sample(arguments: argparse.Namespace) -> None:
    """Write sentences to the screen or a file, and report on stderr what was left out."""
    folder = folder_of(arguments.folder)
    exclude: Collection[str] = challenge_sentences(folder, arguments.clitics).sentences() if arguments.exclude_sets else ()
    draw = Draw(load(folder, CORPUS), arguments.seed, arguments.withhold, exclude, arguments.clitics)
    lines = (f"{sentence}\n" for sentence in itertools.islice(draw, arguments.n))
    if arguments.out:
        with arguments.out.open("w", encoding="utf-8") as file:
            file.writelines(lines)
        print(f"{arguments.n:,} sentences written to {arguments.out}", file=sys.stderr)
    else:
        sys.stdout.writelines(lines)
    if exclude:
        print(f"left out {draw.excluded:,} sampled sentences that were challenge sentences", file=sys.stderr)
