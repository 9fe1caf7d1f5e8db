"""Treebanks in CoNLL-U as a corpus: their own sentences and tokens."""

from collections import Counter
from collections.abc import Iterator
from typing import Literal

from ..errors import UserError
from .blocks import Chunk
from .trees import Tree, parse_trees

Words = Literal["surface", "syntactic"]


class TreebankText:
    """`surface`: tokens as they are written (*du*); `syntactic`: the words that the treebank analyses (*de le*)."""

    def __init__(self, words: Words = "surface") -> None:
        if words not in ("surface", "syntactic"):
            raise UserError(f"data.words={words}: write surface or syntactic")
        self.words = words

    def read(self, chunk: Chunk, left_out: Counter[str]) -> Iterator[list[str]]:
        for tree in parse_trees(chunk.lines, chunk.file, chunk.first):
            yield sentence_words(tree, self.words)

    def ends(self, line: str) -> bool:
        return not line.strip()

    def key(self) -> str:
        return f"conllu:{self.words}"


def sentence_words(tree: Tree, words: Words) -> list[str]:
    """A form with a space in it (*10 000*) is as many words as it has parts."""
    tokens = tree.written() if words == "surface" else tree.analysed()
    return [part for token in tokens for part in token.form.split()]
