"""Callbacks and loggers of the user's own: `+callbacks.mine._target_=mypackage.Mine +callbacks.mine.every=3 allow=[mypackage]`"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from ..errors import UserError
from ..own_code import import_allowed
from ..settings.reading import Plain

TARGET = "_target_"
# Lightning's own callbacks and loggers need no leave.
FAMILIAR = ("pytorch_lightning.callbacks", "pytorch_lightning.loggers")
Kind = TypeVar("Kind")


def own_class(place: str, values: Mapping[str, Plain], kind: type[Kind], allow: Sequence[str]) -> type[Kind]:
    """The class that the settings at this place name, if it is allowed and of this kind."""
    target = str(values[TARGET])
    module_name, _, name = target.rpartition(".")
    if not module_name or not all(part.isidentifier() for part in target.split(".")):
        raise UserError(
            f"{place}.{TARGET}={target}: a class by its dotted name is needed, for instance mypackage.{kind.__name__}"
        )
    module = import_allowed(module_name, (*FAMILIAR, *allow), f"{place}.{TARGET}={target}:")
    found = getattr(module, name, None)
    if found is None:
        raise UserError(f"{place}.{TARGET}={target}: there is no {name} in {module_name}")
    if not (isinstance(found, type) and issubclass(found, kind)):
        raise UserError(f"{place}.{TARGET}={target}: this is no {kind.__name__} of Lightning; derive it from {kind.__module__}")
    return found


def make_own(place: str, values: Mapping[str, Plain], kind: type[Kind], allow: Sequence[str]) -> Kind:
    """An object of that class, made with the settings beside its name."""
    made = own_class(place, values, kind, allow)
    given = {key: value for key, value in values.items() if key != TARGET}
    if special := [key for key in given if key.startswith("_")]:
        raise UserError(f"{place}.{special[0]}: settings of your own do not begin with _")
    try:
        return made(**given)
    except (TypeError, ValueError) as error:
        raise UserError(f"{place}: {made.__name__} cannot be made with {given or 'no settings'} ({error})") from error


def make_each(group: str, own: Mapping[str, Plain], kind: type[Kind], allow: Sequence[str]) -> list[Kind]:
    """Of a group of settings all that are the user's own, in the order in which they were given."""
    return [make_own(f"{group}.{name}", values, kind, allow) for name, values in own.items() if isinstance(values, Mapping)]
