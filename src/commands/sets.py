"""View, fetch, check and convert challenge sets: `concord sets show de`."""

import argparse
import sys

from .exit_status import exit_status
from .subcommands import Subcommand, parser_of

DESCRIPTION = """\
Challenge sets: list, view, check, convert.

  concord sets list de                          our German sets, with sizes, features and splits
  concord sets show de prep -n 5                five items, target marked, bad form starred
  concord sets check ../clams/fr_evalset --lang fr      the faults of a published folder
  concord sets check fr --vocab words.txt       and which items a vocabulary would lose
  concord sets fetch                            the published sets by name, with size and licence
  concord sets fetch multiblimp --lang de       fetch one now, for nodes without a network
  concord sets show turblimp -n 5               five items of a published set
  concord sets list pairs.csv --lang nl --columns good=goed,bad=fout
  concord sets export de --to blimp --out sets/de
  concord sets export de --to lm_eval --out tasks       then: lm_eval --include_path tasks --tasks concord_de …
  concord sets check suites/mine --lang en      a folder of .suite pages: what its author should review
  concord sets build suites/mine --lang en --out json   the same as JSON
  concord sets export en --collection suites --to syntaxgym --out json --evaluated results/…/regions.parquet
  concord sets extract fr/obj_participle fr_gsd-ud-*.conllu --out sets/fr     items from treebanks (docs/treebanks.md)
  concord sets parse novel.txt --with spacy:fr_core_news_sm --out novel.conllu

The argument is a language (our own sets), a published set, a folder or a file, whose format is recognised or given with
--format. A dataset on the Hugging Face hub is hf:owner/name.
"""
SUBCOMMANDS = {
    "list": Subcommand("set_commands.set_views", "sets with sizes, features and splits"),
    "show": Subcommand("set_commands.set_views", "a few items of each set"),
    "check": Subcommand("set_commands.set_checks", "faults in the sets; exit status 1 if any are serious"),
    "export": Subcommand("set_commands.set_exports", "write the sets in another format"),
    "build": Subcommand("set_commands.set_exports", "compile .suite pages into JSON, with the chance of every prediction"),
    "fetch": Subcommand("set_commands.set_fetching", "download published sets, by name, into the cache"),
    "extract": Subcommand("set_commands.set_extraction", "items from treebanks by a pattern, with controls"),
    "parse": Subcommand("set_commands.set_parsing", "raw text to trees, by a parser"),
}


def main(argv: list[str] | None = None) -> int:
    """0 on success, 1 for faults and wrong files, 2 for a wrong call."""
    arguments = parser_of("concord sets", DESCRIPTION, SUBCOMMANDS).parse_args(argv)
    return exit_status(lambda: _run(arguments))


def _run(arguments: argparse.Namespace) -> int | None:
    """Some commands create sets; the others receive the selected ones."""
    if hasattr(arguments, "make"):
        return int(arguments.make(arguments))
    from .set_commands.chosen_sets import collect_chosen  # late, so that --help comes at once

    return arguments.run(arguments, collect_chosen(arguments))


if __name__ == "__main__":
    sys.exit(main())
