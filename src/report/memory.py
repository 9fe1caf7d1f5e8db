"""Values computed from something that does not change are kept with it, for the next table and the next build."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Memory:
    """The values kept for one run or condition; they go when it goes."""

    def __init__(self) -> None:
        self._kept: dict[object, tuple[object, object]] = {}

    def recall(self, what: object, compute: Callable[[], T], beside: object = None) -> T:
        """The value kept under this key, computing it if needed; if it depends on `beside` too, only the newest is kept."""
        known = self._kept.get(what)
        if known is None or not (known[0] is beside or known[0] == beside):
            known = self._kept[what] = (beside, compute())
        return known[1]  # type: ignore[return-value]
