"""Text in blocks: made on all cores, in an order that does not depend on their number, and never many at once."""

import itertools
import multiprocessing
import signal
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from typing import Generic, Protocol, TypeVar

import numpy as np

from ..errors import UserError
from ..machine import cores
from .grammar.sample import without_closing

CHARACTERS = 1 << 20  # of a chunk: enough work to be worth sending, little enough to hold
SENTENCES = 20_000  # of a block that is not made of chunks
EXCLUDED = "challenge sentences"
Item = TypeVar("Item")
Result = TypeVar("Result")


class WithheldSentence(list[str]):
    """A sentence that may occur in valid and test, but not in train."""


@dataclass(frozen=True)
class Chunk:
    """A stretch of text that can be read on its own: lines of a file, from line `first` on."""

    file: str
    first: int
    lines: list[str]
    documents: int = 0


@dataclass(frozen=True)
class Block:
    """Sentences as indices into the block's own words, in order of first occurrence. `<eos>` is not among them."""

    words: list[str]
    ids: np.ndarray  # (N,)
    lengths: np.ndarray  # (S,)
    splits: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint8))  # (S,), numbers of names in SPLITS
    language: str = ""
    documents: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    withheld: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))  # (S,), which are not for training; empty: none


class Reader(Protocol):
    """How a chunk becomes sentences."""

    def read(self, chunk: Chunk, left_out: Counter[str]) -> Iterator[list[str]]:
        """Sentences of tokens; what is left out is counted by reason."""

    def ends(self, line: str) -> bool:
        """Whether text may be cut after this line."""

    def key(self) -> str:
        """Everything the sentences depend on besides the text."""


def comparison_form(sentence: str) -> str:
    """What a challenge sentence and running text have in common: no final mark, no sentence-initial capital."""
    sentence = without_closing(sentence)
    return sentence[:1].lower() + sentence[1:]


class BlockPacker:
    """Makes a block from a chunk, without the sentences that must not occur."""

    def __init__(self, reader: Reader, exclude: Collection[str]) -> None:
        self.reader = reader
        self.exclude = frozenset(map(comparison_form, exclude))

    def __call__(self, chunk: Chunk) -> Block:
        left_out: Counter[str] = Counter({EXCLUDED: 0} if self.exclude else {})
        packed = pack(self._without_excluded(self.reader.read(chunk, left_out), left_out))
        return replace(packed, documents=chunk.documents, left_out=dict(left_out))

    def _without_excluded(self, sentences: Iterator[list[str]], left_out: Counter[str]) -> Iterator[list[str]]:
        if not self.exclude:
            yield from sentences
            return
        for tokens in sentences:
            if comparison_form(" ".join(tokens)) in self.exclude:
                left_out[EXCLUDED] += 1
            else:
                yield tokens


def pack(sentences: Iterable[Sequence[str]]) -> Block:
    """Every word gets a number at its first occurrence."""
    numbers: dict[str, int] = {}
    ids, lengths, withheld = array("I"), array("I"), array("B")
    for tokens in sentences:
        ids.extend([numbers.setdefault(token, len(numbers)) for token in tokens])
        lengths.append(len(tokens))
        withheld.append(isinstance(tokens, WithheldSentence))
    marks = np.array(withheld, dtype=bool) if any(withheld) else np.zeros(0, bool)
    return Block(list(numbers), np.array(ids, dtype=np.uint32), np.array(lengths, dtype=np.uint32), withheld=marks)


def chunks(file: str, lines: Iterable[str], reader: Reader) -> Iterator[Chunk]:
    """Lines in order, cut where the reader allows it."""
    first, held, size = 1, list[str](), 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= CHARACTERS and reader.ends(line):
            yield Chunk(file, first, held)
            first, held, size = first + len(held), [], 0
    if held:
        yield Chunk(file, first, held)


def in_order(function: Callable[[Item], Result], items: Iterable[Item], workers: int | None = None) -> Iterator[Result]:
    """`map` on several processes: results come in item order, and no item is fetched long before its turn."""
    wanted = len(cores()) if workers is None else workers
    stream = iter(items)
    yield from map(function, itertools.islice(stream, 2))  # this little text is done before a process has started
    ahead = list(itertools.islice(stream, wanted))
    if wanted < 2 or not ahead:
        yield from map(function, itertools.chain(ahead, stream))
        return
    team = _Team(function, len(ahead))
    try:
        yield from team.work(itertools.chain(ahead, stream))
    finally:
        team.dismiss()


class _Team(Generic[Item, Result]):
    """Processes that receive items in turn, one at a time. Spawned: forks would inherit our locks and threads."""

    def __init__(self, function: Callable[[Item], Result], size: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.lines: list[Connection] = []
        self.members = []
        for _ in range(size):
            ours, theirs = context.Pipe()
            member = context.Process(target=_serve, args=(theirs, function), daemon=True)
            with _ctrl_c_blocked():
                member.start()
            theirs.close()  # so that each side notices when the other is gone
            self.lines.append(ours)
            self.members.append(member)

    def work(self, items: Iterable[Item]) -> Iterator[Result]:
        asked = answered = 0
        for item in items:
            line = self.lines[asked % len(self.lines)]
            if asked - answered == len(self.lines):
                yield self._answer(line)
                answered += 1
            self._send(line, item)
            asked += 1
        for turn in range(answered, asked):
            yield self._answer(self.lines[turn % len(self.lines)])

    def _send(self, line: Connection, item: Item) -> None:
        try:
            line.send(item)
        except OSError:
            raise _process_ended() from None

    def _answer(self, line: Connection) -> Result:
        try:
            result: Result | Exception = line.recv()
        except (EOFError, OSError):
            raise _process_ended() from None
        if isinstance(result, Exception):
            raise result
        return result

    def dismiss(self) -> None:
        """A closed connection ends its process."""
        for line in self.lines:
            line.close()
        for member in self.members:
            member.join()


@contextmanager
def _ctrl_c_blocked() -> Iterator[None]:
    """For a process started meanwhile: it inherits this, and would otherwise die noisily of a Ctrl-C while importing."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _process_ended() -> UserError:
    return UserError("a process preparing text has died; memory may be short: try again with data.workers=1")


def _serve(line: Connection, function: Callable[[object], object]) -> None:
    """Until nobody listens any more; Ctrl-C is for the parent process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        while True:
            item = line.recv()
            try:
                result = function(item)
            except Exception as error:  # raised again where the results are used
                result = error
            line.send(result)
    except (EOFError, OSError):
        return
