"""Why Hydra could not compose the settings, in one line: what was typed, what is wrong with it, what would be right."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence

from hydra import compose, initialize_config_dir
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from ..errors import UserError
from ..places import choices, installed_folder
from .reading import Plain, tell_unknown

# What can go wrong inside Hydra and OmegaConf while settings are composed; a typo raises almost any of these.
COMPOSING = (HydraException, OmegaConfBaseException, ValueError, TypeError, AttributeError, LookupError, AssertionError)
# Groups whose extra settings belong to others: torch's optimisers, Lightning's trainer.
OPEN = ("trainer.", "model.network.", "model.optimizer.", "model.scheduler.", "callbacks.", "logger.")


def explain_composition(error: Exception, overrides: Sequence[str], config_name: str = "train") -> UserError:
    """What to tell the user who typed these overrides."""
    if isinstance(error, MissingConfigException):
        return UserError(_missing_choice(error, overrides, config_name))
    if isinstance(error, OverrideParseException):
        return UserError(_unreadable(error))
    said = str(error)
    if found := re.match(r"(?:Ambiguous value for argument|Sweep parameters) '(.*?)'(?:\n| requires)", said, re.DOTALL):
        return UserError(_several(found[1]))
    if found := re.match(r"Could not override '(.*?)'", said):
        return UserError(_unknown(found[1], overrides, config_name))
    if found := re.match(r"(?:Multiple values for |Could not append to config. An item is already at ')(\S+?)'?\. ?", said):
        typed = _typed_for(found[1], overrides)
        return UserError(f"{typed}: {found[1]} already exists; leave out the +: {typed.lstrip('+')}")
    return UserError(f"{' '.join(overrides) or 'the settings'}: cannot be composed ({_reason(error)})")


def _reason(error: Exception) -> str:
    causes = [error, *([error.__cause__] if isinstance(error.__cause__, OmegaConfBaseException) else [])]
    lines = [str(each).strip().partition("\n")[0] for each in causes]
    return "; ".join(dict.fromkeys(line for line in lines if line)) or type(error).__name__


def _missing_choice(error: MissingConfigException, overrides: Sequence[str], config_name: str) -> str:
    group, _, choice = str(error.missing_cfg_file).rpartition("/")
    options = choices(group, config_name)
    typed = next((each for each in overrides if each.lstrip("+").startswith(f"{group}=")), f"{group}={choice}")
    near = difflib.get_close_matches(choice, options, n=1, cutoff=0.6)
    there = f"available: {', '.join(options)}" if options else "none are available"
    return f"{typed}: no such choice; " + (f"did you mean {group}={near[0]}? ({there})" if near else there)


def _unreadable(error: OverrideParseException) -> str:
    reason = next((line for line in str(error.message).splitlines() if not line.startswith(("See ", "Error parsing"))), "")
    if "=" not in error.override:
        return f"{error.override}: write a setting as name=value; --help lists them"
    name, _, value = error.override.partition("=")
    return f"{error.override}: cannot be read ({reason}); quote text with special characters twice: '{name}=\"{value}\"'"


def _several(typed: str) -> str:
    name, _, values = typed.partition("=")
    if "(" in values:  # range(1,3), choice(a,b): Hydra's own ways to give several
        return f"{typed}: one value at a time; one run each: -m {typed}"
    if name == "lang":
        return (
            f"{typed}: one language at a time; one model of all: lang=multi lang.languages=[{values}]; one run each: -m {typed}"
        )
    return f"{typed}: one value at a time; as a list: {name}=[{values}]; one run each: -m {typed}"


def _unknown(name: str, overrides: Sequence[str], config_name: str) -> str:
    """A setting or group that does not exist, and the nearest that does."""
    rest = [each for each in overrides if _name_of(each) != name]
    told = tell_unknown(name, known_names(rest, config_name))
    if name.startswith(OPEN) and "did you mean" not in told:
        told = f"{name}: no such setting here; to pass it on to whatever {name.rpartition('.')[0]} selects: +{name}=…"
    return told


def _typed_for(name: str, overrides: Sequence[str]) -> str:
    return next((each for each in overrides if _name_of(each) == name), f"+{name}")


def _name_of(override: str) -> str:
    return override.partition("=")[0].lstrip("+~")


def known_names(overrides: Sequence[str], config_name: str) -> list[str]:
    """Every setting and group of settings, as composed from the valid overrides."""
    choices_alone = [each for each in overrides if "." not in _name_of(each)]  # where a second setting is unknown too
    for chosen in ([*overrides], choices_alone, []):
        try:
            with initialize_config_dir(str(installed_folder("conf")), version_base="1.3"):
                return [*_names(OmegaConf.to_container(compose(config_name, chosen))), *_groups()]  # type: ignore[arg-type]
        except COMPOSING:
            continue
    return _groups()


def _names(values: Mapping[str, Plain], before: str = "") -> Iterator[str]:
    for key, value in values.items():
        yield f"{before}{key}"
        if isinstance(value, Mapping):
            yield from _names(value, f"{before}{key}.")


def _groups() -> list[str]:
    conf = installed_folder("conf")
    return sorted(str(folder.relative_to(conf)) for folder in conf.rglob("*") if folder.is_dir() and "__" not in folder.name)
