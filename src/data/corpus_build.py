"""From the sentences of a source to token ids on disk. The text is read once.

Memory does not grow with the text, except for a few bytes per sentence.
"""

import json
import mmap
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ..errors import UserError
from ..files import checksum
from ..terminal import console
from .block_store import BlockStore, gather, segment_sums
from .blocks import Block
from .selection import EVERYTHING, SPLITS, Selection
from .sources import Source
from .vocabulary import Tokenizer, TokenizerRule

# Part of every corpus's name: raise it when what is written changes.
FORMAT = 2
NOWHERE = 255
GATHERED = 1 << 14  # sentences put in place at a time
BEYOND = "sentences beyond the size asked for"


class CorpusError(UserError):
    """A corpus that cannot be used: where it is, what is wrong, what to do."""


def build_corpus(source: Source, rule: TokenizerRule, selection: Selection, work: Path, workers: int | None) -> None:
    """Read, select, count, encode, put in order."""
    store = BlockStore(work, _with_progress(source.blocks(workers)))
    kept = _known_enough(store, selection)
    orders = _order_splits(store, selection, kept)
    members = _membership(len(store), *(orders[name] for name in rule.counted_in))
    apart: list[str | None] = [*store.languages()] if rule.per_language else [None]
    counts = [store.counts(members, f"counted{number}", language) for number, language in enumerate(apart)]
    tokenizer = rule.learn(*counts)
    read = {"documents": store.documents, "sentences": len(store), "words": store.tokens}
    for each, language in zip(counts, apart, strict=True):
        read[f"types in {' and '.join(rule.counted_in)}" + (f" ({language})" if language else "")] = each.types()
        each.remove()
    offsets, unknown = _encode(store, _split_numbers(len(store), orders), tokenizer, work)
    store.remove()
    languages = store.languages()
    for name, order in orders.items():
        _write(name, order, offsets, _id_type(tokenizer), work)
        if len(languages) > 1:
            np.save(work / f"{name}.languages.npy", store.language_of_each()[order])
    (work / "encoded.raw").unlink()
    about: dict[str, object] = {
        "source": source.key(),
        "read": {name: count for name, count in read.items() if count},
        "report": dict(store.left_out) | _count_left_out(store, selection, kept, orders),
        "unknown": unknown,
        "words": {name: int(store.lengths[order].sum()) for name, order in orders.items()},
        "languages": languages if len(languages) > 1 else [],
    }
    _finish(about, tokenizer, work)


def _with_progress(blocks: Iterator[Block]) -> Iterator[Block]:
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


def encode_source(
    source: Source, tokenizer: Tokenizer, split: str, selection: Selection = EVERYTHING
) -> tuple[np.ndarray, np.ndarray]:
    """Ids and offsets of one split of a source, by an existing tokenizer."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        store = BlockStore(work, source.blocks())
        order = _order_splits(store, selection, _known_enough(store, selection))[split]
        offsets, _ = _encode(store, _split_numbers(len(store), {split: order}), tokenizer, work)
        lengths = np.diff(offsets)[order]
        flat = np.fromfile(work / "encoded.raw", dtype=_id_type(tokenizer))
        return gather(flat, offsets[order], lengths), np.concatenate([[0], np.cumsum(lengths)])


def _known_enough(store: BlockStore, selection: Selection) -> np.ndarray:
    if selection.unknown is None:
        return np.ones(len(store), dtype=bool)
    return store.known_enough(selection.unknown, selection.frequent)


def _order_splits(store: BlockStore, selection: Selection, kept: np.ndarray) -> dict[str, np.ndarray]:
    """Each split's sentences, by number."""
    orders = selection.orders(store.lengths, store.splits, store.language_of_each(), kept, store.withheld)
    read = "1 was" if len(store) == 1 else f"{len(store):,} were"
    for split, order in orders.items():
        if not len(order):
            raise CorpusError(
                f"the {split} part of the corpus has no sentences ({read} read in all); a text to be split needs at least ten, "
                "data.train, data.valid and data.test must not be empty, and data.max_tokens not too small"
            )
    return orders


def _membership(size: int, *orders: np.ndarray) -> np.ndarray:
    chosen = np.zeros(size, dtype=bool)
    for order in orders:
        chosen[order] = True
    return chosen


def _split_numbers(size: int, orders: dict[str, np.ndarray]) -> np.ndarray:
    """The split of every sentence, by number; NOWHERE for those not selected."""
    places = np.full(size, NOWHERE, dtype=np.uint8)
    for name, order in orders.items():
        places[order] = SPLITS.index(name)
    return places


def _count_left_out(store: BlockStore, selection: Selection, kept: np.ndarray, orders: dict[str, np.ndarray]) -> dict[str, int]:
    """What the selection left out, by reason; no sentence is counted twice."""
    report = {}
    withheld = _count_withheld(store, selection, kept)
    if selection.unknown is not None:
        report[f"sentences with more than {selection.unknown:.0%} unknown words"] = int((~kept).sum())
    if selection.sizes or selection.max_tokens:
        gone = int(kept.sum()) - sum(len(order) for order in orders.values())
        report[BEYOND] = gone - next(iter(withheld.values()), 0)
    return report | withheld


