"""Pairs of a good and a bad sentence, as most sources have them; the words of raw text."""

import unicodedata
from collections.abc import Callable
from functools import cache

import yaml

from ..data.grammar.folder import GRAMMARS
from ..data.tokens import TokenRule
from .challenge_set import TARGET, Span, Variant, differing

# What a language's raw text is cut by is stated there, once for corpora and for challenge sets.
LANGUAGES = GRAMMARS.parent / "conf/lang"


def pair(good: tuple[str, ...], bad: tuple[str, ...], texts: tuple[str | None, str | None] = (None, None)) -> list[Variant]:
    """The target is where the two differ."""
    spans = differing(good, bad)
    return [
        Variant("good", True, good, texts[0], (Span(TARGET, *spans[0]),)),
        Variant("bad", False, bad, texts[1], (Span(TARGET, *spans[1]),)),
    ]


def raw_pair(good: str, bad: str, language: str) -> list[Variant]:
    """From raw text, which is kept; its words are what a word-level model of the language reads: `herself .`, not `herself.`"""
    return pair(tuple(words_of(good, language)), tuple(words_of(bad, language)), (good, bad))


def is_raw(sentence: str) -> bool:
    """Whether a final mark is glued to the last word, as in running text."""
    last = sentence.rsplit(maxsplit=1)[-1]
    return last.endswith((".", "!", "?")) and any(map(str.isalnum, last))


def words_of(text: str, language: str) -> list[str]:
    """The words and marks of raw text by the language's own rule; where there is none, marks are cut off the ends of words."""
    return _rule(language)(text)


@cache
def _rule(language: str) -> Callable[[str], list[str]]:
    file = LANGUAGES / f"{language}.yaml"
    if not language.isalpha() or not file.exists():
        return lambda text: [part for chunk in text.split() for part in _peeled(chunk)]
    settings = yaml.safe_load(file.read_text(encoding="utf-8"))
    return TokenRule(settings["tokens"], settings["replace"])


def _peeled(chunk: str) -> list[str]:
    """Marks before, the word, marks after. A script's own signs inside a word stay where they are."""
    marks = [unicodedata.category(letter).startswith("P") for letter in chunk]
    if all(marks):
        return [chunk]
    start, end = marks.index(False), len(chunk) - marks[::-1].index(False)
    return [*chunk[:start], chunk[start:end], *chunk[end:]]
