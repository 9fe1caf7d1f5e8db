"""A run described by its settings: the one owner of what changes a result.

Frozen dataclasses, built once from the composed configuration (or from a run's config.yaml) and checked there; everything
else receives plain values. `reading` checks them; `languages`, `corpus_settings`, `probing` and `training_settings` are the
groups; `run` and `evaluation_settings` are the two commands' settings.
"""

from .evaluation_settings import EvaluationSettings, read_evaluation_settings
from .run import RunSettings, read_run_settings

__all__ = ["EvaluationSettings", "RunSettings", "read_evaluation_settings", "read_run_settings"]
