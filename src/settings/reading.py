"""From plain values, as in YAML and on the command line, to frozen dataclasses: every key known, every value of its kind.

A field's type says what it accepts (`Annotated[int, AtLeast(1)] | None`), and its metadata how it affects a result.
"""

import difflib
import inspect
import math
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, Literal, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

from ..errors import UserError

Plain = None | bool | int | float | str | list["Plain"] | dict[str, "Plain"]
Group = TypeVar("Group")
NAMES = {int: "a whole number", float: "a number", bool: "true or false", str: "a word"}
REST = "rest"  # the field that takes the keys no other field names


@dataclass(frozen=True)
class AtLeast:
    least: float

    def __str__(self) -> str:
        return f" of at least {self.least:g}"

    def admits(self, value: float) -> bool:
        return value >= self.least


@dataclass(frozen=True)
class Above:
    bound: float

    def __str__(self) -> str:
        return f" above {self.bound:g}"

    def admits(self, value: float) -> bool:
        return value > self.bound


@dataclass(frozen=True)
class Below:
    bound: float

    def __str__(self) -> str:
        return f" below {self.bound:g}"

    def admits(self, value: float) -> bool:
        return value < self.bound


Bound = AtLeast | Above | Below
Count = Annotated[int, AtLeast(1)]
Natural = Annotated[int, AtLeast(0)]
Share = Annotated[float, AtLeast(0), Below(1)]


def machine(default: object = MISSING) -> Any:
    """A setting that changes where or how a run is done, but never its result."""
    return field(default=default, metadata={"machine": True})


def added(earlier: object) -> Any:
    """A setting added later: earlier runs had this value, at which names and comparisons ignore it."""
    return field(default=earlier, metadata={"earlier": earlier})


def read(kind: type[Group], values: object, where: str = "") -> Group:
    """The group of settings in these values, checked; `where` is the prefix of their names."""
    if not isinstance(values, Mapping):
        raise UserError(f"{where}={values}: must be named settings, for instance {where}.{fields(kind)[0].name}=…")  # type: ignore[arg-type]
    known = _fields(kind)  # type: ignore[arg-type]
    rest = {str(key): value for key, value in values.items() if key not in known or key == REST}
    if rest and REST not in known:
        refuse_unknown(next(iter(rest)), kind, where)
    found = {key: _check(hint, values[key], _join(where, key)) for key, (_, hint) in known.items() if key in values}
    missing = [name for name, (each, _) in known.items() if name not in values and name != REST and _has_no_default(each)]
    if missing:
        raise UserError(f"{_join(where, missing[0])}: this setting is missing")
    return kind(**found | ({REST: rest} if REST in known else {}))


def check_arguments(function: Callable[..., object], values: Mapping[str, Plain], where: str, taken: Sequence[str] = ()) -> None:
    """Whether a function could be called with these settings: every name is one of its arguments, every value of its kind.

    `taken` are arguments that are not settings. An argument without an annotation accepts anything.
    """
    known = {name: each for name, each in inspect.signature(function).parameters.items() if name not in taken}
    hints = get_type_hints(function.__init__ if isinstance(function, type) else function, include_extras=True)  # type: ignore[misc]
    open_end = any(each.kind is each.VAR_KEYWORD for each in known.values())
    names = [name for name, each in known.items() if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)]
    for key, value in values.items():
        if key in names:
            _check(hints.get(key, Plain), value, _join(where, key))
        elif not open_end:
            raise UserError(tell_unknown(_join(where, key), [_join(where, name) for name in names]))
    if missing := [name for name in names if name not in values and known[name].default is inspect.Parameter.empty]:
        raise UserError(f"{_join(where, missing[0])}: this setting is missing")


def refuse_unknown(key: str, kind: type, where: str) -> NoReturn:
    """A key that no field of the class has."""
    raise UserError(tell_unknown(_join(where, key), [_join(where, name) for name in _fields(kind) if name != REST]))


def result_values(kind: type, values: Mapping[str, Plain], where: str = "") -> Iterator[tuple[str, Plain]]:
    """Every setting that changes a result, by its full name, with the value as given."""
    known = _fields(kind)
    for key, value in values.items():
        each, hint = known.get(key, (None, None))
        about = each.metadata if each is not None else {}
        if about.get("machine") or ("earlier" in about and _plain(value) == _plain(about["earlier"])):
            continue
        if isinstance(value, Mapping):
            inner = _dataclass_in(hint)
            kept = {name: own for name, own in value.items() if not (own is None and name in about.get("later", ()))}
            yield from result_values(inner, kept, _join(where, key)) if inner else flatten(kept, _join(where, key))
        else:
            yield _join(where, key), value


