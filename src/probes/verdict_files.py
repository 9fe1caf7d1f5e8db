"""Every verdict on disk, in Parquet: one row per contrast; during training its scores, at the end all words of its sentences."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from ..files import replace_atomically
from .contrast_chance import PAIR_CHANCE
from .contrast_notation import spell_clause, spell_term
from .contrast_table import Contrasts
from .feature_columns import feature_columns
from .probe import Probe
from .scorers import WordScores
from .verdicts import Verdicts

# Raise it when the meaning of a score, verdict or column changes.
VERSION = 1
SAMPLE = "sample"  # suffix of a sample's items file
RULE = "rule_"  # columns of surface rules' preferences
# Checksums in the file: of its metadata, and of its columns' names and types. Pages have their own.
STATED, SCHEMA = b"concord_checksum", b"concord_columns"


def save_verdicts(file: Path, probe: Probe, verdicts: Verdicts, about: Mapping[str, object]) -> None:
    """One row per contrast: the item, both scores in nats, the verdict."""
    write_table(file, pa.table(_identity(probe) | _judgement(probe, verdicts)), {**about, **_predictions(probe)})


def save_items(
    file: Path,
    probe: Probe,
    verdicts: Verdicts,
    scores: WordScores,
    about: Mapping[str, object],
    extra: Mapping[str, object] | None = None,
) -> None:
    """The same with the features, and with every word of both sentences and its log-probability."""
    told = {"_logprobs": pa.array(scores.logprobs), "_unknown": pa.array(scores.unknown)}
    words = _sentences(probe, scores.firsts, told)
    columns = _identity(probe) | _judgement(probe, verdicts) | _features(probe) | words | dict(extra or {})
    write_table(file, pa.table(columns), {**about, **_predictions(probe)})


def save_sample(file: Path, probe: Probe, rules: Mapping[str, Verdicts], about: Mapping[str, object]) -> None:
    """What a sample's verdict files do not repeat: features, sentences, and each surface rule's preferences.

    A column `rule_<name>` is true if the rule prefers the good form, null if it has no preference.
    """
    lengths = [len(sentence.words.split()) for sentence in probe.sentences]
    columns = _identity(probe) | _features(probe) | _sentences(probe, np.cumsum([0, *lengths]), {})
    for name, each in rules.items():
        columns[RULE + name.replace(" ", "_")] = pa.array(each.verdict == 1, mask=~each.covered | each.tie)
    write_table(file, pa.table(columns), about)


def _predictions(probe: Probe) -> dict[str, object]:
    """What `clause_margins` and `term_values` of suites stand for, in order, by suite and contrast."""
    found: dict[str, dict[str, object]] = {}
    for made in probe.sets:
        for contrast in made.contrasts if made.is_suite else ():
            found.setdefault(made.construction, {})[contrast.name] = {
                "formula": contrast.formula,
                "clauses": [spell_clause(clause) for group in contrast.groups for clause in group],
                "terms": [spell_term(term) for term in contrast.terms()],
            }
    return {"predictions": found} if found else {}


def _identity(probe: Probe) -> dict[str, object]:
    contrasts = probe.contrasts
    uids = [[made.uid(i) for i in range(len(made))] for made in probe.sets]
    places = zip(contrasts.set.tolist(), contrasts.item.tolist(), strict=True)
    constructions = pa.DictionaryArray.from_arrays(pa.array(contrasts.set.astype(np.int32)), pa.array(probe.constructions))
    return {
        "uid": [uids[number][item] for number, item in places],
        "construction": constructions,
        "contrast": pa.array(contrasts.names).dictionary_encode(),
    }


def _judgement(probe: Probe, verdicts: Verdicts) -> dict[str, object]:
    """Both scores of pairs; if there are other contrasts, also margin, clauses and chance for all."""
    contrasts, clauses = probe.contrasts, verdicts.clauses
    if clauses is None:
        raise ValueError("verdicts of a rule without a model have no scores to save")
    pairs = contrasts.pairs
    found: dict[str, object] = {
        "good_score": _spread(clauses.left[pairs.clauses], pairs.rows, len(contrasts)),
        "bad_score": _spread(clauses.right[pairs.clauses], pairs.rows, len(contrasts)),
        "verdict": verdicts.verdict.astype(np.float32),
    }
    found |= {"tie": verdicts.tie, "covered": verdicts.covered, "unknown_context": verdicts.unknown_context}
    if not contrasts.is_pair.all():
        firsts = np.searchsorted(contrasts.clauses.contrast, np.arange(len(contrasts) + 1)).astype(np.int32)
        found |= {"margin": verdicts.margin, "clause_margins": pa.ListArray.from_arrays(firsts, clauses.margin)}
        places = np.searchsorted(contrasts.terms.clause, firsts).astype(np.int32)
        found["term_values"] = pa.ListArray.from_arrays(places, clauses.terms)
    if np.any(contrasts.chance != PAIR_CHANCE):
        found["chance"] = contrasts.chance
    return found


def _spread(values: NDArray[np.float64], rows: NDArray[np.int64], length: int) -> pa.Array:
    """The values in these rows, null elsewhere."""
    if len(rows) == length:
        return pa.array(values)
    spread, there = np.zeros(length), np.zeros(length, bool)
    spread[rows], there[rows] = values, True
    return pa.array(spread, mask=~there)


def _features(probe: Probe) -> dict[str, object]:
    contrasts = probe.contrasts
    columns: dict[str, object] = {
        "language": [probe.language] * len(contrasts),
        "set": [probe.name] * len(contrasts),
        "dev": contrasts.dev,
    }
    places = zip(contrasts.set.tolist(), contrasts.item.tolist(), strict=True)
    return columns | feature_columns(probe.sets, places)


def _sentences(probe: Probe, firsts: NDArray[np.int64], told: Mapping[str, pa.Array]) -> dict[str, object]:
    """The good and the bad sentence of pairs; for other contrasts every sentence they compare, one after another.

    `told`: what is known about each word, by column suffix; `firsts`: the positions of sentences' first words.
    """
    contrasts, pairs, shown = probe.contrasts, probe.contrasts.pairs, {"": _words(probe), **told}
    columns: dict[str, object] = {}
    for side, name in enumerate(("good", "bad")):
        for suffix, values in shown.items():
            columns[name + suffix] = _lists(values, firsts, pairs.sentences[:, side], pairs.rows, len(contrasts))
        varied = pa.FixedSizeListArray.from_arrays(pa.array(pairs.varied[:, side].flatten()), 2)
        columns[f"{name}_target"] = varied if len(pairs.rows) == len(contrasts) else varied.take(_places(pairs.rows, contrasts))
    if len(pairs.rows) < len(contrasts):
        columns |= _compared_sentences(probe, firsts, shown)
    return columns


def _words(probe: Probe) -> pa.DictionaryArray:
    """The words of all sentences, one after another; each distinct one is kept once, from the start: there may be millions."""
    numbers: dict[str, int] = {}
    words = (word for sentence in probe.sentences for word in sentence.words.split())
    numbered = np.fromiter((numbers.setdefault(word, len(numbers)) for word in words), np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(numbered), pa.array(list(numbers), pa.string()))


def _lists(
    values: pa.Array, firsts: NDArray[np.int64], sentences: NDArray[np.int64], rows: NDArray[np.int64], length: int
) -> pa.Array:
    """The words of a sentence in each of these rows, null elsewhere."""
    offsets, places = _ranges(firsts[sentences], firsts[sentences + 1])
    found = pa.ListArray.from_arrays(offsets, values.take(pa.array(places)))
    if len(rows) == length:
        return found
    order = np.full(length, -1)
    order[rows] = np.arange(len(rows))
    return found.take(pa.array(order, mask=order < 0))


def _places(rows: NDArray[np.int64], contrasts: Contrasts) -> pa.Array:
    order = np.full(len(contrasts), -1)
    order[rows] = np.arange(len(rows))
    return pa.array(order, mask=order < 0)


def _compared_sentences(probe: Probe, firsts: NDArray[np.int64], shown: Mapping[str, pa.Array]) -> dict[str, object]:
    """For contrasts that are not pairs: their sentences, and what is known about every word."""
    tested = probe.contrasts.tested
    kept = ~probe.contrasts.is_pair[tested.contrast] & ~tested.again
    sentences, owner = tested.sentence[kept].astype(np.int64), tested.contrast[kept]
    inner, places = _ranges(firsts[sentences], firsts[sentences + 1])
    outer = pa.array(np.searchsorted(owner, np.arange(len(probe.contrasts) + 1)).astype(np.int32))
    return {
        f"compared{suffix}": pa.ListArray.from_arrays(outer, pa.ListArray.from_arrays(inner, values.take(pa.array(places))))
        for suffix, values in shown.items()
    }


def _ranges(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> tuple[pa.Array, NDArray[np.int64]]:
    lengths = ends - starts
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return pa.array(offsets.astype(np.int32)), np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)


@dataclass(frozen=True)
class SavedVerdicts:
    """What a verdict file says about every contrast, whichever version of the program wrote it."""

    uid: list[str]
    construction: list[str]
    contrast: list[str]
    verdict: NDArray[np.float64]
    tie: NDArray[np.bool_]
    covered: NDArray[np.bool_]
    unknown_context: NDArray[np.bool_]
    good: NDArray[np.float64]  # scores of pairs in nats, NaN elsewhere
    bad: NDArray[np.float64]
    margin: NDArray[np.float64]
    chance: NDArray[np.float64]
    about: Mapping[str, object]


def read_verdicts(file: Path) -> SavedVerdicts:
    """Older files have only pairs, and so neither margin nor chance."""
    schema = parquet.read_schema(file)
    about: dict[str, object] = json.loads(schema.metadata[b"concord"])
    names = ["uid", "construction", "contrast", "verdict", "tie", "covered", "unknown_context", "good_score", "bad_score"]
    table = parquet.read_table(file, columns=[name for name in (*names, "margin", "chance") if name in schema.names])
    good, bad = (table[name].to_numpy().astype(np.float64) for name in ("good_score", "bad_score"))
    return SavedVerdicts(
        uid=table["uid"].to_pylist(),
        construction=[str(name) for name in table["construction"].to_pylist()],
        contrast=[str(name) for name in table["contrast"].to_pylist()],
        verdict=table["verdict"].to_numpy().astype(np.float64),
        tie=table["tie"].to_numpy(),
        covered=table["covered"].to_numpy(),
        unknown_context=table["unknown_context"].to_numpy(),
        good=good,
        bad=bad,
        margin=table["margin"].to_numpy() if "margin" in schema.names else good - bad,
        chance=table["chance"].to_numpy() if "chance" in schema.names else np.full(len(good), PAIR_CHANCE),
        about=about,
    )


def write_table(file: Path, columns: pa.Table, about: Mapping[str, object]) -> None:
    """All or nothing; where the numbers come from is written into the file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    stated = json.dumps({"version": VERSION, **about}, ensure_ascii=False, default=str)
    known = {"concord": stated, STATED: _checksum(stated.encode()), SCHEMA: _checksum(_described(columns.schema))}
    with replace_atomically(file) as new:
        parquet.write_table(columns.replace_schema_metadata(known), new, compression="zstd", write_page_checksum=True)


def read_checked(file: Path) -> pa.Table:
    """The table, if every part of a verdict file is intact: its pages, its columns, and its metadata.

    Older files have no checksums; whatever can be read is accepted.
    """
    try:
        # In one thread: files are small, and there are thousands.
        table = parquet.read_table(file, page_checksum_verification=True, use_threads=False, pre_buffer=False)
    except MemoryError:  # a damaged length
        raise ValueError("it is damaged: a part is larger than memory") from None
    known = table.schema.metadata or {}
    if b"concord" not in known:
        raise ValueError("not a verdict file")
    for name, text in ((STATED, known[b"concord"]), (SCHEMA, _described(table.schema))):
        if known.get(name, _checksum(text)) != _checksum(text):
            raise ValueError("it is damaged: its checksum does not match")
    return table


def _described(schema: pa.Schema) -> bytes:
    """Parquet names list elements differently from arrow, so a schema is not read back as written."""
    return "\n".join(f"{each.name}: {each.type}" for each in schema).replace("<item: ", "<element: ").encode()


def _checksum(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=16).hexdigest().encode()
