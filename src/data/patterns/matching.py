"""Patterns in trees: every word that matches the first node is a candidate, and its fate is the rule it fails."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from ..trees import DependencyTree, Word
from .pattern_file import ANY, CUE, TARGET, Pattern, PatternNode, Texts, WordCondition


class Match(NamedTuple):
    """Where the nodes of a pattern are in a tree."""

    tree: DependencyTree
    at: Mapping[str, int]

    def word(self, node: str) -> Word:
        return self.tree[self.at[node]]


class Matcher:
    """Searches for one pattern. What a candidate fails is named by `rules`, in the order they are applied."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.names = list(pattern.nodes)
        (anchor,) = pattern.nodes[self.names[0]]
        self.anchor_text = f"{self.names[0]} ({anchor.condition})"
        missing = [f"no {name}: {' / '.join(map(str, pattern.nodes[name]))}" for name in self.names[1:]]
        self.no_node = dict(zip(self.names[1:], missing, strict=True))
        self.no_order = [f"not in the order {' < '.join(chain)}" for chain in pattern.order]
        self.has = [f"has {node}" for node in pattern.without]
        self.unequal = [f"{name} missing or not equal on {CUE} and {TARGET}" for name in pattern.agree]
        self.rules = [*missing, *self.no_order, *self.has, *self.unequal]

    def candidates(self, tree: DependencyTree) -> Iterator[tuple[Match | None, str]]:
        """For every word that matches the first node: the match, or the rule it failed after getting furthest."""
        tree = self.annotated(tree)
        children = tree.children()
        (anchor,) = self.pattern.nodes[self.names[0]]
        for word in tree.words:
            if fits(word, anchor.condition):
                yield self._grow(tree, children, {self.names[0]: word.number})

    def matches(self, tree: DependencyTree) -> Iterator[Match]:
        return (match for match, _ in self.candidates(tree) if match is not None)

    def annotated(self, tree: DependencyTree) -> DependencyTree:
        """With the features that the pattern says are merely implicit."""
        if not self.pattern.annotate:
            return tree
        words = [self._annotated_word(word) for word in tree.words]
        return DependencyTree(tree.file, tree.line, tree.comments, words, tree.multiwords, tree.empty)

    def _annotated_word(self, word: Word) -> Word:
        for rule in self.pattern.annotate:
            if fits(word, rule.condition):
                features = dict(rule.gets) | dict(word.features)
                return word._replace(feats="|".join(f"{name}={value}" for name, value in sorted(features.items())))
        return word

    def _grow(self, tree: DependencyTree, children: list[list[int]], at: dict[str, int]) -> tuple[Match | None, str]:
        """The first way, from left to right, to find all nodes; a rule that fails later is the better reason."""
        if len(at) == len(self.names):
            failed = self._failed(tree, children, at)
            return (None, failed) if failed else (Match(tree, at), "")
        name = self.names[len(at)]
        best = self.no_node[name]
        for node in self.pattern.nodes[name]:
            found = False
            for number in linked(tree, children, node, at):
                found = True
                match, reason = self._grow(tree, children, at | {name: number})
                if match is not None:
                    return match, ""
                best = max(best, reason, key=self.rules.index)
            if found:  # the first existing alternative represents the node
                break
        return None, best

    def _failed(self, tree: DependencyTree, children: list[list[int]], at: Mapping[str, int]) -> str:
        for chain, reason in zip(self.pattern.order, self.no_order, strict=True):
            if any(at[left] >= at[right] for left, right in pairwise(chain)):
                return reason
        for node, reason in zip(self.pattern.without, self.has, strict=True):
            if any(number not in at.values() for number in linked(tree, children, node, at)):
                return reason
        for name, reason in zip(self.pattern.agree, self.unequal, strict=True):
            cue, target = (tree[at[node]].features.get(name) for node in (CUE, TARGET))
            if cue is None or cue != target:
                return reason
        return ""


def linked(tree: DependencyTree, children: list[list[int]], node: PatternNode, at: Mapping[str, int]) -> Iterator[int]:
    """The words linked to a found one as the node requires, from left to right."""
    here = at[node.other]
    numbers: Iterable[int]
    if node.link == "above":
        head = tree[here].head
        numbers = [head] if head and _is_one_of(tree[here].relation, node.relation) else []
    elif node.link == "same":
        numbers = [here] if _is_one_of(tree[here].relation, node.relation) else []
    else:
        below = children[here] if node.link == "below" else descendants(children, here)
        numbers = (number for number in below if _is_one_of(tree[number].relation, node.relation))
    return (number for number in numbers if fits(tree[number], node.condition))


def descendants(children: list[list[int]], top: int) -> list[int]:
    """All words below a word, from left to right."""
    found, stack = [], list(children[top])
    while stack:
        at = stack.pop()
        found.append(at)
        stack.extend(children[at])
    return sorted(found)


def fits(word: Word, condition: WordCondition) -> bool:
    """Whether a word meets a condition; an empty one is met by every word."""
    if not (_is_one_of(word.upos, condition.upos) and _is_one_of(word.form.lower(), condition.form)):
        return False
    if not _is_one_of(word.lemma, condition.lemma):
        return False
    if not condition.features:
        return True
    features = word.features
    return any(all(_has(features, name, values) for name, values in way) for way in condition.features)


def _has(features: Mapping[str, str], name: str, values: Texts) -> bool:
    """An empty value stands for words without the feature."""
    return _is_one_of(features.get(name, ""), values) if values != (ANY,) else name in features


def _is_one_of(text: str, wanted: Texts) -> bool:
    return not wanted or any(text == each or (each.endswith(ANY) and text.startswith(each[:-1])) for each in wanted)
