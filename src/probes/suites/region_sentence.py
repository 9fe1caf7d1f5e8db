"""The text of a condition and its regions' positions, built together so that they cannot disagree."""

from typing import NamedTuple

from ..challenge_set import SetError
from ..pairs import words_of
from .suite import Condition, Item, Joiner, Suite

LEFT = tuple(",.;:?!)")  # attach to what is on their left
RIGHT = tuple("¿¡(")


class RegionSpan(NamedTuple):
    """A region in characters of the text and in words, from start up to end. Both are empty for an empty region."""

    number: int
    name: str
    start: int
    end: int
    first_word: int
    end_word: int


class RegionSentence(NamedTuple):
    text: str
    words: tuple[str, ...]
    regions: tuple[RegionSpan, ...]


def sentence_of(suite: Suite, item: Item, condition: Condition, language: str) -> RegionSentence:
    """The sentence as a reader would write it; its words are those that a word-level model of the language reads."""
    text = ""
    words: list[str] = []
    spans: list[RegionSpan] = []
    for region in condition.regions:
        start, chunks = len(text), region.content.split()
        for position, chunk in enumerate(chunks):
            gap = gap_between(text, chunk, suite.joiner)
            start = start + len(gap) if position == 0 else start
            text += gap + chunk
        first = len(words)
        words += words_of(" ".join(chunks), language)
        spans.append(RegionSpan(region.number, suite.region_names.get(region.number, ""), start, len(text), first, len(words)))
    if words_of(text, language) != words:
        raise SetError(
            suite.file,
            None,
            f"item {item.number}, {condition.name}: a word of {text!r} spans two regions; align regions with word boundaries",
        )
    return RegionSentence(text, tuple(words), tuple(spans))


def gap_between(text: str, chunk: str, joiner: Joiner) -> str:
    """The blank before a chunk, if any. `.5` is a number, not a full stop."""
    if not text:
        return ""
    if joiner == "running" and (text.endswith(RIGHT) or (chunk.startswith(LEFT) and not chunk[1:2].isdigit())):
        return ""
    return " "
