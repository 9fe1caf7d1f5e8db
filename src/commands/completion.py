"""Tab completion in the shell: Hydra's, adapted to a program with several commands."""

import os
import sys
from collections.abc import Collection
from importlib import import_module

FLAGS = ("-sc", "--shell-completion")
WITH_SETTINGS = ("train", "evaluate", "corpus")  # whose arguments Hydra can complete
LINE = "COMP_LINE"  # what has been typed so far, as the shell passes it


def complete(commands: Collection[str]) -> None:
    """`concord -sc install=bash` prints the shell code to evaluate; with `query=bash` the shell asks what could come next."""
    typed = os.environ.get(LINE, "").lstrip()
    if not any(argument.startswith("query=") for argument in sys.argv):
        import_module("concord.commands.train").main()
        return
    program, *words = typed.split()
    if not words or (len(words) == 1 and not typed.endswith(" ")):
        print(" ".join(name for name in commands if name.startswith("".join(words))))
    elif words[0] in WITH_SETTINGS:
        os.environ[LINE] = f"{program} {typed.split(maxsplit=1)[1].removeprefix(words[0]).lstrip()}"
        import_module(f"concord.commands.{words[0]}").main()
