"""`concord COMMAND …`: one program for all commands; without a command, a page for whoever meets it first."""

import difflib
import runpy
import sys
from importlib.metadata import version

from . import completion

COMMANDS = {
    "train": "train a language model and watch its syntax while it learns",
    "evaluate": "put checkpoints or pretrained models through challenge sets; surprisal and perplexity",
    "report": "tables, figures, statistics and one page about runs and evaluations",
    "results": "every verdict of runs and evaluations as one table, for R or pandas",
    "runs": "list runs and their state",
    "sets": "look at challenge sets, check and convert them",
    "grammar": "look at grammars, count and check them, draw corpora",
    "corpus": "fetch and prepare a corpus without training",
    "export": "write a trained model as a folder that transformers loads",
}
PAGE = """\
Concord trains language models and watches their syntax while they learn.

  concord train                                  a German LSTM on the built-in corpus, two or three minutes on two cores
  concord train lang=fr model=transformer        another language, another network
  concord train data=text data.path=my.txt       your own text
  concord evaluate ckpt_path=runs/…              the tables of a trained model
  concord evaluate model=hf model.name=gpt2 lang=en    the same for a model of the Hugging Face hub
  concord report runs                            compare all runs on one page that opens offline

Commands (concord COMMAND --help says more)
{commands}

In Python: import concord; concord.load("runs/…").surprisal("der Gast wartet .")   (help(concord) says more)
Settings are Hydra's: group=choice, group.key=value; `concord train --help` lists the choices. Your own languages, grammars and
networks go into conf/ and grammars/ of the folder you are in. Tab completion: eval "$(concord -sc install=bash)" (or zsh, fish).
Version {version}.
"""


def main() -> None:
    """Run the command that is named first, as `python -m concord.commands.<command>` would."""
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
        there = f"did you mean concord {near[0]}?" if near else f"there are: {', '.join(COMMANDS)}"
        print(f"error: concord {name}: there is no such command; {there}", file=sys.stderr)
        sys.exit(2)
    del sys.argv[1]
    # As the main module, so that processes which Lightning starts for itself find it again by its name.
    runpy.run_module(f"concord.commands.{name}", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
