"""Pairs of a good and a bad sentence, as in most sources; the words of raw text."""

import unicodedata
from collections.abc import Callable
from functools import cache

from ..data.tokens import TokenRule
from ..settings.language_codes import is_known
from ..settings.languages import language_files, read_language
from .challenge_set import TARGET, Span, Variant, differing

# What ends a sentence, including non-Latin scripts.
FINAL_MARKS = (".", "!", "?", "。", "！", "？", "؟", "।", "۔", "…")


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
    """Whether a final mark is attached to the last word, as in running text."""
    last = sentence.rsplit(maxsplit=1)[-1]
    return last.endswith(FINAL_MARKS) and any(map(str.isalnum, last))


def words_of(text: str, language: str) -> list[str]:
    """The words and marks of raw text by the language's own rule, the same for corpora and challenge sets; without a rule, marks
    are cut off the ends of words.
    """
    return _rule(language)(text)


@cache
def _rule(language: str) -> Callable[[str], list[str]]:
    if not is_known(language) and language not in language_files():
        return lambda text: [part for chunk in text.split() for part in _peeled(chunk)]
    described = read_language(language)
    return TokenRule(described.tokens, described.replace)


def _peeled(chunk: str) -> list[str]:
    """Marks before, the word, marks after. A script's own signs inside a word stay in place."""
    marks = [unicodedata.category(letter).startswith("P") for letter in chunk]
    if all(marks):
        return [chunk]
    start, end = marks.index(False), len(chunk) - marks[::-1].index(False)
    return [*chunk[:start], chunk[start:end], *chunk[end:]]
