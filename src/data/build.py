"""From the sentences of a source to token ids on disk. The text is read once.

Memory does not grow with the text, but for a few bytes a sentence.
"""

import hashlib
import json
import mmap
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ..errors import UserError
from ..terminal import console
from .blocks import Block
from .ragged import gathered, sums
from .raw import Raw
from .selection import EVERYTHING, Selection
from .sources import Source
from .splits import SPLITS
from .tokenizer import Tokenizer, TokenizerRule

# Part of every corpus's name: raise it when what is written changes.
FORMAT = 2
NOWHERE = 255
GATHERED = 1 << 14  # sentences that are put into their place at a time


class CorpusError(UserError):
    """A corpus that cannot be used: where it is, what is wrong, what to do."""


def build(source: Source, rule: TokenizerRule, selection: Selection, work: Path, workers: int | None) -> None:
    """Read, choose, count, encode, put in order."""
    raw = Raw(work, _shown(source.blocks(workers)))
    kept = _kept(raw, selection)
    orders = _chosen(raw, selection, kept)
    counts = raw.counts(_members(len(raw), *(orders[name] for name in rule.counted_in)), "counted")
    tokenizer = rule.made(counts)
    read = {"documents": raw.documents, "sentences": len(raw), "words": raw.tokens}
    read[f"types in {' and '.join(rule.counted_in)}"] = counts.types()
    counts.remove()
    offsets, unknown = _encode(raw, _places(len(raw), orders), tokenizer, work)
    raw.remove()
    languages = raw.languages()
    for name, order in orders.items():
        _write(name, order, offsets, _type(tokenizer), work)
        if len(languages) > 1:
            np.save(work / f"{name}.languages.npy", raw.language_of_each()[order])
    (work / "encoded.raw").unlink()
    about = {
        "source": source.key(),
        "read": {name: count for name, count in read.items() if count},
        "report": dict(raw.left_out) | _left_out(selection, kept, orders),
        "unknown": unknown,
        "words": {name: int(raw.lengths[order].sum()) for name, order in orders.items()},
        "languages": languages if len(languages) > 1 else [],
    }
    _finish(about, tokenizer, work)


