"""A corpus sampled from a weighted grammar: the same seed gives the same sentences, block by block, in constant memory."""

from collections import Counter
from collections.abc import Collection, Container, Iterator
from dataclasses import dataclass

import numpy as np

from ...settings.languages import Clitics
from .clitics import MARK, render
from .notices import GrammarError
from .rules import Grammar
from .unroll import Branch, Node, parents_first, unroll

BLOCK = 16_384
CLOSING = (" .", " !", " ?")
# Consecutive blocks without one allowed sentence before we conclude that there is none.
PATIENCE = 50


@dataclass
class Draw(Iterator[str]):
    """An endless stream of sentences, and how many were left out as challenge sentences."""

    grammar: Grammar
    seed: int
    withhold: Collection[str] = ()
    exclude: Container[str] = frozenset()
    clitics: Clitics = "split"
    excluded: int = 0

    def __post_init__(self) -> None:
        self.marked = any(MARK.search(word) for body in self.grammar.rules.values() for a in body for word in map(str, a.parts))
        for line in self.grammar.distinct:
            raise GrammarError(
                line.place, "distinct: is for challenge sets; a corpus samples slots independently: use lists that share no word"
            )
        self._bits = {tag: 1 << i for i, tag in enumerate(self.grammar.tags())}
        self._masks: Counter[int] = Counter()
        self._plan = _Plan(unroll(self.grammar, self.withhold), self._bits)
        self._stream = self._sentences()

    def __next__(self) -> str:
        return next(self._stream)

    def _sentences(self) -> Iterator[str]:
        number = idle = 0
        while True:
            sentences, masks = self._block(number)
            number += 1
            idle += 1
            for sentence, mask in zip(sentences, masks.tolist(), strict=True):
                if without_closing(sentence) in self.exclude:
                    self.excluded += 1
                    continue
                idle = 0
                self._masks[mask] += 1
                yield sentence
            if idle == PATIENCE:
                raise GrammarError(
                    self.grammar.file,
                    f"all of {PATIENCE * BLOCK:,} sampled sentences are excluded; enlarge the grammar or exclude fewer",
                )

    @property
    def tags(self) -> dict[str, int]:
        """How many of the sentences so far contain each construction."""
        return {tag: sum(n for mask, n in self._masks.items() if mask & bit) for tag, bit in self._bits.items()}

    def _block(self, number: int) -> tuple[list[str], np.ndarray]:
        """Block k depends only on the seed and k, so that a longer corpus begins with the shorter one."""
        phrases, masks = self._plan.draw(BLOCK, _Uniform(self.seed, number))
        texts = (render(phrase, self.clitics) for phrase in phrases) if self.marked else phrases
        return [" ".join(text.split()) for text in texts], masks


class _Plan:
    """Samples many sentences at once: a few array operations per node, not a few steps per word.

    Downwards, every node collects how many phrases are requested of it and chooses branches for all of them; upwards, the
    phrases are assembled, each word followed by a space.
    """

    def __init__(self, root: Node, bits: dict[str, int]) -> None:
        self.nodes = parents_first(root)
        self.place = {id(node): i for i, node in enumerate(self.nodes)}
        self.tables = [_cumulative(node) for node in self.nodes]
        self.masks = [np.array([_mask(branch, bits) for branch in node.branches], dtype=np.int64) for node in self.nodes]
        self.words = [_lexicon(node) if node.lexical else None for node in self.nodes]

    def draw(self, n: int, random: "_Uniform") -> tuple[np.ndarray, np.ndarray]:
        """`n` sentences, and the tags in each of them as bits."""
        asked = [0] * len(self.nodes)
        asked[0] = n
        choices: list[np.ndarray] = []
        orders: list[list[tuple[Branch, np.ndarray, list[int]]]] = []
        for i, node in enumerate(self.nodes):
            chosen = self.tables[i].searchsorted(random(asked[i]), side="right")
            choices.append(chosen)
            orders.append(self._ask(node, chosen, asked) if self.words[i] is None and asked[i] else [])
        return self._compose(choices, orders)

    def _ask(self, node: Node, chosen: np.ndarray, asked: list[int]) -> list[tuple["Branch", np.ndarray, list[int]]]:
        """For each chosen branch: where, and from which phrase on its parts are taken from their nodes."""
        order = np.argsort(chosen, kind="stable")
        ends = np.cumsum(np.bincount(chosen, minlength=len(node.branches))).tolist()
        orders, start = [], 0
        for branch, end in zip(node.branches, ends, strict=True):
            if end > start:
                offsets = []
                for part in branch.parts:
                    if not isinstance(part, str):
                        child = self.place[id(part)]
                        offsets.append(asked[child])
                        asked[child] += end - start
                orders.append((branch, order[start:end], offsets))
            start = end
        return orders

    def _compose(
        self, choices: list[np.ndarray], orders: list[list[tuple["Branch", np.ndarray, list[int]]]]
    ) -> tuple[np.ndarray, np.ndarray]:
        phrases: list[np.ndarray] = [np.empty(0, dtype=object)] * len(self.nodes)
        masks: list[np.ndarray] = [self.masks[i][chosen] for i, chosen in enumerate(choices)]
        for i in reversed(range(len(self.nodes))):
            words = self.words[i]
            if words is not None:
                phrases[i] = words[choices[i]]
                continue
            phrases[i] = np.empty(len(choices[i]), dtype=object)
            for branch, where, offsets in orders[i]:
                phrase: np.ndarray | str = ""
                taken = iter(offsets)
                for part in branch.parts:
                    if isinstance(part, str):
                        phrase = phrase + (part + " ")
                        continue
                    child, offset = self.place[id(part)], next(taken)
                    phrase = phrase + phrases[child][offset : offset + len(where)]
                    masks[i][where] |= masks[child][offset : offset + len(where)]
                phrases[i][where] = phrase
        return phrases[0], masks[0]


def _mask(branch: Branch, bits: dict[str, int]) -> int:
    return sum(bits[tag] for tag in set(branch.tags))


def _lexicon(node: Node) -> np.ndarray:
    return np.array([f"{branch.words} " for branch in node.branches], dtype=object)


def _cumulative(node: Node) -> np.ndarray:
    """Cumulative probabilities of the branches; the last bound is left open so that rounding never overshoots."""
    weights = np.cumsum([branch.weight for branch in node.branches])
    return (weights / weights[-1])[:-1]


class _Uniform:
    """Numbers in [0, 1). Made from raw bits, since numpy keeps those stable across versions, but not its distributions."""

    def __init__(self, seed: int, block: int) -> None:
        self.bits = np.random.PCG64(np.random.SeedSequence([seed, block]))

    def __call__(self, n: int) -> np.ndarray:
        return (self.bits.random_raw(n) >> np.uint64(11)) * 2.0**-53


def without_closing(sentence: str) -> str:
    """A sentence as challenge sets have it, without its final punctuation."""
    return sentence[:-2] if sentence.endswith(CLOSING) else sentence
