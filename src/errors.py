"""Errors that are the user's to mend: each says what, which value, where, and the remedy. Everything else is a bug of ours."""

from .escapes import printable


class UserError(ValueError):
    """Wrong input, told in one line and without a traceback. It quotes files, which may hold what a terminal would obey."""

    def __str__(self) -> str:
        return printable(super().__str__())
