"""Which words the sets of a collection take: those that the grammars have, or those that the vocabularies of models have."""

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
    """The words that a collection takes; None where it asks for its sets as they are. `known`: what the models asked know."""
    if not settings.fits_vocabulary:
        return None
    shared = isinstance(settings.lexicon, Mapping)
    if not (path / WIDE).is_dir():
        if shared:
            raise UserError(f"probes.lexicon={settings.lexicon}: {path} has no folder {WIDE}, from which words could be taken")
        return None
    words = read_shared(settings.lexicon) if isinstance(settings.lexicon, Mapping) else known
    if words is None:
        return None
    return fit_lexicon(path / WIDE, words, FitRule(settings.least, settings.seed, capitalize), clitics, settings.constructions)


def read_shared(lexicon: Mapping[str, Sequence[str]]) -> KnownWords:
    """What all of these know: runs, checkpoints, files of words."""
    return SharedWords([read_words(Path(path)) for path in lexicon[SHARED]])


def fitted_sets(fitted: FittedLexicon, language: str, clitics: Clitics) -> dict[str, ChallengeSet]:
    """The sets of the words that were chosen, by construction; a construction that has no sentence left is not among them."""
    return {
        name: write_out(grammar, str(fitted.folder / f"{name}{SUFFIX}"), language, clitics)
        for name, grammar in fitted.grammars.items()
        if grammar is not None
    }
