"""What was typed on the command line: refused where Hydra would understand something else, and read as settings."""

from collections.abc import Sequence

from omegaconf import DictConfig, OmegaConf

from ..errors import UserError
from .evaluation import EvaluationSettings, read_evaluation_settings
from .run import RunSettings, read_run_settings


def refuse_lists(overrides: Sequence[str]) -> None:
    """Hydra would read lang=[de,fr] as a choice and keep only the last."""
    for override in overrides:
        if override.startswith("lang=["):
            listed = override.removeprefix("lang=")
            raise UserError(f"{override}: only the last of these would be used; give lang=multi lang.languages={listed}")


def read_composed(cfg: DictConfig) -> RunSettings:
    """The settings of a run, from what Hydra composed."""
    return read_run_settings(OmegaConf.to_container(cfg, resolve=True, throw_on_missing=True))  # type: ignore[arg-type]


def read_composed_evaluation(cfg: DictConfig) -> EvaluationSettings:
    return read_evaluation_settings(OmegaConf.to_container(cfg, resolve=True, throw_on_missing=True))  # type: ignore[arg-type]
