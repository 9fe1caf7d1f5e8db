"""The author's command: `concord grammar show de`."""

import argparse
import sys
from pathlib import Path

from .exit_status import Parser, exit_status
from .grammar_commands.grammar_arguments import add_clitics, add_grammar_command, count
from .grammar_commands.grammar_checks import run_check
from .grammar_commands.grammar_views import run_count, run_list, run_show
from .grammar_commands.sentence_drawing import run_sample

DESCRIPTION = """\
View, count and check grammars, and sample a corpus.

  concord grammar list                      the languages and the sizes of their sets
  concord grammar show de                   a few sentences of every German construction
  concord grammar show de prep -n 20        twenty of one construction
  concord grammar check de                  duplicates, balance, words missing from the corpus
  concord grammar check de/cases            the same for a collection in the language's folder
  concord grammar check de --vocab words.txt    which words are missing, and the items lost
  concord grammar sample de -n 10           sample sentences from the corpus grammar
  concord grammar sample de -n 100000 --seed 1 --withhold obj_rel --exclude-sets --out de.txt
"""


def main(argv: list[str] | None = None) -> int:
    """Run one subcommand; 0 is success, 1 a finding or a faulty grammar, 2 a wrong call."""
    arguments = _parser().parse_args(argv)
    return exit_status(lambda: arguments.run(arguments))


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = Parser(
        prog="concord grammar", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="list | show | count | check | sample")
    commands.add_parser("list", help="the languages and the size of their sets").set_defaults(run=run_list)
    show = add_grammar_command(commands, "show", "a few sentences of each construction, target marked", run_show)
    show.add_argument("-n", type=count, default=4, metavar="N", help="how many groups per construction (default 4)")
    show.add_argument("--seed", type=int, default=0, help="which ones (default 0)")
    add_grammar_command(commands, "count", "groups and sentences per construction", run_count)
    check = add_grammar_command(
        commands, "check", "faults in the sets, and words missing from the corpus or a vocabulary", run_check
    )
    check.add_argument("--vocab", type=Path, metavar="FILE", help="one word per line; anything after the first space is ignored")
    sample = commands.add_parser("sample", help="sentences sampled from the corpus grammar")
    sample.set_defaults(run=run_sample)
    sample.add_argument("folder", metavar="LANGUAGE", help="a language code, or a folder of grammar files")
    sample.add_argument("-n", type=count, default=10, metavar="N", help="how many (default 10)")
    sample.add_argument("--seed", type=int, default=0, help="the same seed gives the same sentences (default 0)")
    sample.add_argument("--withhold", nargs="+", default=[], metavar="TAG", help="leave out rules with these tags")
    sample.add_argument("--exclude-sets", action="store_true", help="leave out the sentences of the challenge sets")
    sample.add_argument("--out", type=Path, metavar="FILE", help="write to this file instead of the screen")
    add_clitics(sample)
    return parser


if __name__ == "__main__":
    sys.exit(main())
