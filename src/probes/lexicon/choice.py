"""Which words a collection's sets use: those in the grammars, or those in the models' vocabularies."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...data.grammar.folder import SUFFIX, WIDE
from ...errors import UserError
from ...settings.languages import Clitics
from ...settings.probing import SHARED, ProbeSettings
from ..challenge_set import ChallengeSet
from ..readers.grammar import write_out
from .fitting import FitRule, FittedLexicon, fit_lexicon
from .known_words import KnownWords, SharedWords, read_words

log = logging.getLogger(__name__)


def fit_collection(
    settings: ProbeSettings, path: Path, known: KnownWords | None, capitalize: bool, clitics: Clitics
) -> FittedLexicon | None:
    """The words a collection uses; None if it wants its sets unchanged. `known`: what the evaluated models know."""
    if not settings.fits_vocabulary:
        return None
    shared = isinstance(settings.lexicon, Mapping)
    if not (path / WIDE).is_dir():
        if shared:
            raise UserError(f"probes.lexicon={settings.lexicon}: {path} has no folder {WIDE} to take words from")
        return None
    words = read_shared(settings.lexicon) if isinstance(settings.lexicon, Mapping) else known
    if words is None:
        return None
    return fit_lexicon(path / WIDE, words, FitRule(settings.least, settings.seed, capitalize), clitics, settings.constructions)


def read_shared(lexicon: Mapping[str, Sequence[str]]) -> KnownWords:
    """What all of these know: runs, checkpoints, word files."""
    return SharedWords([read_words(Path(path)) for path in lexicon[SHARED]])


def fitted_sets(fitted: FittedLexicon, language: str, clitics: Clitics) -> dict[str, ChallengeSet]:
    """The sets with the chosen words, by construction; a construction without any sentence left is missing."""
    return {
        name: write_out(grammar, str(fitted.folder / f"{name}{SUFFIX}"), language, clitics)
        for name, grammar in fitted.grammars.items()
        if grammar is not None
    }
