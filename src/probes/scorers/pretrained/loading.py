"""Loading a pretrained model with its tokenizer. Whatever can be wrong is found before the weights are read."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer
from transformers.models.auto import modeling_auto as auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.utils import logging

from ....errors import UserError
from ....lm import hf  # noqa: F401 - so that folders which an export has written are known
from .model_files import CONFIG, configuration, digest, fetch, find, weight_files
from .model_memory import check_fits
from .pretrained_error import PretrainedError

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

Kind = Literal["masked", "causal"]
MASKED_HEADS = ("ForMaskedLM", "ForPreTraining")
CAUSAL_HEADS = ("ForCausalLM", "LMHeadModel")


@dataclass(frozen=True)
class Pretrained:
    """A model that is ready to be scored: in float32, without dropout, on its device."""

    name: str
    kind: Kind
    model: "PreTrainedModel"
    tokenizer: "PreTrainedTokenizerBase"
    digest: str  # of weights, configuration and tokenizer
    longest: int  # pieces it can read, with its own marks


def load(
    name: str,
    revision: str | None = None,
    kind: Literal["auto", "masked", "causal"] = "auto",
    safetensors: bool = True,
    device: str = "auto",
) -> Pretrained:
    """A model of the hub or of a folder. `kind` insists where the configuration does not tell."""
    if not name:
        raise UserError("model.name= is needed: a model of the hub (owner/model) or a folder")
    place = ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device
    source = find(name, revision)
    config = configuration(source)
    found = kind_of(name, config) if kind == "auto" else kind
    weights = weight_files(source, safetensors)
    check_fits(name, source.sizes, weights, config, place)
    folder = fetch(source, weights)
    with _quiet():
        tokenizer = _tokenizer(name, str(folder), found)
        model = _model(name, str(folder), found, safetensors).to(place).eval()
    return Pretrained(name, found, model, tokenizer, digest(folder), longest_input(model, tokenizer))


def kind_of(name: str, config: Mapping[str, object]) -> Kind:
    """Masked or causal, by the class that the configuration names."""
    family, listed = str(config.get("model_type")), config.get("architectures") or [""]
    if not (isinstance(listed, list) and all(isinstance(each, str) for each in listed)):
        raise PretrainedError(name, f"the architectures of its {CONFIG} are no names: {str(listed)[:60]}")
    named = listed[0]
    if family not in CONFIG_MAPPING:
        own = " and brings its own code, which is never run" if "auto_map" in config else ""
        raise PretrainedError(name, f"transformers does not know the model type {family!r} of its {CONFIG}{own}")
    masked, causal = family in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES, family in auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    if named.endswith(MASKED_HEADS) or (masked and named in ("", auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES[family])):
        if not named.endswith("ForConditionalGeneration"):
            return "masked"
    elif named.endswith(CAUSAL_HEADS) or (causal and not named):
        return "causal"
    raise PretrainedError(
        name,
        f"its {CONFIG} says {named or family}, which has no language-model head; a …ForMaskedLM or …ForCausalLM is needed "
        "(model.kind=masked or causal insists)",
    )


def _tokenizer(name: str, folder: str, kind: Kind) -> Any:
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    except Exception as error:  # transformers and tokenizers raise almost anything for a damaged file
        raise PretrainedError(name, f"its tokenizer cannot be loaded: {_first_line(error)}") from None
    if not tokenizer.is_fast:
        message = f"{type(tokenizer).__name__} is a slow tokenizer: it does not say which characters a piece stands for"
        raise PretrainedError(name, f"{message}; a model with tokenizer.json is needed")
    if kind == "masked" and tokenizer.mask_token_id is None:
        raise PretrainedError(
            name, "its tokenizer has no mask token, so nothing can be masked; model.kind=causal for a causal model"
        )
    return tokenizer


def _model(name: str, folder: str, kind: Kind, safetensors: bool) -> Any:
    head: Any = AutoModelForMaskedLM if kind == "masked" else AutoModelForCausalLM
    try:
        model, report = head.from_pretrained(
            folder,
            dtype=torch.float32,  # half precision makes ties
            use_safetensors=safetensors or None,
            trust_remote_code=False,
            output_loading_info=True,
        )
    except Exception as error:  # as above: for weights that are cut short, sizes that are no numbers, packages that are missing
        raise PretrainedError(name, f"cannot be loaded: {_first_line(error)}") from error
    missing = sorted(report["missing_keys"])
    if missing:
        raise PretrainedError(
            name, f"its files have no {missing[0]} ({len(missing)} weights are missing), so it has no trained language-model head"
        )
    return model


def longest_input(model: Any, tokenizer: Any) -> int:
    """RoBERTa's positions begin after the number of its padding, so that some are never used."""
    positions = getattr(model.config, "max_position_embeddings", None) or 10**9
    padding = getattr(getattr(model.base_model, "embeddings", None), "position_embeddings", None)
    unused = getattr(padding, "padding_idx", None)
    return int(min(positions - (0 if unused is None else unused + 1), tokenizer.model_max_length))


def _first_line(error: Exception) -> str:
    said = (str(error).strip().splitlines() or [""])[0]
    return said if isinstance(error, OSError | ValueError | ImportError) and said else f"{type(error).__name__}: {said}"


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without transformers' own bars and reports; what matters we say ourselves."""
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
