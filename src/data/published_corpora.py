"""Corpora published as files: fetched once, then used as they are."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .blocks import Block
from .download import PATIENT, Patience, Record, fetch, record_of, verify
from .selection import SPLITS
from .sources import NOTHING, Exclusion, TextSource
from .text import TokenizedText, lines
from .vocabulary import EOS, UNK

log = logging.getLogger(__name__)
VOCABULARY = "vocab"


@dataclass(frozen=True)
class PublishedSource:
    """Tokenised text with `<unk>` in place, one file per split, and its word list; all addresses start with `address`."""

    address: str
    folder: Path
    offline: bool = False
    patience: Patience = PATIENT
    exclude: Exclusion = NOTHING

    def key(self) -> str:
        """The files by checksum, wherever they are; unknown ones are fetched."""
        known = {name: (record_of(self.file(name)) or self._fetch(name)).sha256 for name in (*SPLITS, VOCABULARY)}
        return f"published:{known}" + (f":{self.exclude.key}" if self.exclude.key else "")

    def blocks(self, workers: int | None = None) -> Iterator[Block]:
        for name in (*SPLITS, VOCABULARY):
            self._fetch(name)
            verify(self.file(name))
        known = {EOS, UNK, *(line.strip() for line in lines(self.file(VOCABULARY)))}
        outside: dict[str, None] = {}
        text = TextSource({split: self.file(split) for split in SPLITS}, TokenizedText(), seed=0, exclude=self.exclude)
        for block in text.blocks(workers):
            outside |= dict.fromkeys(word for word in block.words if word not in known)
            yield block
        if outside:
            log.warning(
                "%s words of the text are not in %s, for instance %s", len(outside), self.file(VOCABULARY), next(iter(outside))
            )

    def file(self, name: str) -> Path:
        """Where a file is, or will be."""
        return self.folder / f"{name}.txt"

    def _fetch(self, name: str) -> Record:
        return fetch(f"{self.address}{name}.txt", self.file(name), self.offline, self.patience)
