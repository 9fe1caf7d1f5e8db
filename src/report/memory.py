"""What was computed once from something that does not change is kept with it, for the next table and the next build."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Memory:
    """Of one run or condition; gone when it is gone."""

    def __init__(self) -> None:
        self._kept: dict[object, tuple[object, object]] = {}

    def recall(self, what: object, compute: Callable[[], T], beside: object = None) -> T:
        """What was computed under this name before, or is now; of what depends on something beside it only the newest is kept."""
        known = self._kept.get(what)
        if known is None or not (known[0] is beside or known[0] == beside):
            known = self._kept[what] = (beside, compute())
        return known[1]  # type: ignore[return-value]
