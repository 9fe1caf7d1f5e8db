"""When someone else's training is probed, and after how many words a checkpoint is kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..errors import UserError
from ..settings.checkpoint_names import BABYLM

AtWords = Literal["babylm"] | Sequence[int] | None


@dataclass(frozen=True)
class WatchMoments:
    """Every N steps (`every`), and after given numbers of words (`words`), besides what the training itself triggers."""

    every: int | None = None
    words: tuple[int, ...] = ()

    def due_by_step(self, step: int) -> bool:
        return self.every is not None and step > 0 and step % self.every == 0

    def reached(self, before: int, now: int) -> list[int]:
        """The marks that the last step passed."""
        return [mark for mark in self.words if before < mark <= now]


def read_moments(every: int | None, at_words: AtWords) -> WatchMoments:
    """Check what the user typed."""
    if every is not None and (isinstance(every, bool) or not isinstance(every, int) or every < 1):
        raise UserError(f"every={every}: must be a number of steps above 0")
    if isinstance(at_words, str):
        if at_words != "babylm":
            raise UserError(f'at_words={at_words!r}: must be "babylm" or a list of word counts')
        return WatchMoments(every, BABYLM)
    marks = tuple(sorted(set(at_words or ())))
    if wrong := [mark for mark in marks if isinstance(mark, bool) or not isinstance(mark, int) or mark < 1]:
        raise UserError(f"at_words: {wrong[0]} is not a word count above 0")
    return WatchMoments(every, marks)
