"""From raw text to tokens: by the one rule that `conf/lang/<lang>.yaml` states, or as the papers did it."""

import re
import unicodedata
from collections.abc import Mapping
from functools import cached_property
from importlib import metadata
from typing import TYPE_CHECKING, Protocol

from ..errors import UserError
from ..settings.languages import Language

if TYPE_CHECKING:
    from sacremoses import MosesTokenizer

MOSES = "moses"  # the setting `tokenizer.rules`


class Tokenization(Protocol):
    def __call__(self, text: str) -> list[str]:
        """The tokens of a sentence."""

    def key(self) -> str:
        """Everything they depend on besides the text."""


class TokenRule:
    """Replace some characters, then take everything the pattern finds."""

    def __init__(self, pattern: str, replace: Mapping[str, str]) -> None:
        try:
            self.pattern = re.compile(pattern)
        except re.error as error:
            raise UserError(f"the token pattern {pattern!r} is not a regular expression: {error}") from None
        self.replace = str.maketrans(dict(replace))

    def __call__(self, text: str) -> list[str]:
        """Tokens of the text in NFC, so that é is one character however it was typed."""
        if not unicodedata.is_normalized("NFC", text):
            text = unicodedata.normalize("NFC", text)
        return self.pattern.findall(text.translate(self.replace))

    def key(self) -> str:
        return f"{self.pattern.pattern}:{sorted(self.replace.items())}"


class MosesRule:
    """Moses tokenisation, by sacremoses, for corpora comparable to the papers'. About ten times slower."""

    def __init__(self, language: str) -> None:
        self.language = language
        try:
            self.version = metadata.version("sacremoses")
        except metadata.PackageNotFoundError:
            raise UserError("tokenizer.rules=moses needs the package sacremoses: pip install 'concord-lm[moses]'") from None

    @cached_property
    def tokenizer(self) -> "MosesTokenizer":
        from sacremoses import MosesTokenizer  # noqa: PLC0415 - an extra

        return MosesTokenizer(self.language)

    def __call__(self, text: str) -> list[str]:
        tokens: list[str] = self.tokenizer.tokenize(unicodedata.normalize("NFC", text), escape=False)
        return [part for token in tokens for part in token.split()]

    def __getstate__(self) -> dict[str, object]:
        return {"language": self.language, "version": self.version}  # every process makes its own tokenizer

    def key(self) -> str:
        return f"moses:{self.version}:{self.language}"


def rule_for(language: Language, rules: str | None) -> Tokenization:
    """The language's own, or that of Moses."""
    return MosesRule(language.code) if rules == MOSES else TokenRule(language.tokens, language.replace)
