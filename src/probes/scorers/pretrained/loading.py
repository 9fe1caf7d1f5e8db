"""Loading a pretrained model with its tokenizer. Errors are found before the weights are read."""

import contextlib
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase
from transformers.models.auto import modeling_auto as auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.utils import logging

from ....errors import UserError
from ....lm import hf  # noqa: F401 - so that exported folders are recognised
from .model_files import CONFIG, TOKENIZER_CONFIG, ModelFiles, configuration, digest, fetch, find, weight_files
from .model_memory import check_fits
from .pretrained_error import DamagedWeights, PretrainedError

Kind = Literal["masked", "causal"]
MASKED_HEADS = ("ForMaskedLM", "ForPreTraining")
CAUSAL_HEADS = ("ForCausalLM", "LMHeadModel")


@dataclass(frozen=True)
class Pretrained:
    """A model ready for scoring: in float32, without dropout, on its device."""

    name: str
    kind: Kind
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    digest: str  # of weights, configuration and tokenizer
    longest: int  # pieces it can read, including its own marks
    code: tuple[str, ...] = ()  # files of its own code that were run


def load(
    name: str,
    revision: str | None = None,
    kind: Literal["auto", "masked", "causal"] = "auto",
    safetensors: bool = True,
    device: str = "auto",
    trust: bool = False,
) -> Pretrained:
    """A model from the hub or a folder. `kind` is for configurations that do not tell; `trust` runs code that it brings."""
    if not name:
        raise UserError("model.name= is required: a model on the hub (owner/model) or a folder")
    place = ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device
    source = find(name, revision)
    config = configuration(source)
    code = own_code(source, config) if trust else []
    found = (_kind_of_code(config) if code else None) or kind_of(name, config) if kind == "auto" else kind
    weights = weight_files(source, safetensors)
    check_fits(name, source.sizes, weights, config, place)
    folder = fetch(source, weights, bool(code))
    with _quiet():
        tokenizer = _tokenizer(name, str(folder), found, bool(code))
        model = _model(name, str(folder), found, safetensors, bool(code)).to(place).eval()
    return Pretrained(name, found, model, tokenizer, digest(folder, bool(code)), longest_input(model, tokenizer), tuple(code))


def own_code(source: ModelFiles, config: Mapping[str, object]) -> list[str]:
    """The code files that a model or its tokenizer brings and names; code from other repositories is not run."""
    named = [config.get("auto_map")]
    if TOKENIZER_CONFIG in source.sizes:
        named.append(configuration(source, TOKENIZER_CONFIG).get("auto_map"))
    values = [value for each in named if isinstance(each, Mapping) for value in each.values()]
    listed = [str(each) for value in values for each in (value if isinstance(value, list) else [value]) if each]
    for each in listed:
        if "--" in each:
            message = f"it names code from {each.partition('--')[0]}, another repository, which is never run"
            raise PretrainedError(source.name, f"{message}; copy that code into a folder with the model")
    files = dict.fromkeys(f"{each.rpartition('.')[0]}.py" for each in listed)
    return [file for file in files if file in source.sizes]


def _kind_of_code(config: Mapping[str, Any]) -> Kind | None:
    """By the class its own code implements; nothing if there are several."""
    kinds: dict[str, Kind] = {"AutoModelForMaskedLM": "masked", "AutoModelForCausalLM": "causal"}
    found = [kind for name, kind in kinds.items() if name in (config.get("auto_map") or {})]
    return found[0] if len(found) == 1 else None


def kind_of(name: str, config: Mapping[str, object]) -> Kind:
    """Masked or causal, by the class named in the configuration."""
    family, listed = str(config.get("model_type")), config.get("architectures") or [""]
    if not (isinstance(listed, list) and all(isinstance(each, str) for each in listed)):
        raise PretrainedError(name, f"the architectures in its {CONFIG} are not names: {str(listed)[:60]}")
    named = listed[0]
    if family not in CONFIG_MAPPING:
        own = (
            "; it brings its own code, which is run only if you type model.trust_remote_code=true" if "auto_map" in config else ""
        )
        raise PretrainedError(name, f"transformers does not know the model type {family!r} of its {CONFIG}{own}")
    masked, causal = family in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES, family in auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    if named.endswith(MASKED_HEADS) or (masked and named in ("", auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES[family])):
        if not named.endswith("ForConditionalGeneration"):
            return "masked"
    elif named.endswith(CAUSAL_HEADS) or (causal and not named):
        return "causal"
    raise PretrainedError(
        name,
        f"its {CONFIG} says {named or family}, which has no language-model head; it must be a …ForMaskedLM or …ForCausalLM "
        "(model.kind=masked or causal overrides it)",
    )


def _tokenizer(name: str, folder: str, kind: Kind, trust: bool = False) -> PreTrainedTokenizerBase:
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=trust)
    except Exception as error:  # transformers and tokenizers raise almost anything for a damaged file
        raise PretrainedError(name, f"its tokenizer cannot be loaded: {_first_line(error)}") from None
    if not tokenizer.is_fast:
        message = f"{type(tokenizer).__name__} is a slow tokenizer, which does not map pieces to characters"
        raise PretrainedError(name, f"{message}; use a model with tokenizer.json")
    if kind == "masked" and tokenizer.mask_token_id is None:
        raise PretrainedError(
            name, "its tokenizer has no mask token, so nothing can be masked; model.kind=causal for a causal model"
        )
    return tokenizer


def _model(name: str, folder: str, kind: Kind, safetensors: bool, trust: bool = False) -> Any:
    head: Any = AutoModelForMaskedLM if kind == "masked" else AutoModelForCausalLM
    try:
        model, report = head.from_pretrained(
            folder,
            dtype=torch.float32,  # half precision creates ties
            use_safetensors=safetensors or None,
            trust_remote_code=trust,
            output_loading_info=True,
        )
    except Exception as error:  # as above: truncated weights, sizes that are not numbers, missing packages
        raise DamagedWeights(name, f"cannot be loaded: {_first_line(error)}") from error
    missing = sorted(report["missing_keys"])
    if missing:
        raise DamagedWeights(
            name, f"its files have no {missing[0]} ({len(missing)} weights are missing), so it has no trained language-model head"
        )
    return model


def tokenizer_digest(tokenizer: PreTrainedTokenizerBase) -> str:
    """A name for the tokenizer: models that share it get the same pieces."""
    return hashlib.blake2b(tokenizer.backend_tokenizer.to_str().encode(), digest_size=8).hexdigest()


def longest_input(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> int:
    """RoBERTa's positions start after its padding index, so that some are never used."""
    positions = getattr(model.config, "max_position_embeddings", None) or 10**9
    padding = getattr(getattr(model.base_model, "embeddings", None), "position_embeddings", None)
    unused = getattr(padding, "padding_idx", None)
    return int(min(positions - (0 if unused is None else unused + 1), tokenizer.model_max_length))


def _first_line(error: Exception) -> str:
    said = (str(error).strip().splitlines() or [""])[0]
    return said if isinstance(error, OSError | ValueError | ImportError) and said else f"{type(error).__name__}: {said}"


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Suppress transformers' own bars and reports; we report what matters."""
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
