"""`concord export ckpt_path=runs/…/best.ckpt out=FOLDER`: a trained model as a folder that transformers loads.

The folder holds model.safetensors, config.json and tokenizer.json, and no code:

    import concord.lm.hf
    from transformers import AutoModelForCausalLM, AutoTokenizer
    model, tokenizer = AutoModelForCausalLM.from_pretrained(FOLDER), AutoTokenizer.from_pretrained(FOLDER)
"""

from pathlib import Path
from typing import Any

from ..data.vocabulary import Vocabulary
from ..errors import UserError
from ..settings.corpus_settings import read_corpus_settings


def export(checkpoint: Path, out: Path) -> None:
    """Writes the folder. What was in it under the same names is replaced only if an export wrote it."""
    try:
        from transformers.utils import logging
    except ImportError:
        raise UserError("concord export needs transformers: pip install 'concord-lm[hf]'") from None
    from .checkpoints import load_model
    from .hf import ConcordConfig, ConcordForCausalLM, fast_tokenizer

    model, vocabulary, about = load_model(checkpoint)
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
    fast_tokenizer(vocabulary, raw_text_rule(about)).save_pretrained(out)


def raw_text_rule(about: dict[str, Any]) -> dict[str, Any] | None:
    """How raw text was cut for training; None where the corpus came in tokens (grammars, treebanks, tokenised files)."""
    trained = about.get("settings")
    raw = trained is not None and read_corpus_settings(trained["data"]).cut_by_rule
    return about["language"] if raw else None


def _config(folder: Path) -> str:
    file = folder / "config.json"
    return file.read_text(encoding="utf-8") if file.is_file() else ""
