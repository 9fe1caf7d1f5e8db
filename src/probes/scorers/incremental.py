"""Our own models read a sentence from left to right: all sentences form one prefix tree, and each prefix is read once."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...data.vocabulary import EOS_ID, Tokenizer
from ...lm.loss import make_room, score_tokens
from ...lm.model import LanguageModel
from ...lm.networks import State, join_rows, map_tensors, pick_rows, tensors_in
from ..prefix_tree import PrefixTree, TreeBlock, tree_blocks
from . import ProbeSentence, Reading, WordScores
from .scoring_mode import scoring_mode

STATES = 256 << 20  # bytes of states that may exist at once
TREE = 768  # nodes of a tree read as one: more means fewer re-reads, but more wasted attention
ROWS = 1024  # read or predicted from at once


@dataclass(frozen=True)
class Forest:
    """Sentences as prefix trees, ready to be scored by any weights of one model."""

    firsts: NDArray[np.int64]  # (S + 1,) words
    pieces: NDArray[np.int64]  # (W,) where each word's pieces begin
    count: int  # of all pieces
    unknown: NDArray[np.bool_]  # (W,)
    blocks: list[TreeBlock]

    def contexts(self) -> int:
        """The steps a model takes for it."""
        return sum(block.tree.contexts() for block in self.blocks)


def plant_forest(sentences: Sequence[ProbeSentence], tokenizer: Tokenizer, budget: int) -> Forest:
    """The prefix trees of these sentences, in blocks of about `budget` nodes."""
    known: dict[str, Sequence[int]] = {}
    ids = array("q")
    words = array("q")  # where each word begins; lists of a million and a half numbers would take 60 MB
    firsts, starts = [0], [0]
    for sentence in sentences:
        for word in sentence.words.split():
            pieces = known.get(word)
            if pieces is None:
                pieces = known[word] = tokenizer.encode_word(word)
            words.append(len(ids))
            ids.extend(pieces)
        firsts.append(len(words))
        starts.append(len(ids))
    flat, begins = np.array(ids, np.int64), np.array(words, np.int64)
    unknown = _summed(flat == tokenizer.unk, begins) > 0
    return Forest(np.array(firsts), begins, len(flat), unknown, tree_blocks(flat, np.array(starts), budget))


def _summed(values: NDArray[Any], begins: NDArray[np.int64]) -> NDArray[Any]:
    """Sums over each word's pieces. A word without pieces would be a bug in the tokenizer."""
    return np.add.reduceat(values, begins, dtype=np.float32) if len(begins) else np.zeros(0, np.float32)