def _shown(blocks: Iterator[Block]) -> Iterator[Block]:
    """How far it has got, in a terminal."""
    if not console.is_terminal:
        yield from blocks
        return
    columns = (
        SpinnerColumn(),
        TextColumn("reading the corpus, once for all runs: {task.completed:,.0f} words"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=None)
        for block in blocks:
            yield block
            progress.advance(task, len(block.ids))


def encoded(source: Source, tokenizer: Tokenizer, split: str, selection: Selection = EVERYTHING) -> tuple[np.ndarray, np.ndarray]:
    """Ids and offsets of one split of a source, by a tokenizer that was made elsewhere."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        raw = Raw(work, source.blocks())
        order = _chosen(raw, selection, _kept(raw, selection))[split]
        offsets, _ = _encode(raw, _places(len(raw), {split: order}), tokenizer, work)
        lengths = np.diff(offsets)[order]
        flat = np.fromfile(work / "encoded.raw", dtype=_type(tokenizer))
        return gathered(flat, offsets[order], lengths), np.concatenate([[0], np.cumsum(lengths)])


def _kept(raw: Raw, selection: Selection) -> np.ndarray:
    if selection.unknown is None:
        return np.ones(len(raw), dtype=bool)
    return raw.known_enough(selection.unknown, selection.frequent)


def _chosen(raw: Raw, selection: Selection, kept: np.ndarray) -> dict[str, np.ndarray]:
    """The sentences of each split, by their numbers."""
    orders = selection.orders(raw.lengths, raw.splits, raw.language_of_each(), kept)
    for split, order in orders.items():
        if not len(order):
            raise CorpusError(
                f"the {split} part of the corpus has no sentence; a text to be split needs at least ten, "
                "data.train, data.valid and data.test must not be empty, and data.max_tokens not too small"
            )
    return orders


def _members(size: int, *orders: np.ndarray) -> np.ndarray:
    chosen = np.zeros(size, dtype=bool)
    for order in orders:
        chosen[order] = True
    return chosen


def _places(size: int, orders: dict[str, np.ndarray]) -> np.ndarray:
    """The split of every sentence, by number; NOWHERE for those that were not chosen."""
    places = np.full(size, NOWHERE, dtype=np.uint8)
    for name, order in orders.items():
        places[order] = SPLITS.index(name)
    return places


def _left_out(selection: Selection, kept: np.ndarray, orders: dict[str, np.ndarray]) -> dict[str, int]:
    """What the selection left out, by reason."""
    report = {}
    if selection.unknown is not None:
        report[f"sentences with more than {selection.unknown:.0%} unknown words"] = int((~kept).sum())
    if selection.sizes or selection.max_tokens:
        report["sentences beyond the size asked for"] = int(kept.sum()) - sum(len(order) for order in orders.values())
    return report


def _type(tokenizer: Tokenizer) -> type[np.unsignedinteger]:
    return np.uint16 if len(tokenizer) <= 1 << 16 else np.uint32


def _encode(raw: Raw, places: np.ndarray, tokenizer: Tokenizer, work: Path) -> tuple[np.ndarray, dict[str, int]]:
    """The chosen sentences in the order of reading, each closed by <eos>, to disk; where each lies, and unknown words."""
    offsets = np.zeros(len(raw) + 1, dtype=np.int64)  # first the lengths in tokens, with <eos>
    unknown = np.zeros(len(SPLITS), dtype=np.int64)
    with (work / "encoded.raw").open("wb") as stream:
        for block, words, ids in raw:
            here = places[block.sentences]
            chosen, lengths = here != NOWHERE, raw.lengths[block.sentences]
            tokens, sizes = _spelled(ids[np.repeat(chosen, lengths)], words, tokenizer)
            whole = sums(sizes, lengths[chosen])
            stream.write(_closed(tokens, whole, tokenizer.eos).tobytes())
            offsets[np.flatnonzero(chosen) + block.sentences.start + 1] = whole + 1
            missing = sums((tokens == tokenizer.unk).astype(np.int64), whole)
            unknown += np.bincount(here[chosen], missing, len(SPLITS)).astype(np.int64)
    np.cumsum(offsets, out=offsets)
    return offsets, dict(zip(SPLITS, unknown.tolist(), strict=True))


def _closed(tokens: np.ndarray, lengths: np.ndarray, eos: int) -> np.ndarray:
    """Every sentence with <eos> behind it."""
    closed = np.full(len(tokens) + len(lengths), eos, dtype=tokens.dtype)
    within = np.ones(len(closed), dtype=bool)
    within[np.cumsum(lengths + 1) - 1] = False
    closed[within] = tokens
    return closed


def _spelled(ids: np.ndarray, words: list[str], tokenizer: Tokenizer) -> tuple[np.ndarray, np.ndarray]:
    """The tokens of a block's words one after the other, and how many each word has."""
    table = [tokenizer.encode_word(word) for word in words] if len(ids) else [[tokenizer.unk]]
    sizes = np.array([len(tokens) for tokens in table], dtype=np.int64)
    flat = np.array([token for tokens in table for token in tokens], dtype=_type(tokenizer))
    if (sizes == 1).all():
        return flat[ids], sizes[ids]
    return gathered(flat, (np.cumsum(sizes) - sizes)[ids], sizes[ids]), sizes[ids]


def _write(split: str, order: np.ndarray, offsets: np.ndarray, dtype: type[np.unsignedinteger], work: Path) -> None:
    """The sentences of a split in their order."""
    sizes = (np.diff(offsets)[order]).astype(np.uint32)
    np.save(work / f"{split}.offsets.npy", np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]))
    encoded = np.memmap(work / "encoded.raw", dtype=dtype, mode="r")
    with (work / f"{split}.ids.npy").open("wb") as stream:
        head = {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": (int(sizes.sum()),)}
        np.lib.format.write_array_header_1_0(stream, head)
        for start in range(0, len(order), GATHERED):
            part = order[start : start + GATHERED]
            stream.write(gathered(encoded, offsets[part], sizes[start : start + GATHERED].astype(np.int64)).tobytes())
            encoded._mmap.madvise(mmap.MADV_DONTNEED)  # type: ignore[attr-defined] # what was read need not stay in memory


def _finish(about: dict[str, Any], tokenizer: Tokenizer, work: Path) -> None:
    (work / "vocabulary.txt").write_text("\n".join(tokenizer.words) + "\n", encoding="utf-8")
    if "tokenizer" in tokenizer.plain():
        (work / "tokenizer.json").write_text(json.dumps(tokenizer.plain()["tokenizer"]), encoding="utf-8")
    digests = {file.name: digest(file) for file in sorted(work.iterdir())}
    complete = {"format": FORMAT} | about | {"files": digests}
    (work / "about.json").write_text(json.dumps(complete, ensure_ascii=False, indent=1), encoding="utf-8")


def digest(file: Path) -> str:
    """A checksum of a file."""
    with file.open("rb") as stream:
        new: Callable[[], Any] = lambda: hashlib.blake2b(digest_size=16)  # noqa: E731
        return hashlib.file_digest(stream, new).hexdigest()
