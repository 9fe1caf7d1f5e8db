"""Frames: what is left of a template when every phrase has been written out down to its slots for words."""

from collections.abc import Iterator
from typing import NamedTuple

from .rules import Symbol
from .unroll import Branch, Node


class FrameSlot(NamedTuple):
    """A place for words: the forms it can take, and its nonterminal (None for words written in the rule itself)."""

    symbol: Symbol | None
    forms: tuple[str, ...]


class Constituent(NamedTuple):
    """A nonterminal over the slots from `start` up to, not including, `end`."""

    symbol: Symbol
    start: int
    end: int


class Frame(NamedTuple):
    template: int
    slots: tuple[FrameSlot, ...]
    constituents: tuple[Constituent, ...]
    tags: tuple[str, ...]
    given: tuple[tuple[str, str], ...]  # features in braces, the template's first


class _End(NamedTuple):
    """Marks, among the parts still to come, where an opened constituent closes."""

    symbol: Symbol
    start: int


class _State(NamedTuple):
    pending: tuple  # linked list: (part, rest) or ()
    slots: tuple[FrameSlot, ...]
    constituents: tuple[Constituent, ...]
    tags: tuple[str, ...]
    given: tuple[tuple[str, str], ...]


def frames(root: Node) -> Iterator[Frame]:
    """All frames, template by template, alternatives in the order of the file. Memory does not grow with their number."""
    for template, branch in enumerate(root.branches):
        stack = [_State(_chain(branch.parts, ()), (), (), branch.tags, branch.given)]
        while stack:
            state = stack.pop()
            if not state.pending:
                ordered = tuple(sorted(state.constituents, key=lambda c: (c.start, -c.end)))
                yield Frame(template, state.slots, ordered, state.tags, state.given)
                continue
            # The last pushed is taken up first.
            stack.extend(reversed(list(_step(state))))


def _step(state: _State) -> Iterator[_State]:
    """The states after the leftmost pending part has been dealt with."""
    part, rest = state.pending
    if isinstance(part, _End):
        closed = Constituent(part.symbol, part.start, len(state.slots))
        yield state._replace(pending=rest, constituents=(*state.constituents, closed))
    elif isinstance(part, str):
        yield state._replace(pending=rest, slots=(*state.slots, FrameSlot(None, (part,))))
    else:
        yield from _expand(part, rest, state)


def _expand(node: Node, rest: tuple, state: _State) -> Iterator[_State]:
    """One state for all word-only alternatives of the node together, and one for each of the others."""
    words = tuple(branch.words for branch in node.branches if _wordy(branch))
    here = len(state.slots)
    for branch in node.branches:
        if not _wordy(branch):
            pending = _chain(branch.parts, (_End(node.symbol, here), rest))
            yield state._replace(pending=pending, tags=state.tags + branch.tags, given=state.given + branch.given)
        elif words:
            closed = Constituent(node.symbol, here, here + 1)
            yield state._replace(
                pending=rest,
                slots=(*state.slots, FrameSlot(node.symbol, words)),
                constituents=(*state.constituents, closed),
            )
            words = ()


def _wordy(branch: Branch) -> bool:
    return all(isinstance(part, str) for part in branch.parts)


def _chain(parts: tuple, rest: tuple) -> tuple:
    for part in reversed(parts):
        rest = (part, rest)
    return rest
