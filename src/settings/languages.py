"""Facts about a language: how its raw text is split into words, its writing direction, what its script joins."""

import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

import yaml

from ..errors import UserError
from ..places import own_or_installed
from .language_codes import direction_of, is_code, is_known, name_of, shortest, spellings
from .reading import Plain, read

log = logging.getLogger(__name__)

# How sets and corpora render what a script joins to the next word: as separate tokens, or joined as in running text.
Clitics = Literal["split", "joined"]
# Letters with their marks, hyphens and apostrophes inside a word; numbers; other marks one by one, runs of dots or dashes as one.
ANY_TOKENS = r"\d+(?:[.,]\d+)+|[\w\u0300-\u036f]+(?:[-'][\w\u0300-\u036f]+)*|\.+|-+|[^\w\s]"
SEVERAL, ANY = "multi", "any"
# For languages without a description: the same, with the vowel signs and other marks that belong to a script's letters.
_LETTERS = (
    r"\w\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    r"\u06df-\u06e8\u06ea-\u06ed\u0900-\u0963\u0966-\u0dff\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ecd\u1000-\u1049\u1050-\u109f"
    r"\u135d-\u135f\u1780-\u17d3\u200c\u200d"
)
_MARKS = r"\.+|-+|[^\w\s]"
SPACED = rf"\d+(?:[.,]\d+)+|[{_LETTERS}]+(?:[-'][{_LETTERS}]+)*|{_MARKS}"
# Scripts without spaces between words: one letter after another, Latin words and numbers as a whole.
UNSPACED = (
    rf"[A-Za-z0-9\u00c0-\u024f]+|\w[\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u17b4-\u17d3]*|{_MARKS}"
)
WITHOUT_SPACES = ("zh", "ja", "th", "lo", "km", "my", "bo", "yue", "wuu", "lzh")


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
    if isinstance(values, Mapping) and not several and values.get("name") is None:
        return _read_any(values)
    return read(SeveralLanguages, values, "lang") if several else read(Language, values, "lang")


def _read_any(values: Mapping[str, object]) -> Language:
    """`lang=any lang.code=nld`: as its file describes it if there is one, otherwise by the rules for any language."""
    code = values.get("code")
    if not isinstance(code, str) or not is_code(code):
        raise UserError(f"lang.code={code}: lang=any needs a language code, two or three letters: lang=any lang.code=nld")
    found = read_language(code)
    said = {key: value for key, value in values.items() if key not in ("code", "name") and value is not None}
    made = read(Language, asdict(found) | said, "lang")
    log.info("language   %s (%s), written %s; words by the rule %s", made.name, made.code, made.direction, made.tokens)
    return made


def any_language(code: str) -> Language:
    """A language without a description."""
    two = shortest(code)
    tokens = UNSPACED if two in WITHOUT_SPACES else SPACED
    return Language(two, name_of(two), direction=direction_of(two), tokens=tokens)


def each_language(choice: LanguageChoice) -> tuple[Language, ...]:
    """The one language, or each of several, as `conf/lang` describes it."""
    if isinstance(choice, Language):
        return (choice,)
    asked, known = list(choice.languages), language_files()
    if unknown := [code for code in asked if code not in known and not is_known(code)]:
        raise UserError(f"lang.languages={asked}: no {unknown[0]} here; available: {', '.join(known)}")
    if len(asked) < 2:
        raise UserError(f"lang.languages={asked}: name two or more; for one language, lang=<language>")
    if len({*asked}) < len(asked):
        raise UserError(f"lang.languages={asked}: a language appears twice")
    return tuple(read_language(code) for code in asked)


def read_language(code: str) -> Language:
    """A language by its code, two or three letters."""
    files = language_files()
    file = next((files[each] for each in spellings(code) if each in files), None)
    if file is None and is_known(code):
        return any_language(code)
    if file is None:
        raise UserError(f"lang={code}: no such language; available: {', '.join(language_files())}")
    try:
        return read(Language, yaml.safe_load(file.read_text(encoding="utf-8")), "lang")
    except (UserError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: {' '.join(str(error).split())}") from None


def language_files() -> dict[str, Path]:
    """Every described language, by its code."""
    folders = own_or_installed("conf/lang")
    files = {file.stem: file for folder in reversed(folders) for file in folder.glob("*.yaml") if file.stem not in (SEVERAL, ANY)}
    return dict(sorted(files.items()))
