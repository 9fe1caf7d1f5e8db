"""Dependency trees in CoNLL-U: every annotation is kept, one sentence at a time, and errors give file and line.

We read the format ourselves: the package `conllu` gives neither file nor line of an error and takes several times as long;
the tests compare with it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ..files import read_lines
from .text import TextError

COLUMNS = 10
# A word, a token covering several, an empty node.
NUMBER = re.compile(r"[0-9]{1,9}(-[0-9]{1,9}|\.[0-9]{1,9})?")
NOTHING = "_"
LONGEST = 10_000  # words per sentence; a file without blank lines must not fill the memory


class TreeError(TextError):
    """A treebank that cannot be used: the file, the line, what is wrong, what to do."""

    def __init__(self, file: Path | str, line: int | None, message: str) -> None:
        super().__init__(f"{file}:{line}: {message}" if line is not None else f"{file}: {message}")


class Word(NamedTuple):
    """A line of a tree, with its cells verbatim; the head is a number, or None if the file has none."""

    number: int
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int | None
    relation: str
    deps: str
    misc: str

    @property
    def features(self) -> Mapping[str, str]:
        return parse_features(self.feats)


class Multiword(NamedTuple):
    """A token written as one and analysed as the words from `first` to `last`: *du* for *de le*."""

    first: int
    last: int
    cells: tuple[str, ...]  # without the number

    @property
    def form(self) -> str:
        return self.cells[0]

    @property
    def misc(self) -> str:
        return self.cells[-1]


class WrittenToken(NamedTuple):
    """A token as written: the words it stands for, and whether a space follows."""

    form: str
    first: int
    last: int
    space_after: bool


@dataclass
class DependencyTree:
    """A sentence. Word n is `words[n - 1]`; `line` is the line of its first word in the file."""

    file: str
    line: int
    comments: list[str] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    multiwords: list[Multiword] = field(default_factory=list)
    # Empty nodes (8.1), each after the word of that number: the whole line.
    empty: list[tuple[int, str]] = field(default_factory=list)

    def __getitem__(self, number: int) -> Word:
        return self.words[number - 1]

    def __len__(self) -> int:
        return len(self.words)

    @property
    def name(self) -> str:
        """Its name in the comments, or its place."""
        return self.comment("sent_id") or f"{self.file}:{self.line}"

    def comment(self, key: str) -> str:
        """The value of `# key = value`, empty if there is none."""
        for line in self.comments:
            name, equals, value = line[1:].partition("=")
            if equals and name.strip() == key:
                return value.strip()
        return ""

    def children(self) -> list[list[int]]:
        """The numbers of the words below each word; below 0, the roots."""
        found: list[list[int]] = [[] for _ in range(len(self.words) + 1)]
        for word in self.words:
            if word.head is not None:
                found[word.head].append(word.number)
        return found

    def written(self) -> list[WrittenToken]:
        """The tokens as in the text, multiword ones merged."""
        covering = {token.first: token for token in self.multiwords}
        tokens, after = [], 0
        for word in self.words:
            if word.number <= after:
                continue
            if (token := covering.get(word.number)) is not None:
                after = token.last
                tokens.append(WrittenToken(token.form, token.first, token.last, "SpaceAfter=No" not in token.misc))
            else:
                tokens.append(WrittenToken(word.form, word.number, word.number, "SpaceAfter=No" not in word.misc))
        return tokens

    def analysed(self) -> list[WrittenToken]:
        """The syntactic words, each a token of its own."""
        return [WrittenToken(word.form, word.number, word.number, True) for word in self.words]

    def require_heads(self) -> "DependencyTree":
        """Check that it is a tree: every word has a head, and a path leads from each to the root."""
        size = len(self.words)
        safe = bytearray(size + 1)
        safe[0] = 1
        for word in self.words:
            path: list[int] = []
            at = word.number
            while not safe[at]:
                head = self[at].head
                if head is None:
                    raise TreeError(self.file, self.line, f"sentence {self.name}: word {at} has no head; is the text parsed?")
                safe[at] = 2
                path.append(at)
                at = head
                if safe[at] == 2:
                    raise TreeError(self.file, self.line, f"sentence {self.name}: word {at} is below itself; this is not a tree")
            for each in path:
                safe[each] = 1
        return self

    def lines(self) -> Iterator[str]:
        """As it was in the file, without the blank line at its end."""
        yield from self.comments
        starts = {token.first: token for token in self.multiwords}
        ghosts: dict[int, list[str]] = {}
        for after, line in self.empty:
            ghosts.setdefault(after, []).append(line)
        yield from ghosts.get(0, [])
        for word in self.words:
            if (token := starts.get(word.number)) is not None:
                yield "\t".join((f"{token.first}-{token.last}", *token.cells))
            head = NOTHING if word.head is None else str(word.head)
            yield "\t".join((str(word.number), *word[1:6], head, *word[7:]))
            yield from ghosts.get(word.number, [])


@lru_cache(maxsize=4096)
def parse_features(text: str) -> Mapping[str, str]:
    """`Gender=Fem|Number=Sing` by name."""
    if text == NOTHING:
        return {}
    pairs = (each.partition("=") for each in text.split("|"))
    return {name: value for name, _, value in pairs if name}


def read_trees(file: Path) -> Iterator[DependencyTree]:
    """The trees of a file, plain or compressed, one after the other."""
    yield from parse_trees(read_lines(file, TreeError), str(file))


def parse_trees(lines: Iterable[str], file: str, first: int = 1) -> Iterator[DependencyTree]:
    """The trees in these lines, the first being line `first` of the file. Heads may be missing."""
    tree = DependencyTree(file, first)
    for number, line in enumerate(lines, start=first):
        if line and line[0] != "#" and not line.isspace():
            if not tree.words:
                tree.line = min(tree.line, number) if tree.multiwords or tree.empty else number
            _take(tree, line, file, number)
        elif line.startswith("#"):
            tree.comments.append(line)
        elif tree.words:
            yield _complete(tree)
            tree = DependencyTree(file, number + 1)
        elif tree.multiwords or tree.empty:
            raise TreeError(file, number, "a sentence without words; is this a .conllu file?")
    if tree.words:
        yield _complete(tree)


def _take(tree: DependencyTree, line: str, file: str, place: int) -> None:
    cells = line.split("\t")
    if len(cells) != COLUMNS:
        raise TreeError(file, place, f"{len(cells)} columns, CoNLL-U has {COLUMNS}, separated by tabs; is this a .conllu file?")
    name = cells[0]
    if name.isascii() and name.isdigit() and len(name) < 10:
        _take_word(tree, cells, file, place)
    elif not NUMBER.fullmatch(name):
        raise TreeError(file, place, f"{name!r} is not a word number; is this a .conllu file?")
    elif "-" in name:
        _take_multiword(tree, cells, file, place)
    else:
        tree.empty.append((len(tree.words), line))


def _take_word(tree: DependencyTree, cells: list[str], file: str, place: int) -> None:
    number = int(cells[0])
    if number != len(tree.words) + 1:
        raise TreeError(
            file, place, f"found word {number} where word {len(tree.words) + 1} was expected; words are numbered from 1"
        )
    if number > LONGEST:
        raise TreeError(file, place, f"a sentence of more than {LONGEST:,} words; a blank line ends a sentence")
    head = cells[6]
    if head != NOTHING and not (head.isascii() and head.isdigit() and len(head) < 10):
        raise TreeError(file, place, f"the head {head!r} is not a word number; it must be a number, 0 for the root")
    _, form, lemma, upos, xpos, feats, _, relation, deps, misc = cells
    if not form.strip():
        raise TreeError(file, place, "a word without a form; write _ if it is unknown")
    tree.words.append(Word(number, form, lemma, upos, xpos, feats, None if head == NOTHING else int(head), relation, deps, misc))


def _take_multiword(tree: DependencyTree, cells: list[str], file: str, place: int) -> None:
    first, last = map(int, cells[0].split("-"))
    if first != len(tree.words) + 1 or last <= first or (tree.multiwords and tree.multiwords[-1].last >= first):
        raise TreeError(file, place, f"the token {cells[0]} covers no words that follow it; it must precede its first word")
    if not cells[1].strip():
        raise TreeError(file, place, "a token without a form; write _ if it is unknown")
    tree.multiwords.append(Multiword(first, last, tuple(cells[1:])))


def _complete(tree: DependencyTree) -> DependencyTree:
    """What can be checked only at the end of a sentence."""
    size = len(tree.words)
    for word in tree.words:
        if word.head is not None and word.head > size:
            raise TreeError(
                tree.file, tree.line, f"sentence {tree.name}: word {word.number} has the head {word.head}, of {size} words"
            )
    if tree.multiwords and tree.multiwords[-1].last > size:
        token = tree.multiwords[-1]
        raise TreeError(
            tree.file, tree.line, f"sentence {tree.name}: the token {token.first}-{token.last} covers more than its {size} words"
        )
    return tree
