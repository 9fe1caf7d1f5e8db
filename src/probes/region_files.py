"""Suite regions on disk, in Parquet: one row per region of every condition, with its surprisal in bits."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from .challenge_set import ChallengeSet
from .contrast_table import SPREAD
from .probe import Probe
from .scorers import ProbeSentence, WordScores
from .verdict_files import write_table

COLUMNS = pa.schema(
    {
        "uid": pa.string(),
        "construction": pa.string(),  # the suite
        "item": pa.string(),  # its number in the file
        "condition": pa.string(),
        "region": pa.int32(),
        "name": pa.string(),
        "words": pa.list_(pa.string()),
        "bits": pa.float64(),  # the sum over its words
        "word_bits": pa.list_(pa.float64()),
        "pieces": pa.int32(),  # null if the scorer does not count them
        "unknown": pa.list_(pa.string()),  # words the model does not know
    }
)


def regions_beside(items: Path) -> Path:
    """`regions.parquet` goes with `items.parquet`, `regions-gpt2.parquet` with `items-gpt2.parquet`."""
    return items.with_name("regions" + items.name.removeprefix("items"))


def save_regions(file: Path, probe: Probe, scores: WordScores, about: Mapping[str, object]) -> None:
    """Sets without regions write nothing, and remove what an earlier evaluation left there."""
    rows = list(region_rows(probe, scores))
    if rows:
        write_table(file, pa.Table.from_pylist(rows, COLUMNS), about)
    else:
        file.unlink(missing_ok=True)


def read_regions(file: Path) -> list[dict[str, object]]:
    """What `save_regions` wrote, as rows."""
    rows: list[dict[str, object]] = parquet.read_table(file).to_pylist()
    return rows


def region_rows(probe: Probe, scores: WordScores) -> Iterator[dict[str, object]]:
    """Suite by suite, item by item, condition by condition, from left to right."""
    places = {sentence: number for number, sentence in enumerate(probe.sentences)}
    for number, made in enumerate(probe.sets):
        for item in range(len(made)) if made.is_suite else ():
            known = {"uid": made.uid(item), "construction": made.construction, "item": str(made.features[item].get("item", ""))}
            for variant in range(made.firsts[item], made.firsts[item + 1]):
                asked = ProbeSentence(made.sentences[variant], (0, 0), made.texts[variant] or "", number * SPREAD + item)
                if asked in places:
                    yield from (known | row for row in _condition_rows(made, variant, places[asked], scores))


def _condition_rows(made: ChallengeSet, variant: int, sentence: int, scores: WordScores) -> Iterator[dict[str, object]]:
    words = made.sentences[variant].split()
    first = int(scores.firsts[sentence])
    for name, start, end in made.spans[variant]:
        _, region, called = (*name.split(":", 2), "")[:3]
        own = slice(first + start, first + end)
        bits = scores.logprobs[own].astype(np.float64) / -math.log(2)
        pieces = None if scores.pieces is None else int(scores.pieces[own].sum())
        unknown = [word for word, flag in zip(words[start:end], scores.unknown[own], strict=True) if flag]
        yield {
            "condition": made.roles[variant],
            "region": int(region),
            "name": called,
            "words": words[start:end],
            "bits": math.fsum(bits),
            "word_bits": bits.tolist(),
            "pieces": pieces,
            "unknown": unknown,
        }
