"""`python -m lm.export ckpt_path=runs/…/best.ckpt out=FOLDER`: a trained model as a folder that transformers loads.

The folder holds model.safetensors, config.json and tokenizer.json, and no code:

    import lm.hf
    from transformers import AutoModelForCausalLM, AutoTokenizer
    model, tokenizer = AutoModelForCausalLM.from_pretrained(FOLDER), AutoTokenizer.from_pretrained(FOLDER)
"""

import sys
from pathlib import Path
from typing import Any

from data.errors import UserError
from data.vocabulary import Vocabulary

SETTINGS = ("ckpt_path", "out")


def export(checkpoint: Path, out: Path) -> None:
    """Writes the folder. What was in it under the same names is replaced only if an export wrote it."""
    try:
        from transformers.utils import logging
    except ImportError:
        raise UserError('lm.export needs transformers; pip install -e ".[hf]"') from None
    from .checkpoints import load
    from .hf import ConcordConfig, ConcordForCausalLM, tokenizer

    model, vocabulary, about = load(checkpoint)
    if not isinstance(vocabulary, Vocabulary):
        raise UserError(f"{checkpoint}: a model of pieces of words; only word-level models can be exported")
    if out.is_dir() and any(out.iterdir()) and '"concord"' not in _config(out):
        raise UserError(f"out={out}: this folder holds something else; give an empty or a new one")
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    said: dict[str, Any] = {key: about[key] for key in ("language", "clitics") if key in about}
    made = ConcordForCausalLM(ConcordConfig(model.architecture.plain(), said))
    made.model.load_state_dict(model.state_dict())
    made.save_pretrained(out)
    tokenizer(vocabulary, raw_text_rule(about)).save_pretrained(out)


def raw_text_rule(about: dict[str, Any]) -> dict[str, Any] | None:
    """How raw text was cut for training; None where the corpus came in tokens (grammars, tokenised files)."""
    data = about.get("settings", {}).get("data", {})
    raw = data.get("name", "grammar") != "grammar" and not data.get("tokenized")
    return about["language"] if raw else None


def _config(folder: Path) -> str:
    file = folder / "config.json"
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def main(arguments: list[str]) -> int:
    """0 when the folder is written, 1 for a wrong file, 2 for a wrong call."""
    given = dict(argument.partition("=")[::2] for argument in arguments)
    if sorted(given) != sorted(SETTINGS) or not all(given.values()):
        print("usage: python -m lm.export ckpt_path=runs/…/checkpoints/best.ckpt out=FOLDER", file=sys.stderr)
        return 2
    try:
        export(Path(given["ckpt_path"]), Path(given["out"]))
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{given['out']}: python evaluate.py model=hf model.name={given['out']} lang=…; in your own code: import lm.hf first")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
