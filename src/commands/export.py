"""Write a trained model as a folder that transformers loads."""

import sys
from pathlib import Path

from ..errors import UserError
from ..files import is_fault_of_disk, require_writable, tell_fault
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
        require_writable(Path(given["out"]))
        export(Path(given["ckpt_path"]), Path(given["out"]))
    except (UserError, OSError) as error:
        if isinstance(error, OSError) and not is_fault_of_disk(error):
            raise
        print(f"error: {tell_fault(error) if isinstance(error, OSError) else error}", file=sys.stderr)
        return 1
    print(f"{given['out']}: concord evaluate model=hf model.name={given['out']} lang=…; in your code: import concord.lm.hf first")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
