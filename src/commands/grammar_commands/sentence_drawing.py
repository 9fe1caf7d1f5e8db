"""`concord grammar sample`: sentences sampled from the corpus grammar."""

import argparse
import itertools
import sys
from collections.abc import Collection

from ...data.grammar.folder import CORPUS, folder_of, load
from ...data.grammar.sample import Draw
from ...data.sources import challenge_sentences


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
