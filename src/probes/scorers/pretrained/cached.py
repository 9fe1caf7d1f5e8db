"""Scores computed once, kept on disk under a name derived from everything they depend on."""

import hashlib
import logging
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ....files import replace_atomically, tell_fault
from .. import VERSION, ProbeSentence, Reading, Scorer, WordScores

log = logging.getLogger(__name__)


class Cached:
    """Another scorer with a cache. `key` identifies the model and the options, `folder` is where scores are kept."""

    def __init__(self, scorer: Scorer, key: str, folder: Path) -> None:
        self.name = scorer.name
        self.scorer, self.key, self.folder = scorer, key, folder

    @property
    def reading(self) -> Reading:
        return self.scorer.reading

    def score(self, sentences: Sequence[ProbeSentence]) -> WordScores:
        file = self.folder / f"{self._name(sentences)}.npz"
        known = _read(file)
        if known is not None:
            log.info("%s: %s sentences known from %s", self.name, f"{len(sentences):,}", file)
            return known
        scores = self.scorer.score(sentences)
        if np.isfinite(scores.logprobs).all():  # what failed once may work on another machine
            try:
                _write(file, scores)
            except OSError as error:  # a cache saves time; what was computed must not be lost for it
                log.warning(
                    "%s: the scores are not cached (%s); CONCORD_CACHE= names another folder", self.name, tell_fault(error)
                )
        return scores

    def _name(self, sentences: Sequence[ProbeSentence]) -> str:
        digest = hashlib.blake2b(f"{VERSION}\n{self.key}\n{self.name}\n".encode(), digest_size=16)
        for sentence in sentences:
            digest.update(f"{sentence.words}\t{sentence.target}\t{sentence.text}\t{sentence.item}\n".encode())
        return digest.hexdigest()


def _read(file: Path) -> WordScores | None:
    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as columns:
            pieces = columns["pieces"] if "pieces" in columns.files else None
            left_out = columns["left_out"]  # older files do not record it: computed again
            return WordScores(columns["firsts"], columns["logprobs"], columns["unknown"], pieces, left_out=left_out)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, EOFError):
        return None  # missing or damaged: computed again


def _write(file: Path, scores: WordScores) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with replace_atomically(file) as new, new.open("wb") as stream:
        pieces: dict[str, Any] = {} if scores.pieces is None else {"pieces": scores.pieces}
        pieces["left_out"] = np.zeros_like(scores.unknown) if scores.left_out is None else scores.left_out
        np.savez(stream, firsts=scores.firsts, logprobs=scores.logprobs, unknown=scores.unknown, **pieces)
