from pathlib import Path

import pytest
from concord.data.grammar import Expansion, Grammar, build, parse

NUMBER = "attribute number $n: s singular | p plural\n"


@pytest.fixture
def grammar():
    """A grammar from text, as if it stood in x.avg."""

    def make(text: str) -> Grammar:
        return build("x", "x.avg", parse(text, "x.avg"))

    return make


@pytest.fixture
def expand(grammar):
    """The sentences of a grammar in order, ungrammatical ones starred."""

    def make(text: str, clitics="split") -> list[str]:
        groups = Expansion(grammar(text), clitics)
        return [("" if s.grammatical else "*") + s.text for group in groups for s in group.sentences]

    return make


@pytest.fixture
def folder(tmp_path: Path):
    """A folder of grammar files, from their contents by name."""

    def make(**files: str) -> Path:
        for name, text in files.items():
            (tmp_path / f"{name}.avg").write_text(text, encoding="utf-8")
        return tmp_path

    return make