def _count_withheld(store: BlockStore, selection: Selection, kept: np.ndarray) -> dict[str, int]:
    """How many sentences and words train lacks because of their trees: as if nothing had been withheld, and now."""
    if not store.withheld.any():
        return {}
    facts = (store.lengths, store.splits, store.language_of_each(), kept)
    whole, left = (replace(selection, max_tokens=None).orders(*facts, marks)["train"] for marks in (None, store.withheld))
    gone = np.setdiff1d(whole, left)
    what = "other sentences taken out of train (control)" if selection.withhold_control else "sentences withheld from train"
    return {what: len(gone), what.replace("sentences", "words"): int(store.lengths[gone].sum())}


def _id_type(tokenizer: Tokenizer) -> type[np.unsignedinteger]:
    return np.uint16 if len(tokenizer) <= 1 << 16 else np.uint32


def _encode(store: BlockStore, places: np.ndarray, tokenizer: Tokenizer, work: Path) -> tuple[np.ndarray, dict[str, int]]:
    """The selected sentences in reading order, each closed by <eos>, to disk; where each one is, and unknown words."""
    offsets = np.zeros(len(store) + 1, dtype=np.int64)  # first the lengths in tokens, with <eos>
    unknown = np.zeros(len(SPLITS), dtype=np.int64)
    with (work / "encoded.raw").open("wb") as stream:
        for block, words, ids in store:
            here = places[block.sentences]
            chosen, lengths = here != NOWHERE, store.lengths[block.sentences]
            tokens, sizes = _spell(ids[np.repeat(chosen, lengths)], words, tokenizer)
            whole = segment_sums(sizes, lengths[chosen])
            stream.write(_close_sentences(tokens, whole, tokenizer.eos).tobytes())
            offsets[np.flatnonzero(chosen) + block.sentences.start + 1] = whole + 1
            missing = segment_sums((tokens == tokenizer.unk).astype(np.int64), whole)
            unknown += np.bincount(here[chosen], missing, len(SPLITS)).astype(np.int64)
    np.cumsum(offsets, out=offsets)
    return offsets, dict(zip(SPLITS, unknown.tolist(), strict=True))


def _close_sentences(tokens: np.ndarray, lengths: np.ndarray, eos: int) -> np.ndarray:
    """Every sentence with <eos> appended."""
    closed = np.full(len(tokens) + len(lengths), eos, dtype=tokens.dtype)
    within = np.ones(len(closed), dtype=bool)
    within[np.cumsum(lengths + 1) - 1] = False
    closed[within] = tokens
    return closed


def _spell(ids: np.ndarray, words: list[str], tokenizer: Tokenizer) -> tuple[np.ndarray, np.ndarray]:
    """The tokens of a block's words one after another, and how many each word has."""
    table = [tokenizer.encode_word(word) for word in words] if len(ids) else [[tokenizer.unk]]
    sizes = np.array([len(tokens) for tokens in table], dtype=np.int64)
    flat = np.array([token for tokens in table for token in tokens], dtype=_id_type(tokenizer))
    if (sizes == 1).all():
        return flat[ids], sizes[ids]
    return gather(flat, (np.cumsum(sizes) - sizes)[ids], sizes[ids]), sizes[ids]


def _write(split: str, order: np.ndarray, offsets: np.ndarray, dtype: type[np.unsignedinteger], work: Path) -> None:
    """The sentences of a split in order."""
    sizes = (np.diff(offsets)[order]).astype(np.uint32)
    np.save(work / f"{split}.offsets.npy", np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]))
    encoded = np.memmap(work / "encoded.raw", dtype=dtype, mode="r")
    with (work / f"{split}.ids.npy").open("wb") as stream:
        head = {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": (int(sizes.sum()),)}
        np.lib.format.write_array_header_1_0(stream, head)
        for start in range(0, len(order), GATHERED):
            part = order[start : start + GATHERED]
            stream.write(gather(encoded, offsets[part], sizes[start : start + GATHERED].astype(np.int64)).tobytes())
            encoded._mmap.madvise(mmap.MADV_DONTNEED)  # type: ignore[attr-defined] # what was read need not stay in memory


def _finish(about: dict[str, object], tokenizer: Tokenizer, work: Path) -> None:
    (work / "vocabulary.txt").write_text("\n".join(tokenizer.words) + "\n", encoding="utf-8")
    if "tokenizer" in tokenizer.plain():
        (work / "tokenizer.json").write_text(json.dumps(tokenizer.plain()["tokenizer"]), encoding="utf-8")
    digests = {file.name: checksum(file) for file in sorted(work.iterdir())}
    complete = {"format": FORMAT} | about | {"files": digests}
    (work / "about.json").write_text(json.dumps(complete, ensure_ascii=False, indent=1), encoding="utf-8")
    (work / "about.sum").write_text(checksum(work / "about.json"), encoding="utf-8")
