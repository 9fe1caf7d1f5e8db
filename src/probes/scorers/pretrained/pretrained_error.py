"""What can be wrong with a third-party model."""

from ....errors import UserError
from .. import DamagedModel


class PretrainedError(UserError):
    """A model that cannot be scored: which, why, and what to do."""

    def __init__(self, model: str, message: str) -> None:
        super().__init__(f"model.name={model}: {message}")
        self.why = message


class DamagedWeights(PretrainedError, DamagedModel):
    """Files that are truncated or incomplete."""
