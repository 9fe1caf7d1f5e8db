"""The prefix tree of many sentences: shared beginnings are stored once and computed once.

Sentences are concatenated token ids, sentence s from `firsts[s]` up to `firsts[s + 1]`. All that is needed from a model is the
log-probability of every edge; sentence, target and region scores are sums along paths.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class PrefixTree:
    """Node 0 is the root, where only the start has been read. Nodes are numbered level by level, siblings adjacent."""

    tokens: Ids  # (N,) the token leading to each node; meaningless for the root
    parents: Ids  # (N,)
    bounds: Ids  # (depth + 2,) level d has the nodes bounds[d] up to bounds[d + 1]
    paths: Ids  # the node of every token of every sentence, in the order of the sentences

    def __len__(self) -> int:
        return len(self.tokens)

    def levels(self) -> Iterator[tuple[Ids, Ids]]:
        """For each level, the nodes that have children, and their children."""
        for start, end in zip(self.bounds[1:-1], self.bounds[2:], strict=True):
            children = np.arange(start, end)
            yield np.unique(self.parents[children]), children

    def ways(self) -> tuple[Ids, Ids, NDArray[np.bool_]]:
        """The nodes that have children, (P,), the depth of each, and which of them lie on the path to each, (P, P)."""
        nodes = np.unique(self.parents[1:])
        depths = np.searchsorted(self.bounds, nodes, side="right") - 1
        above = np.searchsorted(nodes, self.parents[nodes])  # the parent of a node with children has children itself
        seen = np.eye(len(nodes), dtype=bool)
        for depth in range(1, int(depths.max(initial=0)) + 1):
            own = depths == depth
            seen[own] |= seen[above[own]]
        return nodes, depths, seen

    def contexts(self) -> int:
        """How many distinct beginnings have a continuation: the steps and predictions a model has to make."""
        return len(np.unique(self.parents[1:]))


def grow_tree(ids: Ids, firsts: Ids) -> PrefixTree:
    """The tree of these sentences."""
    lengths = np.diff(firsts)
    vocabulary = int(ids.max(initial=0)) + 1
    tokens, parents, bounds = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)], [0, 1]
    paths = np.zeros(len(ids), np.int64)
    at = np.zeros(len(lengths), np.int64)  # the node each sentence has reached
    for depth in range(int(lengths.max(initial=0))):
        going = np.flatnonzero(lengths > depth)
        places = firsts[going] + depth
        # Equal if a sentence leaves the same node by the same token; sorted, so that siblings are adjacent.
        steps, which = np.unique(at[going] * vocabulary + ids[places], return_inverse=True)
        at[going] = paths[places] = bounds[-1] + which
        tokens.append(steps % vocabulary)
        parents.append(steps // vocabulary)
        bounds.append(bounds[-1] + len(steps))
    return PrefixTree(np.concatenate(tokens), np.concatenate(parents), np.array(bounds), paths)


@dataclass(frozen=True)
class TreeBlock:
    """Some of the sentences, adjacent in dictionary order, with their own tree."""

    places: Ids  # where their tokens are among all
    tree: PrefixTree


def tree_blocks(ids: Ids, firsts: Ids, budget: int) -> list[TreeBlock]:
    """All sentences in blocks of about `budget` nodes, which bounds memory; only the path to a block is recomputed."""
    order, new = _sorted(ids, firsts)
    number = (np.cumsum(new) - new) // budget
    return [_block(ids, firsts, order[number == n]) for n in np.unique(number)]


def _block(ids: Ids, firsts: Ids, sentences: Ids) -> TreeBlock:
    lengths = np.diff(firsts)[sentences]
    own = np.concatenate([[0], np.cumsum(lengths)])
    places = np.arange(own[-1]) + np.repeat(firsts[sentences] - own[:-1], lengths)
    return TreeBlock(places, grow_tree(ids[places], own))


def _sorted(ids: Ids, firsts: Ids) -> tuple[Ids, Ids]:
    """The sentences in token order, and how many tokens of each are not shared with the start of the previous one."""
    lengths = np.diff(firsts)
    width = max(int(lengths.max(initial=0)), 1)
    table = np.full((len(lengths), width), -1, np.int64)
    table[np.arange(width) < lengths[:, None]] = ids
    order = np.lexsort(table.T[::-1])
    differs = np.ones((len(lengths), width), bool)
    differs[1:] = table[order][1:] != table[order][:-1]
    shared = np.where(differs.any(axis=1), differs.argmax(axis=1), width)
    return order, np.maximum(lengths[order] - shared, 0)
