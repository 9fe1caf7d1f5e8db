"""The prefix tree of many sentences: shared beginnings are stored once and computed once.

Sentences are concatenated token ids, sentence s from `firsts[s]` up to `firsts[s + 1]`. All that is needed from a model is the
log-probability of every edge; sentence, target and region scores are sums along paths.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

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
    """The sentences in token order, and how many tokens of each are not shared with the start of the previous one.

    Not by a table of all sentences: one of 5,000 words would make it as wide for each of them.
    """
    flat, bounds = ids.astype(">u4").tobytes(), (4 * firsts).tolist()  # big-endian bytes are in the order of their numbers
    keys = [flat[start:end] for start, end in pairwise(bounds)]
    order = np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)
    lengths, starts = np.diff(firsts)[order], firsts[:-1][order]
    shared = np.minimum(lengths[1:], lengths[:-1])  # unless they differ before
    ends = np.cumsum(shared)
    depths = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - shared, shared)
    differs = ids[np.repeat(starts[1:], shared) + depths] != ids[np.repeat(starts[:-1], shared) + depths]
    pairs, firsts_differing = np.unique(np.repeat(np.arange(len(shared)), shared)[differs], return_index=True)
    shared[pairs] = depths[differs][firsts_differing]
    new = lengths.copy()
    new[1:] -= shared
    return order, new
