"""Treebanks in CoNLL-U as a corpus: their own sentences and tokens."""

from collections import Counter
from collections.abc import Iterator
from typing import Literal

from ..errors import UserError
from .blocks import Chunk, WithheldSentence
from .trees import DependencyTree, parse_trees
from .withholding import Withholding

Words = Literal["surface", "syntactic"]


class TreebankText:
    """`surface`: tokens as written (*du*); `syntactic`: the words the treebank analyses (*de le*)."""

    def __init__(self, words: Words = "surface", withholding: Withholding | None = None) -> None:
        if words not in ("surface", "syntactic"):
            raise UserError(f"data.words={words}: must be surface or syntactic")
        self.words = words
        self.withholding = withholding

    def read(self, chunk: Chunk, left_out: Counter[str]) -> Iterator[list[str]]:
        for tree in parse_trees(chunk.lines, chunk.file, chunk.first):
            tokens = sentence_words(tree, self.words)
            found = self.withholding(tree) if self.withholding else []
            yield WithheldSentence(tokens) if found else tokens

    def ends(self, line: str) -> bool:
        return not line.strip()

    def key(self) -> str:
        return f"conllu:{self.words}" + (f":without {self.withholding.key()}" if self.withholding else "")


def sentence_words(tree: DependencyTree, words: Words) -> list[str]:
    """A form with a space in it (*10 000*) counts as several words."""
    tokens = tree.written() if words == "surface" else tree.analysed()
    return [part for token in tokens for part in token.form.split()]
