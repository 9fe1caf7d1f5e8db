"""What is true of a language: how its raw text is cut into words, which way it is written, what its script glues together."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import yaml

from ..errors import UserError
from ..places import own_or_installed
from .reading import Plain, read

# How sets and corpora render what a script glues to the next word: as tokens of their own, or joined as in running text.
Clitics = Literal["split", "joined"]
# Letters with their marks, hyphens and apostrophes inside a word; numbers; other marks one by one, runs of dots or dashes as one.
ANY_TOKENS = r"\d+(?:[.,]\d+)+|[\w\u0300-\u036f]+(?:[-'][\w\u0300-\u036f]+)*|\.+|-+|[^\w\s]"
SEVERAL = "multi"


@dataclass(frozen=True)
class Language:
    """One language, as `conf/lang/<code>.yaml` describes it."""

    code: str
    name: str
    script: str = ""
    direction: Literal["ltr", "rtl"] = "ltr"
    clitics: Clitics = "split"
    replace: dict[str, str] = field(default_factory=lambda: {"’": "'"})
    tokens: str = ANY_TOKENS

    def plain(self) -> dict[str, Plain]:
        """What a checkpoint keeps of it."""
        return {
            "code": self.code,
            "name": self.name,
            "direction": self.direction,
            "tokens": self.tokens,
            "replace": {**self.replace},
        }


@dataclass(frozen=True)
class SeveralLanguages:
    """`lang=multi`: the languages of one model, by their codes."""

    code: str
    name: str
    languages: tuple[str, ...]
    direction: str = "mixed"
    clitics: Clitics = "split"

    def plain(self) -> dict[str, Plain]:
        return {"code": self.code, "name": self.name, "direction": self.direction}


LanguageChoice = Language | SeveralLanguages


def read_language_choice(values: object) -> LanguageChoice:
    """One language, or several in one model."""
    several = isinstance(values, Mapping) and "languages" in values
    return read(SeveralLanguages, values, "lang") if several else read(Language, values, "lang")


def each_language(choice: LanguageChoice) -> tuple[Language, ...]:
    """The one, or each of the several, as `conf/lang` describes it."""
    if isinstance(choice, Language):
        return (choice,)
    asked, known = list(choice.languages), language_files()
    if unknown := [code for code in asked if code not in known]:
        raise UserError(f"lang.languages={asked}: no {unknown[0]} here; there are: {', '.join(known)}")
    if len(asked) < 2:
        raise UserError(f"lang.languages={asked}: name two or more; for one language, lang=<language>")
    if len({*asked}) < len(asked):
        raise UserError(f"lang.languages={asked}: a language is there twice")
    return tuple(read_language(code) for code in asked)


def read_language(code: str) -> Language:
    """A language by its code."""
    file = language_files().get(code)
    if file is None:
        raise UserError(f"lang={code}: there is no such language; there are: {', '.join(language_files())}")
    try:
        return read(Language, yaml.safe_load(file.read_text(encoding="utf-8")), "lang")
    except (UserError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: {' '.join(str(error).split())}") from None


def language_files() -> dict[str, Path]:
    """Every language that is described, by its code."""
    folders = own_or_installed("conf/lang")
    files = {file.stem: file for folder in reversed(folders) for file in folder.glob("*.yaml") if file.stem != SEVERAL}
    return dict(sorted(files.items()))
