"""`concord COMMAND …`: one program for all commands; without a command, a page for first-time users."""

import difflib
import runpy
import sys
from importlib.metadata import version

from . import completion

COMMANDS = {
    "train": "train a language model and measure its syntax while it learns",
    "evaluate": "evaluate checkpoints or pretrained models on challenge sets; surprisal and perplexity",
    "report": "tables, figures, statistics and one page on runs and evaluations",
    "results": "every verdict of runs and evaluations as one table, for R or pandas",
    "runs": "list runs and their state",
    "sets": "view, check and convert challenge sets",
    "grammar": "view, count and check grammars, sample corpora",
    "corpus": "fetch and prepare a corpus without training",
    "export": "write a trained model as a folder that transformers can load",
}
PAGE = """\
Concord trains language models and measures their syntax while they learn.

  concord train                                  a German LSTM on the built-in corpus, about two minutes on two cores
  concord train lang=fr model=transformer        another language, another network
  concord train data=text data.path=my.txt       your own text
  concord evaluate ckpt_path=runs/…              the tables of a trained model
  concord evaluate model=hf model.name=gpt2 lang=en    the same for a model from the Hugging Face hub
  concord report runs                            compare all runs on one page that opens offline

Commands (see concord COMMAND --help)
{commands}

In Python: import concord; concord.load("runs/…").surprisal("der Gast wartet .")   (see help(concord))
Settings use Hydra's syntax: group=choice, group.key=value; `concord train --help` lists the choices. Your own languages,
grammars and networks go into conf/ and grammars/ in the current folder.
Tab completion: eval "$(concord -sc install=bash)" (or zsh, fish).
Version {version}.
"""


def main() -> None:
    """Run the command named first, as `python -m concord.commands.<command>` would."""
    asked = sys.argv[1:2]
    if not asked or asked[0] in ("-h", "--help", "help"):
        commands = "\n".join(f"  {name:9} {what}" for name, what in COMMANDS.items())
        print(PAGE.format(commands=commands, version=version("concord-lm")), end="")
        return
    if asked[0] in completion.FLAGS:
        completion.complete(COMMANDS)
        return
    if asked[0] in ("-V", "--version"):
        print(f"concord {version('concord-lm')}")
        return
    name = asked[0]
    if name not in COMMANDS:
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        there = f"did you mean concord {near[0]}?" if near else f"available: {', '.join(COMMANDS)}"
        print(f"error: concord {name}: no such command; {there}", file=sys.stderr)
        sys.exit(2)
    del sys.argv[1]
    # As the main module, so that processes Lightning starts by itself find it by name.
    runpy.run_module(f"concord.commands.{name}", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
