"""What was typed on the command line: refused if Hydra would misunderstand it, and read as settings."""

import logging
from collections.abc import Mapping, Sequence

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from ..errors import UserError
from .corpus_settings import BUILT_IN
from .evaluation_settings import EvaluationSettings, read_evaluation_settings
from .probing import check_lexicon, decide_lexicon, refuse_scoring
from .reading import Plain
from .run import RunSettings, read_run_settings
from .training_settings import PretrainedSettings

log = logging.getLogger(__name__)


def typed_overrides() -> list[str]:
    """As typed: a dangling interpolation is reported where the settings are read."""
    typed = OmegaConf.to_container(HydraConfig.get().overrides.task, resolve=False)
    return [str(override) for override in typed] if isinstance(typed, list) else []


def refuse_lists(overrides: Sequence[str]) -> None:
    """Hydra would read lang=[de,fr] as a choice and keep only the last."""
    for override in overrides:
        if override.startswith("lang=["):
            listed = override.removeprefix("lang=")
            raise UserError(f"{override}: only the last of these would be used; write lang=multi lang.languages={listed}")


def read_composed(cfg: DictConfig) -> RunSettings:
    """The settings of a run, from what Hydra composed."""
    values = _resolved(cfg)
    probes, data = values.get("probes"), values.get("data")
    if isinstance(probes, Mapping) and isinstance(data, Mapping):
        check_lexicon(probes)
        values["probes"] = decide_lexicon(probes, built_in=data.get("name") == BUILT_IN)
    settings = read_run_settings(values)
    refuse_scoring(settings.probes)
    return settings


def read_composed_evaluation(cfg: DictConfig) -> EvaluationSettings:
    values = _resolved(cfg)
    if isinstance(probes := values.get("probes"), Mapping):
        check_lexicon(probes)
    return read_evaluation_settings(values)


def check_trust(settings: EvaluationSettings, overrides: Sequence[str]) -> None:
    """Code that comes with a model runs only if the user types so, with a warning; never because of a settings file."""
    model = settings.model
    if isinstance(model, PretrainedSettings) and model.trust_remote_code:
        typed = [str(override).lower().lstrip("+") for override in overrides]
        if not any(each.partition("=")[0] == "model.trust_remote_code" for each in typed):
            raise UserError(
                "model.trust_remote_code=true: this is set in a file; code that comes with a model is run only if "
                "you type it on the command line"
            )
        log.warning("code       model.trust_remote_code=true: running code that comes with %s", ", ".join(model.name or ()))


def _resolved(cfg: DictConfig) -> dict[str, Plain]:
    """With every ${…} resolved; one that cannot be is for the user to fix."""
    try:
        return OmegaConf.to_container(cfg, resolve=True, throw_on_missing=True)  # type: ignore[return-value]
    except MissingMandatoryValue as error:
        raise UserError(f"{error.full_key}=???: this setting needs a value") from None
    except OmegaConfBaseException as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(
            f"{error.full_key or 'the settings'}: {reason}; write a value, or ${{…}} with a setting's full name"
        ) from None
