"""Treebanks in CoNLL-U: their own sentences and tokens."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal

from ..errors import UserError
from .blocks import Chunk
from .text import TextError

Words = Literal["surface", "syntactic"]
COLUMNS = 10
# A word, a token that covers several, a word that is not there.
NUMBER = re.compile(r"[0-9]{1,9}(-[0-9]{1,9}|\.[0-9]{1,9})?")


class TreebankText:
    """`surface`: tokens as they are written (*du*); `syntactic`: the words that the treebank analyses (*de le*).

    A form with a space in it (*10 000*) is as many tokens as it has parts.
    """

    def __init__(self, words: Words = "surface") -> None:
        if words not in ("surface", "syntactic"):
            raise UserError(f"data.words={words}: write surface or syntactic")
        self.words = words

    def read(self, chunk: Chunk, left_out: Counter[str]) -> Iterator[list[str]]:
        tokens: list[str] = []
        covered = 0  # words up to this number are part of a token that has been taken
        for number, line in enumerate(chunk.lines, start=chunk.first):
            if not line.strip():
                if tokens:
                    yield tokens
                tokens, covered = [], 0
            elif not line.startswith("#"):
                covered = self._take(line, tokens, covered, f"{chunk.file}:{number}")
        if tokens:
            yield tokens

    def _take(self, line: str, tokens: list[str], covered: int, place: str) -> int:
        cells = line.split("\t")
        if len(cells) != COLUMNS:
            raise TextError(f"{place}: {len(cells)} columns, CoNLL-U has {COLUMNS}, separated by tabs; is this a .conllu file?")
        if not NUMBER.fullmatch(cells[0]):
            raise TextError(f"{place}: {cells[0]!r} is no number of a word; is this a .conllu file?")
        first, _, last = cells[0].partition("-")
        if "." in first:  # a word that is not there
            return covered
        if last:
            if self.words == "syntactic":
                return covered
            tokens.extend(cells[1].split())
            return int(last)
        if int(first) > covered:
            tokens.extend(cells[1].split())
        return covered

    def ends(self, line: str) -> bool:
        return not line.strip()

    def key(self) -> str:
        return f"conllu:{self.words}"
