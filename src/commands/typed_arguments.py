"""Settings as people type them: Hydra rejects an ö, an apostrophe or {lang} unless it is quoted."""

import re
from collections.abc import Sequence

SETTING = re.compile(r"([+~]{0,2}[\w./@-]+)=(.+)", re.DOTALL)
# What Hydra understands as it is: numbers and names, lists and dictionaries, its own functions, quoted text.
PLAIN = re.compile(r"[\w\s/\-\\+.$%*@?|:,=]*", re.ASCII)
OWN = re.compile(r"[\[{'\"].*|\w+\(.*\)", re.DOTALL | re.ASCII)
INTERPOLATION = re.compile(r"\$\{[^{}]*\}")
SHARED = re.compile(r"shared:(\[.*\])", re.DOTALL)  # shared:[a,b] for the dictionary {shared:[a,b]}
SENTENCES = ("text",)  # always one string, commas and all


def as_typed(arguments: Sequence[str]) -> list[str]:
    """Add quotation marks where Hydra needs them; what is already right stays."""
    return [_quoted(argument) for argument in arguments]


def _quoted(argument: str) -> str:
    found = SETTING.fullmatch(argument)
    if found is None:
        return argument
    key, value = found.groups()
    if listed := SHARED.fullmatch(value):
        return f"{key}={{shared:{listed[1]}}}"
    if OWN.fullmatch(value) or (PLAIN.fullmatch(INTERPOLATION.sub("", value)) and key not in SENTENCES) or value == "null":
        return argument
    mark = '"' if "'" in value and '"' not in value else "'"
    return f"{key}={mark}{value.replace(mark, chr(92) + mark)}{mark}"