def budget_for(model: LanguageModel) -> int:
    """Nodes per block: as many as are read as one, or as keep states within bounds, for sentences of about twelve words."""
    if model.reads_trees:
        return TREE
    with scoring_mode(model):
        _, state = model.read(torch.zeros((1, 12), dtype=torch.long, device=_device(model)))
    size = sum(part.numel() * part.element_size() for part in tensors_in(state))
    return int(np.clip(STATES // max(size, 1), 512, 16_384))  # a network may remember nothing


def _remembers_every_word(model: LanguageModel) -> bool:
    """Whether the state grows with what has been read, as keys and values do; that of a recurrent network keeps its size."""
    with scoring_mode(model):
        one, two = (
            sum(part.numel() for part in tensors_in(model.read(torch.full((1, words), EOS_ID, device=_device(model)))[1]))
            for words in (1, 2)
        )
    return two > one


class IncrementalScorer:
    """One of our models. `start` is the state every sentence starts from: None if the model has read nothing yet."""

    def __init__(self, name: str, model: LanguageModel, tokenizer: Tokenizer, start: State = None) -> None:
        self.name = name
        self.model = model
        self.tokenizer = tokenizer
        self.start = start
        self.fresh_state: Literal["zero", "none yet"] = "none yet" if _remembers_every_word(model) else "zero"

    @property
    def reading(self) -> Reading:
        words, several = self.tokenizer.words, self.tokenizer.begins() is not None
        state: Literal["zero", "none yet", "warm"] = "warm" if self.start is not None else self.fresh_state
        return Reading((words[EOS_ID],), state=state, pieces=several, unknown=words[self.tokenizer.unk])

    def prepare(self, sentences: Sequence[ProbeSentence]) -> Forest:
        return plant_forest(sentences, self.tokenizer, budget_for(self.model))

    def score(self, sentences: Sequence[ProbeSentence]) -> WordScores:
        forest = self.prepare(sentences)
        return self.scores(forest, self.logprobs(forest))

    def scores(self, forest: Forest, logprobs: NDArray[np.float32]) -> WordScores:
        """Word scores from piece scores."""
        sizes = np.diff(forest.pieces, append=forest.count).astype(np.int32)
        return WordScores(forest.firsts, _summed(logprobs, forest.pieces), forest.unknown, sizes)

    def logprobs(self, forest: Forest, rank: int = 0, world: int = 1) -> NDArray[np.float32]:
        """The log-probability of every piece. With several processes, each takes every `world`-th block; the rest is 0."""
        found = np.zeros(forest.count, np.float32)
        with scoring_mode(self.model):
            for block in forest.blocks[rank::world]:
                found[block.places] = self._edges(block).numpy()[block.tree.paths]
        return found

    def _edges(self, block: TreeBlock) -> Tensor:
        """The log-probability of each node's token after its parent: all at once, or level by level with the states of each."""
        whole = self.model.reads_trees and self.start is None and len(block.tree) > 1
        return self._edges_of_tree(block.tree) if whole else self._edges_by_level(block.tree)

    def _edges_of_tree(self, tree: PrefixTree) -> Tensor:
        device = _device(self.model)
        nodes, depths, seen = (torch.from_numpy(part).to(device) for part in tree.ways())
        tokens = torch.from_numpy(tree.tokens).to(device)
        inputs = torch.where(nodes == 0, EOS_ID, tokens[nodes])
        contexts = self.model.read_tree(inputs, depths, seen)
        rows = torch.searchsorted(nodes, torch.from_numpy(tree.parents[1:]).to(device))
        edges = torch.zeros(len(tree), dtype=torch.float32)
        edges[1:] = self._predicted(contexts, rows, tokens[1:]).cpu()
        return edges

    def _edges_by_level(self, tree: PrefixTree) -> Tensor:
        device = _device(self.model)
        tokens = torch.from_numpy(tree.tokens).to(device)
        edges = torch.zeros(len(tree), dtype=torch.float32)
        levels = list(tree.levels())
        # Only the states of nodes with children are kept.
        further = [np.unique(tree.parents[parents]) for parents, _ in levels[1:]] + [np.zeros(0, np.int64)]
        nodes: NDArray[np.int64] = np.zeros(0, np.int64)
        state: State = None
        for depth, ((parents, children), kept) in enumerate(zip(levels, further, strict=True)):
            keep = torch.from_numpy(np.searchsorted(parents, kept)).to(device)
            if depth == 0:
                contexts, state = self.model.read(
                    torch.full((1, 1), EOS_ID, device=device), map_tensors(lambda part: part.to(device), self.start)
                )
            else:
                rows = torch.from_numpy(np.searchsorted(nodes, tree.parents[parents])).to(device)
                contexts, state = self._read(tokens[parents], rows, state, keep)
            nodes = kept
            rows_of_children = torch.from_numpy(np.searchsorted(parents, tree.parents[children])).to(device)
            edges[torch.from_numpy(children)] = self._predicted(contexts[:, -1], rows_of_children, tokens[children]).cpu()
        return edges

    def _read(self, tokens: Tensor, rows: Tensor, state: State, keep: Tensor) -> tuple[Tensor, State]:
        """One token further from the states in these rows, a thousand at a time; returns only the new states of `keep`."""
        contexts, states = list[Tensor](), list[State]()
        for at in range(0, len(tokens), ROWS):
            y, now = self.model.read(tokens[at : at + ROWS, None], pick_rows(state, rows[at : at + ROWS]))
            first, last = torch.searchsorted(keep, torch.tensor([at, at + ROWS], device=keep.device)).tolist()
            contexts.append(y)
            if last > first:
                states.append(pick_rows(now, keep[first:last] - at))
        return torch.cat(contexts), join_rows(states) if states else state

    def _predicted(self, contexts: Tensor, rows: Tensor, tokens: Tensor) -> Tensor:
        """The log-probability of each token after the context in its row; both in row order."""
        decoder = self.model.decoder
        place = make_room(min(ROWS, len(contexts)), decoder)
        found = []
        for at in range(0, len(contexts), ROWS):
            first, last = torch.searchsorted(rows, torch.tensor([at, at + ROWS], device=rows.device)).tolist()
            some = contexts[at : at + ROWS].float()
            found.append(score_tokens(decoder, some, rows[first:last] - at, tokens[first:last], place))
        return torch.cat(found)


def _device(model: LanguageModel) -> torch.device:
    return model.embedding.weight.device
