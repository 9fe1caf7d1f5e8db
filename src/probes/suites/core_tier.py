"""The tier `core`: suites whose words are all in the built-in corpus, so that a model trained in minutes can be tested."""

from collections import Counter
from collections.abc import Iterator
from functools import cache

from ...data.grammar.clitics import render
from ...data.grammar.folder import CORPUS, folder_of, load
from ...data.grammar.unroll import Node, unroll
from .region_sentence import sentence_of
from .suite import Suite, sentences

LISTED = 12


def core_notes(suite: Suite) -> Iterator[str]:
    """Words of a core suite that its language's corpus lacks."""
    if suite.meta.get("tier") == "core" and (missing := words_outside(suite, corpus_words(suite.language))):
        listed = ", ".join(list(missing)[:LISTED]) + (" …" if len(missing) > LISTED else "")
        yield f"tier core, but {len(missing)} words are not in the built-in corpus: {listed}"


def words_outside(suite: Suite, known: frozenset[str]) -> Counter[str]:
    """Unknown words, with the number of sentences that have them. A capital at the start is ignored."""
    missing = Counter[str]()
    for item, condition in sentences(suite):
        first, *rest = sentence_of(suite, item, condition, suite.language).words
        words = dict.fromkeys([first if first in known else first[:1].lower() + first[1:], *rest])
        missing.update(word for word in words if word not in known)
    return missing


@cache
def corpus_words(language: str) -> frozenset[str]:
    """Every word that a language's corpus grammar can produce."""
    root = unroll(load(folder_of(language), CORPUS))
    seen: dict[int, Node] = {}
    waiting, words = [root], set[str]()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen[id(node)] = node
        for branch in node.branches:
            words.update(word for part in branch.parts if isinstance(part, str) for word in render(part, "split").split())
            waiting += [part for part in branch.parts if isinstance(part, Node)]
    return frozenset(words | {"."})
