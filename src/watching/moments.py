"""When a training of others is probed, and at which words seen a checkpoint of it is kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..errors import UserError

MILLION = 1_000_000
# The checkpoints that the BabyLM challenge asks for: every million words to 10 M, every 10 M to 100 M, every 100 M to 1,000 M.
BABYLM = (*(unit * n for unit in (MILLION, 10 * MILLION, 100 * MILLION) for n in range(1, 10)), 1000 * MILLION)
AtWords = Literal["babylm"] | Sequence[int] | None


@dataclass(frozen=True)
class WatchMoments:
    """Every N steps (`every`), and after given numbers of words (`words`), besides what the training itself does."""

    every: int | None = None
    words: tuple[int, ...] = ()

    def due_by_step(self, step: int) -> bool:
        return self.every is not None and step > 0 and step % self.every == 0

    def reached(self, before: int, now: int) -> list[int]:
        """The marks that the last step has passed."""
        return [mark for mark in self.words if before < mark <= now]


def read_moments(every: int | None, at_words: AtWords) -> WatchMoments:
    """What was typed, checked."""
    if every is not None and (isinstance(every, bool) or not isinstance(every, int) or every < 1):
        raise UserError(f"every={every}: a number of steps above 0 is needed")
    if isinstance(at_words, str):
        if at_words != "babylm":
            raise UserError(f'at_words={at_words!r}: "babylm", or a list of numbers of words')
        return WatchMoments(every, BABYLM)
    marks = tuple(sorted(set(at_words or ())))
    if wrong := [mark for mark in marks if isinstance(mark, bool) or not isinstance(mark, int) or mark < 1]:
        raise UserError(f"at_words: {wrong[0]} is not a number of words above 0")
    return WatchMoments(every, marks)


def checkpoint_name(words: int) -> str:
    """`chck_1M`, as BabyLM names them; `chck_500k`, `chck_1234` for what is no whole number of millions."""
    for unit, letter in ((MILLION, "M"), (1000, "k")):
        if words % unit == 0:
            return f"chck_{words // unit}{letter}"
    return f"chck_{words}"
