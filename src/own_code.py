"""Code of the user's own, by its dotted name: imported only from packages that the user has allowed in this very call.

A checkpoint or a saved configuration can name such code, and never allow it.
"""

import importlib
import sys
from collections.abc import Sequence
from types import ModuleType

from .errors import UserError
from .places import own_folder


def import_allowed(name: str, allow: Sequence[str], what: str) -> ModuleType:
    """The module of this name; `what` says in errors what it is for."""
    package = name.partition(".")[0]
    if not any(name == each or name.startswith(f"{each}.") for each in allow):
        raise UserError(
            f"{what} {name}: this is code from outside Concord; if you trust it, allow it in this call: allow=[{package}]"
        )
    own = str(own_folder())
    if own not in sys.path:
        sys.path.append(own)  # last, so that a file of the user's hides nothing that is installed
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(f"{error.name}."):
            raise UserError(f"{what} {name}: it imports {error.name}, which is not installed") from None
        raise UserError(f"{what} {name}: there is no module {error.name}, neither installed nor in {own}") from None
