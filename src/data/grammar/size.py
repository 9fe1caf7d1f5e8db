"""How many sentences a grammar has, counted without writing them out."""

from .expand import Expansion
from .notices import GrammarError
from .unroll import Node

# A set is held in memory: some 350 bytes a sentence.
MOST_SENTENCES = 5_000_000
UNCOUNTED = 10**18  # counting goes no further: the number itself could grow without bound


def count_sentences(root: Node) -> int:
    """Those that the rules derive, up to UNCOUNTED; a sentence that is derived in two ways is counted twice."""
    known: dict[int, int] = {}

    def count(node: Node) -> int:
        if id(node) not in known:
            total = 0
            for branch in node.branches:
                product = 1
                for part in branch.parts:
                    if not isinstance(part, str):
                        product = min(product * count(part), UNCOUNTED)
                total = min(total + product, UNCOUNTED)
            known[id(node)] = total
        return known[id(node)]

    return count(root)


def check_size(expansion: Expansion) -> Expansion:
    """The same, if it can be held; before anything of it is written out."""
    size = count_sentences(expansion.root)
    if size > MOST_SENTENCES:
        shown = f"{size:,}" if size < UNCOUNTED else f"over {UNCOUNTED:.0e}"
        message = f"this grammar has {shown} sentences, more than the {MOST_SENTENCES:,} of a set; use fewer words or fewer slots"
        raise GrammarError(expansion.grammar.file, message)
    return expansion
