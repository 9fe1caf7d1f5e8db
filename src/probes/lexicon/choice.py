"""Which words a collection's sets use: those in the grammars, or those in the models' vocabularies."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...data.corpus import Corpus
from ...data.grammar import folder_of, languages
from ...data.grammar.folder import SUFFIX, WIDE
from ...settings.languages import Clitics
from ...settings.probing import SHARED, ProbeSettings
from ..challenge_set import ChallengeSet
from ..readers.grammar import write_out
from .fitting import FitRule, FittedLexicon, fit_lexicon, lexicon_words
from .known_words import COUNTS, WORD_COUNTS, CorpusWords, KnownWords, SharedWords, read_words, vocabulary_counts

log = logging.getLogger(__name__)


def fit_collection(
    settings: ProbeSettings, path: Path, known: KnownWords | None, capitalize: bool, clitics: Clitics
) -> FittedLexicon | None:
    """The words a collection uses; None if its sets stay unchanged. `known`: what the evaluated models know."""
    if not settings.fits_vocabulary or not (path / WIDE).is_dir():
        return None
    words = read_shared(settings.lexicon) if isinstance(settings.lexicon, Mapping) else known
    if words is None:
        return None
    return fit_lexicon(path / WIDE, words, FitRule(settings.least, settings.seed, capitalize), clitics, settings.constructions)


def read_shared(lexicon: Mapping[str, Sequence[str]]) -> KnownWords:
    """What all of these know: runs, checkpoints, word files."""
    return SharedWords([read_words(Path(path)) for path in lexicon[SHARED]])


def count_words(
    corpus: Corpus, spoken: Mapping[str, Clitics], lexicons: Sequence[FittedLexicon | None] = ()
) -> dict[str, dict[str, float] | list[int]]:
    """Word counts of the training text, for a checkpoint: sets can be fitted to its model without its corpus.

    If tokens are pieces of words, the counts of all words that our sets of these languages, or the lexicons in use, can show.
    """
    counts = vocabulary_counts(corpus)
    if counts is not None:
        return {COUNTS: counts}
    folders = [(folder_of(code) / WIDE, clitics) for code, clitics in spoken.items() if code in languages()]
    folders += [(each.folder, clitics) for each in lexicons if each for clitics in dict.fromkeys(spoken.values())]
    words = [word for folder, clitics in folders if folder.is_dir() for word in lexicon_words(folder, clitics)]
    return {WORD_COUNTS: CorpusWords(corpus).look_up(dict.fromkeys(words)) if words else {}}


def fitted_sets(fitted: FittedLexicon, language: str, clitics: Clitics) -> dict[str, ChallengeSet]:
    """The sets with the chosen words, by construction; a construction without any sentence left is missing."""
    return {
        name: write_out(grammar, str(fitted.folder / f"{name}{SUFFIX}"), language, clitics)
        for name, grammar in fitted.grammars.items()
        if grammar is not None
    }
