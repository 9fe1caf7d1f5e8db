"""`concord sets fetch`: download published sets into the cache."""

import argparse
import logging

from ...data.download import default_downloads
from ...probes.challenge_set import SetError
from ...probes.published_sets import PUBLISHED, fetch_published, known_files
from ...terminal import console, table


def add_fetch(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", nargs="?", choices=list(PUBLISHED), metavar="NAME", help=f"one of {', '.join(PUBLISHED)}")
    command.add_argument("--lang", default="", help="for a set in several languages (default: all; multiblimp needs one)")
    command.set_defaults(make=run_fetch)


def run_fetch(arguments: argparse.Namespace) -> int:
    """Without a name, list what is available."""
    logging.basicConfig(format="%(message)s", level=logging.INFO)
    if arguments.name is None:
        view = table("published sets", "name", "languages", numbers=["MB"], last="licence")
        for made in PUBLISHED.values():
            size = sum(record.size for record in known_files().get(made.name, {}).values())
            view.add_row(made.name, " ".join(made.languages) or "101", f"{size / 1e6:.1f}" if size else "–", made.licence)
        console.print(view)
        return 0
    found = PUBLISHED[arguments.name]
    if not (asked := [arguments.lang] if arguments.lang else list(found.languages)):
        raise SetError(found.name, None, "these sets cover many languages; pick one, for instance --lang de")
    for language in asked:
        print(fetch_published(found.name, language, default_downloads()))
    return 0
