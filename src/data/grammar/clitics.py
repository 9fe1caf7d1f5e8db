"""Words that a script joins to the next one. Grammars mark them (`ה+ ילד`); sets and corpora choose how they look."""

import re

from ...settings.languages import Clitics

Spans = tuple[tuple[int, int], ...]

# A plus that closes a longer word: neither the word "+" nor "C++".
MARK = re.compile(r"(?<=[^\s+])\+(?=\s|$)")
GLUE = re.compile(r"(?<=[^\s+])\+\s")


def render(text: str, clitics: Clitics) -> str:
    """`ה+ ילד` is `ה ילד` when split and `הילד` when joined."""
    if clitics == "joined":
        text = GLUE.sub("", text)
    return MARK.sub("", text)


def joined_spans(marked: str, spans: Spans) -> Spans:
    """The same spans, counted in the words of the joined rendering."""
    position = [0]
    for word in marked.split():
        position.append(position[-1] + (0 if MARK.search(word) else 1))
    return tuple((position[start], position[end] if end > start else position[start]) for start, end in spans)
