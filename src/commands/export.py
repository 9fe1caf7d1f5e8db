"""Write a trained model as a folder that transformers loads."""

import sys
from pathlib import Path

from ..errors import UserError
from ..files import is_fault_of_disk, require_writable, tell_fault
from ..lm.export import export

SETTINGS = ("ckpt_path", "out")


def main(arguments: list[str]) -> int:
    """0 when the folder is written, 1 for a wrong file, 2 for a wrong call."""
    given = dict(argument.partition("=")[::2] for argument in arguments)
    if sorted(given) != sorted(SETTINGS) or not all(given.values()):
        print("usage: python -m concord.commands.export ckpt_path=runs/…/checkpoints/best.ckpt out=FOLDER", file=sys.stderr)
        return 2
    try:
        require_writable(Path(given["out"]))
        export(Path(given["ckpt_path"]), Path(given["out"]))
    except (UserError, OSError) as error:
        if isinstance(error, OSError) and not is_fault_of_disk(error):
            raise
        print(f"error: {tell_fault(error) if isinstance(error, OSError) else error}", file=sys.stderr)
        return 1
    print(
        f"{given['out']}: python evaluate.py model=hf model.name={given['out']} lang=…; in your code: import concord.lm.hf first"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
