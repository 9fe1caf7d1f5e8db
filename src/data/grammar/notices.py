"""A place in a grammar file, and what is wrong or worth saying there."""

from typing import NamedTuple

from ...errors import UserError


class SourceLine(NamedTuple):
    """A line of a file, printed the way editors and terminals link to it."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class GrammarError(UserError):
    """A grammar that cannot be used: the place, what is wrong, and the remedy."""

    def __init__(self, place: SourceLine | str, message: str) -> None:
        super().__init__(f"{place}: {message}")


class Notice(NamedTuple):
    """Something an author should know that does not stop the work."""

    place: SourceLine
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"