def flatten(values: Mapping[str, Plain], where: str) -> Iterator[tuple[str, Plain]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from flatten(value, _join(where, key))
        else:
            yield _join(where, key), value


@cache
def _fields(kind: type) -> dict[str, tuple[Field[object], object]]:
    hints = get_type_hints(kind, include_extras=True)
    return {each.name: (each, hints[each.name]) for each in fields(kind)}


def _has_no_default(each: Field[object]) -> bool:
    return each.default is MISSING and each.default_factory is MISSING


def _dataclass_in(hint: object) -> type | None:
    """The one dataclass a hint accepts; groups with several kinds are distinguished by name, not here."""
    inside = [hint, *get_args(hint)] if hint is not None else []
    found = [each for each in inside if isinstance(each, type) and is_dataclass(each)]
    return found[0] if len(found) == 1 else None


def _join(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def tell_unknown(name: str, known: list[str]) -> str:
    """Say that there is no such setting, and what was probably meant."""
    group, _, typed = name.rpartition(".")
    beside = [each for each in known if each.rpartition(".")[0] == group]
    for some in (beside, known):  # its own group first: data.limt is data.limit, not probes.limit
        # Only the last part, since a shared prefix would make any two names similar.
        last = {each.rpartition(".")[2]: each for each in reversed(some)}
        if near := difflib.get_close_matches(typed, last, n=1, cutoff=0.6):
            return f"{name}: no such setting; did you mean {last[near[0]]}?"
    return f"{name}: no such setting; available: {', '.join(beside or [each for each in known if '.' not in each])}"


# ----------------------------------------------------------------------- values


def _check(hint: object, value: object, place: str, null: bool = False) -> object:  # noqa: PLR0911 - one line per kind of hint
    """The value, of the kind the hint names; `null` says whether null would also do."""
    origin, inside = get_origin(hint), get_args(hint)
    if hint is Any or {bool, int, float, str} <= {*inside}:  # Plain: whatever YAML can say
        return value
    if origin is Annotated:
        return _check_scalar(inside[0], value, place, null, inside[1:])
    if origin in (Union, types.UnionType):
        return _check_union(inside, value, place)
    if origin is Literal:
        if not any(value == each and isinstance(value, bool) == isinstance(each, bool) for each in inside):
            shown = ", ".join(str(each).lower() if isinstance(each, bool) else str(each) for each in inside)
            raise UserError(f"{place}={_typed(value)}: must be one of {shown}{', or null' if null else ''}")
        return value
    if origin is tuple:
        listed = value if isinstance(value, list | tuple) else [value]
        return tuple(_check(inside[0], each, place) for each in listed)
    if origin in (dict, Mapping):
        if not isinstance(value, Mapping):
            raise UserError(f"{place}={_typed(value)}: must be names with values, for instance {place}.name=…")
        return {str(key): _check(inside[1], each, _join(place, str(key))) for key, each in value.items()}
    if isinstance(hint, type) and is_dataclass(hint):
        return read(hint, value, place)
    assert isinstance(hint, type)
    return _check_scalar(hint, value, place, null)


def _check_union(inside: tuple[object, ...], value: object, place: str) -> object:
    null = types.NoneType in inside
    if value is None and null:
        return None
    kinds = [each for each in inside if each is not types.NoneType]
    for each in kinds[:-1]:
        try:
            return _check(each, value, place, null)
        except UserError:
            continue
    return _check(kinds[-1], value, place, null)


def _check_scalar(kind: type, value: object, place: str, null: bool, bounds: tuple[Bound, ...] = ()) -> object:
    if kind is str and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)  # name=1 is a name too
    fits = isinstance(value, kind) or (kind is float and isinstance(value, int))
    fits = fits and (kind is bool or not isinstance(value, bool)) and (not isinstance(value, float) or math.isfinite(value))
    if not fits or not all(bound.admits(value) for bound in bounds):  # type: ignore[arg-type]
        wanted = NAMES.get(kind, kind.__name__) + " and".join(str(bound) for bound in bounds)
        raise UserError(f"{place}={_typed(value)}: must be {wanted}{', or null' if null else ''}")
    return value


def _typed(value: object) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
