"""Errors that are the user's to mend: each says what, which value, where, and the remedy. Everything else is a bug of ours."""


class UserError(ValueError):
    """Wrong input, told in one line and without a traceback."""
