"""Errors that the user can fix: each says what, which value, where, and the remedy. Everything else is a bug in our code."""

from .escapes import printable


class UserError(ValueError):
    """Wrong input, reported in one line without a traceback. Quoted files may contain terminal escapes, which are neutralised."""

    def __str__(self) -> str:
        return printable(super().__str__())

    def __reduce__(self) -> tuple[object, ...]:
        """Errors come back from other processes; a subclass may be made from other things than its text."""
        return _restore, (type(self), self.args), self.__dict__


def _restore(kind: type[UserError], told: tuple[object, ...]) -> UserError:
    return kind.__new__(kind, *told)
