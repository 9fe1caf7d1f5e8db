"""Write a trained model as a folder that transformers loads."""

import sys
from pathlib import Path

from ..errors import UserError
from .help_page import FLAGS

SETTINGS = ("ckpt_path", "out")
DESCRIPTION = """\
Writes a trained model as a folder that transformers loads (after `import concord.lm.hf`).

  concord export ckpt_path=runs/…/checkpoints/best.ckpt out=my-model
  concord evaluate model=hf model.name=my-model lang=de         the same numbers as for the checkpoint

Needs pip install 'concord-lm[hf]'.
"""


def main(arguments: list[str]) -> int:
    """0 when the folder is written, 1 for a wrong file, 2 for a wrong call."""
    if {*FLAGS} & {*arguments}:
        print(DESCRIPTION, end="")
        return 0
    given = dict(argument.partition("=")[::2] for argument in arguments)
    if sorted(given) != sorted(SETTINGS) or not all(given.values()):
        print("usage: concord export ckpt_path=runs/…/checkpoints/best.ckpt out=FOLDER", file=sys.stderr)
        return 2
    from ..lm.export import export

    try:
        export(Path(given["ckpt_path"]), Path(given["out"]))
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{given['out']}: concord evaluate model=hf model.name={given['out']} lang=…; in your code: import concord.lm.hf first")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
