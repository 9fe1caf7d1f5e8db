"""A run described by its settings: the one owner of what changes a result.

Frozen dataclasses, made once from the composed configuration (or from the config.yaml of a run) and checked there; everything
else is handed values. `reading` checks them, `languages`, `corpora`, `probing` and `training` are the groups, `run` and
`evaluation` what the two commands are told.
"""

from .evaluation_settings import EvaluationSettings, read_evaluation_settings
from .run import RunSettings, read_run_settings

__all__ = ["EvaluationSettings", "RunSettings", "read_evaluation_settings", "read_run_settings"]
