"""The user's own code, by dotted name: imported only from packages that the user has allowed in this very call.

A checkpoint or a saved configuration can name such code but never allow it.
"""

import importlib
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TypeVar

from .errors import UserError
from .places import own_folder
from .settings.reading import Plain

TARGET = "_target_"
# Lightning's own callbacks and loggers need no permission.
FAMILIAR = ("pytorch_lightning.callbacks", "pytorch_lightning.loggers")
Kind = TypeVar("Kind")


def import_allowed(name: str, allow: Sequence[str], what: str) -> ModuleType:
    """The module with this name; `what` says in errors what it is for."""
    package = name.partition(".")[0]
    if not any(name == each or name.startswith(f"{each}.") for each in allow):
        raise UserError(
            f"{what} {name}: this is code from outside Concord; if you trust it, allow it in this call: allow=[{package}]"
        )
    own = str(own_folder())
    if own not in sys.path:
        sys.path.append(own)  # last, so that a user's file hides nothing that is installed
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(f"{error.name}."):
            raise UserError(f"{what} {name}: it imports {error.name}, which is not installed") from None
        raise UserError(f"{what} {name}: no module {error.name}, neither installed nor in {own}") from None


def own_class(place: str, values: Mapping[str, Plain], kind: type[Kind], allow: Sequence[str]) -> type[Kind]:
    """The class named by the settings here, if it is allowed and of this kind."""
    target = str(values[TARGET])
    module_name, _, name = target.rpartition(".")
    if not module_name or not all(part.isidentifier() for part in target.split(".")):
        raise UserError(f"{place}.{TARGET}={target}: must be the dotted name of a class, for instance mypackage.{kind.__name__}")
    module = import_allowed(module_name, (*FAMILIAR, *allow), f"{place}.{TARGET}={target}:")
    found = getattr(module, name, None)
    if found is None:
        raise UserError(f"{place}.{TARGET}={target}: no {name} in {module_name}")
    if not (isinstance(found, type) and issubclass(found, kind)):
        raise UserError(f"{place}.{TARGET}={target}: not a Lightning {kind.__name__}; derive it from {kind.__module__}")
    return found


def make_own(place: str, values: Mapping[str, Plain], kind: type[Kind], allow: Sequence[str]) -> Kind:
    """An object of that class, built from the settings beside its name."""
    made = own_class(place, values, kind, allow)
    given = {key: value for key, value in values.items() if key != TARGET}
    if special := [key for key in given if key.startswith("_")]:
        raise UserError(f"{place}.{special[0]}: user-defined settings must not begin with _")
    try:
        return made(**given)
    except (TypeError, ValueError) as error:
        raise UserError(f"{place}: {made.__name__} cannot be built with {given or 'no settings'} ({error})") from error


def make_each(group: str, own: Mapping[str, Plain], kind: type[Kind], allow: Sequence[str]) -> list[Kind]:
    """All user-defined objects in a group of settings, in the given order:
    `+callbacks.mine._target_=mypackage.Mine +callbacks.mine.every=3 allow=[mypackage]`
    """
    return [make_own(f"{group}.{name}", values, kind, allow) for name, values in own.items() if isinstance(values, Mapping)]
