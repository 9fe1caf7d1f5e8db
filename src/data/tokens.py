"""From raw text to tokens, by the one rule that `conf/lang/<lang>.yaml` states."""

import re
import unicodedata
from collections.abc import Mapping

from .errors import UserError


class TokenRule:
    """Replace some characters, then take everything that the pattern finds."""

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
