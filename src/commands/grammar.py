"""The author's command: `concord grammar show de`."""

import sys

from .exit_status import exit_status
from .subcommands import Subcommand, parser_of

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
SUBCOMMANDS = {
    "list": Subcommand("grammar_commands.grammar_views", "the languages and the size of their sets"),
    "show": Subcommand("grammar_commands.grammar_views", "a few sentences of each construction, target marked"),
    "count": Subcommand("grammar_commands.grammar_views", "groups and sentences per construction"),
    "check": Subcommand(
        "grammar_commands.grammar_checks", "faults in the sets, and words missing from the corpus or a vocabulary"
    ),
    "sample": Subcommand("grammar_commands.sentence_drawing", "sentences sampled from the corpus grammar"),
}


def main(argv: list[str] | None = None) -> int:
    """Run one subcommand; 0 is success, 1 a finding or a faulty grammar, 2 a wrong call."""
    arguments = parser_of("concord grammar", DESCRIPTION, SUBCOMMANDS).parse_args(argv)
    return exit_status(lambda: arguments.run(arguments))


if __name__ == "__main__":
    sys.exit(main())
