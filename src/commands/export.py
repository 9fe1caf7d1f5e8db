"""Write a trained model as a folder that transformers can load."""

import sys
from pathlib import Path

from ..files import require_writable
from .exit_status import exit_status
from .help_page import FLAGS

SETTINGS = ("ckpt_path", "out")
DESCRIPTION = """\
Writes a trained model as a folder that transformers can load without Concord (trust_remote_code=True).

  concord export ckpt_path=runs/…/checkpoints/best.ckpt out=my-model
  concord export ckpt_path=runs/… out=my-models                 best as main, word-count checkpoints as chck_1M, chck_2M …
  concord evaluate model=hf model.name=my-model lang=de         the same numbers as for the checkpoint

The folder contains weights (safetensors), a fast tokenizer, a card with training data and results, and one small code file.
Requires pip install 'concord-lm[hf]'.
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
    return exit_status(lambda: _run(Path(given["ckpt_path"]), Path(given["out"])))


def _run(source: Path, out: Path) -> None:
    from ..runs.run_export import export_checkpoint, export_run, upload_lines

    require_writable(out)
    written = (export_run if source.is_dir() else export_checkpoint)(source, out)
    print(f"{out}: concord evaluate model=hf model.name={written[0][1]} lang=…")
    print("to publish on the hub, after adding a licence to each README.md:", *upload_lines(written), sep="\n  ")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
