"""Four surface heuristics of number agreement (Li, Wisniewski and Crabbé 2021), over the words before the tested one.

h1: the first noun with a number; h2: the last; h3: the last word of any kind with one; h4: the majority of all words with one,
where a tie goes to the value nearest the tested word. Without any value, a heuristic is wrong.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

NAMES = ("h1", "h2", "h3", "h4")
RIGHT, WRONG = "right", "wrong"
N_HEURISTICS = "n_heuristics"


class Marked(NamedTuple):
    """A word before the tested one: whether it is a noun, and its number ('' if it has none)."""

    is_noun: bool
    number: str


def choices(prefix: Sequence[Marked]) -> tuple[str, str, str, str]:
    """The number each heuristic picks, '' if it has nothing to go by."""
    marked = [word for word in prefix if word.number]
    nouns = [word.number for word in marked if word.is_noun]
    first, last = (nouns[0], nouns[-1]) if nouns else ("", "")
    return first, last, marked[-1].number if marked else "", _majority([word.number for word in marked])


def _majority(numbers: Sequence[str]) -> str:
    counts = Counter(numbers)
    most = max(counts.values(), default=0)
    return next((number for number in reversed(numbers) if counts[number] == most), "")


def heuristic_features(prefix: Sequence[Marked], number: str) -> dict[str, str | int]:
    """h1 to h4, right or wrong, and how many of them are right: 4 is easy, 0 is hard."""
    right = [choice == number for choice in choices(prefix)]
    named = {name: RIGHT if good else WRONG for name, good in zip(NAMES, right, strict=True)}
    return named | {N_HEURISTICS: sum(right)}
