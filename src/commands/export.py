"""Write a trained model as a folder that transformers loads."""

import sys
from pathlib import Path

from ..errors import UserError
from ..lm.export import export

SETTINGS = ("ckpt_path", "out")


def main(arguments: list[str]) -> int:
    """0 when the folder is written, 1 for a wrong file, 2 for a wrong call."""
    given = dict(argument.partition("=")[::2] for argument in arguments)
    if sorted(given) != sorted(SETTINGS) or not all(given.values()):
        print("usage: python -m concord.commands.export ckpt_path=runs/…/checkpoints/best.ckpt out=FOLDER", file=sys.stderr)
        return 2
    try:
        export(Path(given["ckpt_path"]), Path(given["out"]))
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(
        f"{given['out']}: python evaluate.py model=hf model.name={given['out']} lang=…; in your code: import concord.lm.hf first"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
