"""When a model is probed: after epochs, inside the first ones, at steps, or after given numbers of words."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import UserError


@dataclass(frozen=True)
class ProbeSchedule:
    """After the validation of every N epochs and of the last; at fractions of epochs, 0 being before the first step."""

    every_epochs: int = 1
    epochs: Sequence[float] = ()
    steps: Sequence[int] = ()
    words: Sequence[int] = ()

    def __post_init__(self) -> None:
        if not (isinstance(self.every_epochs, int) and self.every_epochs > 0):
            raise UserError(f"probes.schedule.every_epochs={self.every_epochs}: a whole number above 0 is needed")
        for name in ("epochs", "steps", "words"):
            for value in getattr(self, name):
                if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
                    raise UserError(f"probes.schedule.{name}: {value} is not a number of {name}")

    def at_start(self) -> bool:
        """Before the first step, as the untrained baseline."""
        return 0 in self.epochs or 0 in self.steps or 0 in self.words

    def after_epoch(self, epoch: int, last: bool) -> bool:
        """After the validation of this epoch, counted from 1."""
        return last or epoch % self.every_epochs == 0

    def inside(self, before: "Progress", now: "Progress") -> bool:
        """Whether a moment of the schedule has been reached by the last step, in the middle of an epoch."""
        pairs = (
            (self.epochs, before.epochs, now.epochs),
            (self.steps, before.steps, now.steps),
            (self.words, before.words, now.words),
        )
        return any(was < moment <= done for moments, was, done in pairs for moment in moments if moment > 0)


@dataclass(frozen=True)
class Progress:
    """How far training has come."""

    epochs: float
    steps: int
    words: int
