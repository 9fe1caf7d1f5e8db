"""Wikipedia: articles streamed from the Hugging Face hub, or from files fetched earlier."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from ..errors import UserError
from .blocks import CHARACTERS, Block, BlockPacker, Chunk, Reader, in_order
from .selection import UNDECIDED
from .sources import NOTHING, Exclusion, file_stamp
from .text import RawText, TextError, check_files, lines

TEXT = "text"  # the column or field that holds an article
LINES = "lines that do not end a sentence (headings, lists)"
# A sentence's final mark, possibly inside quotes or brackets.
CLOSED = re.compile(r"[.!?…׃][\"'»«”“’)\]]*\s*$")
BUFFER = 1_000  # articles in the shuffle buffer while streaming; their files come in random order too


class Articles(Protocol):
    """Where articles come from."""

    def key(self) -> str: ...

    def __iter__(self) -> Iterator[str]: ...


class ArticleText:
    """Paragraphs of articles: split like raw text, without lines that do not end like a sentence."""

    def __init__(self, text: RawText) -> None:
        self.text = text

    def read(self, chunk: Chunk, left_out: Counter[str]) -> Iterator[list[str]]:
        for line in chunk.lines:
            if CLOSED.search(line):
                yield from self.text(line)
            elif line.strip():
                left_out[LINES] += 1

    def ends(self, line: str) -> bool:
        return True

    def key(self) -> str:
        return f"articles:{CLOSED.pattern}:{self.text.key()}"


@dataclass(frozen=True)
class ArticleSource:
    """Articles until this many words have been read, by default all; the selection makes the splits."""

    articles: Articles
    reader: Reader
    words: int | None = None
    exclude: Exclusion = NOTHING

    def key(self) -> str:
        return f"{self.articles.key()}:{self.reader.key()}:{self.words}:{self.exclude.key}"

    def blocks(self, workers: int | None = None) -> Iterator[Block]:
        read = 0
        for block in in_order(BlockPacker(self.reader, self.exclude.sentences()), _chunks(self.articles), workers):
            yield replace(block, splits=np.full(len(block.lengths), UNDECIDED, dtype=np.uint8))
            read += len(block.ids)
            if self.words is not None and read >= self.words:
                return
        if not read:
            raise TextError(f"{self.articles.key()}: no sentence found; the corpus is empty")


def _chunks(articles: Iterable[str]) -> Iterator[Chunk]:
    held, size, documents = list[str](), 0, 0
    for article in articles:
        held += article.splitlines()
        size += len(article)
        documents += 1
        if size >= CHARACTERS:
            yield Chunk("", 1, held, documents)
            held, size, documents = [], 0, 0
    if held:
        yield Chunk("", 1, held, documents)


@dataclass(frozen=True)
class HubArticles:
    """Streamed: what has been read is not kept. Needs the package `datasets`."""

    dataset: str  # wikimedia/wikipedia, or a folder of the same shape
    name: str  # <dump>.<language>
    seed: int
    offline: bool = False

    def key(self) -> str:
        return f"hub:{self.dataset}:{self.name}:{self.seed}"

    def __iter__(self) -> Iterator[str]:
        if self.offline and not Path(self.dataset).is_dir():
            raise UserError(
                f"{self.dataset} {self.name}: not read because the network is switched off; give files with data.path="
            )
        try:
            from datasets import load_dataset  # noqa: PLC0415 - an extra, and slow to import
        except ModuleNotFoundError:
            raise UserError("data=wikipedia needs the package datasets: pip install 'concord-lm[wikipedia]'") from None
        try:
            stream = load_dataset(self.dataset, self.name, split="train", streaming=True)
            for article in stream.shuffle(seed=self.seed, buffer_size=BUFFER):
                yield _mend_surrogates(article[TEXT])
        except Exception as error:  # the hub's libraries raise many kinds of errors
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise UserError(
                f"{self.dataset} {self.name}: cannot be read ({reason}); without a network, fetch its files elsewhere: data.path="
            ) from error


@dataclass(frozen=True)
class LocalArticles:
    """Files: Parquet, JSON lines (a field `text`), or plain text with a blank line between articles; compressed or not."""

    files: Sequence[Path]

    def key(self) -> str:
        check_files(self.files)
        return f"files:{[file_stamp(file) for file in self.files]}"

    def __iter__(self) -> Iterator[str]:
        for file in self.files:
            endings = {ending for ending in file.suffixes[-2:] if ending}
            if ".parquet" in endings:
                yield from _parquet(file)
            elif endings & {".jsonl", ".json", ".ndjson"}:
                yield from _json(file)
            else:
                yield from _plain(file)


def local_files(path: Path) -> tuple[Path, ...]:
    """All files below a folder, by name; hidden ones and those about the dataset itself (README.md) are not articles."""
    found = sorted(file for file in path.rglob("*") if file.is_file())
    return tuple(file for file in found if not file.name.startswith(".") and file.suffix != ".md")


def _parquet(file: Path) -> Iterator[str]:
    from pyarrow import ArrowException, parquet  # noqa: PLC0415 - slow to import

    try:
        for batch in parquet.ParquetFile(file).iter_batches(batch_size=256, columns=[TEXT]):
            if TEXT not in batch.schema.names:
                raise TextError(f"{file}: has no column {TEXT!r}")
            yield from (_mend_surrogates(article) for article in batch.column(TEXT).to_pylist() if article)
    except (ArrowException, OSError, ValueError, TypeError, MemoryError) as error:
        if isinstance(error, UserError):
            raise
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise TextError(f"{file}: cannot be read as Parquet ({reason}); it is damaged or truncated") from None


def _json(file: Path) -> Iterator[str]:
    for number, line in enumerate(lines(file), start=1):
        try:
            article = json.loads(line)[TEXT]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise TextError(f"{file}:{number}: every line must be a JSON object with a field {TEXT!r}") from None
        yield _mend_surrogates(str(article))


def _plain(file: Path) -> Iterator[str]:
    held: list[str] = []
    for line in lines(file):
        if line.strip():
            held.append(line)
        elif held:
            yield "\n".join(held)
            held = []
    if held:
        yield "\n".join(held)


def _mend_surrogates(text: str) -> str:
    """Half a surrogate pair, which JSON can hold, cannot be written as UTF-8."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
