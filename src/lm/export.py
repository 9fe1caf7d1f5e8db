"""`concord export ckpt_path=runs/…/best.ckpt out=FOLDER`: a trained model as a folder that plain transformers can load.

The folder holds model.safetensors, config.json, tokenizer.json, a card, and one small code file that does not need Concord:

    from transformers import AutoModelForCausalLM, AutoTokenizer
    model = AutoModelForCausalLM.from_pretrained(FOLDER, trust_remote_code=True)
    tokenizer = AutoTokenizer.from_pretrained(FOLDER, trust_remote_code=True)
"""

import json
from pathlib import Path

from ..data.tokens import MOSES
from ..errors import UserError
from ..files import JsonObject
from ..settings.corpus_settings import read_corpus_settings
from .model_card import model_card

CODE = "modeling_concord.py"


def export(checkpoint: Path, out: Path, results: str = "", revision: str = "") -> None:
    """Write the folder. Existing files of the same names are replaced only if an export wrote them.

    `results` is Markdown about the model, for its card; `revision`: if `out` is one of several folders of a model.
    """
    try:
        from transformers.utils import logging
    except ImportError:
        raise UserError("concord export needs transformers: pip install 'concord-lm[hf]'") from None
    from .checkpoints import load_model
    from .hf import fast_tokenizer
    from .modeling_concord import NETWORKS, ConcordConfig, ConcordForCausalLM

    model, vocabulary, about = load_model(checkpoint)
    if (network := model.architecture.network["name"]) not in NETWORKS:
        raise UserError(f"{checkpoint}: its network is {network}; only {' and '.join(NETWORKS)} can be exported to transformers")
    if out.is_dir() and any(out.iterdir()) and '"concord"' not in _config(out):
        raise UserError(f"out={out}: this folder holds something else; give an empty or new one")
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    said: dict[str, object] = {key: about[key] for key in ("language", "clitics") if key in about}
    made = ConcordForCausalLM(ConcordConfig(model.architecture.plain(), said))
    made.model.load_state_dict(model.state_dict())
    classes = {"AutoConfig": "ConcordConfig", "AutoModelForCausalLM": "ConcordForCausalLM"}
    made.config.auto_map = {auto: f"{CODE.removesuffix('.py')}.{name}" for auto, name in classes.items()}
    made.save_pretrained(out)
    fast_tokenizer(vocabulary, raw_text_rule(about)).save_pretrained(out)
    _name_tokenizer(out / "tokenizer_config.json")
    (out / CODE).write_text(Path(__file__).with_name(CODE).read_text(encoding="utf-8"), encoding="utf-8")
    card = model_card(out.absolute().parent.name if revision else out.name, revision, model, vocabulary, about, results)
    (out / "README.md").write_text(card, encoding="utf-8")


def _name_tokenizer(file: Path) -> None:
    """By the class name that versions 4 and 5 of transformers know."""
    said = json.loads(file.read_text(encoding="utf-8")) | {"tokenizer_class": "PreTrainedTokenizerFast"}
    file.write_text(json.dumps(said, indent=2, ensure_ascii=False), encoding="utf-8")


def raw_text_rule(about: JsonObject) -> JsonObject | None:
    """How raw text was split for training; None if the corpus came in tokens (grammars, treebanks, tokenised files), was split by
    Moses, or has several languages, each with its own rule.
    """
    trained = about.get("settings")
    if trained is None or (trained.get("tokenizer") or {}).get("rules") == MOSES or "tokens" not in about["language"]:
        return None
    return about["language"] if read_corpus_settings(trained["data"]).cut_by_rule else None


def _config(folder: Path) -> str:
    file = folder / "config.json"
    return file.read_text(encoding="utf-8") if file.is_file() else ""
