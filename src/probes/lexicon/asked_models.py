"""What checkpoints that are asked together know, and which words their sets therefore take."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...errors import UserError
from ...files import JsonObject
from ...lm.checkpoints import read_checkpoint
from ...settings.probing import LexiconChoice, ProbeSettings
from ...settings.run import read_run_settings
from ..models import checkpoint_files
from .known_words import KnownWords, SharedWords, words_of_facts


def choose_lexicon(settings: ProbeSettings, checkpoints: Sequence[str]) -> tuple[ProbeSettings, KnownWords | None]:
    """The settings with their choice made, and what all of these checkpoints know."""
    facts = {path: read_checkpoint(checkpoint_files(Path(path))[0])["concord"] for path in checkpoints}
    choice = settings.lexicon if settings.lexicon is not None else _choice_of_runs(list(facts.values()))
    if choice == "fit" and not facts:
        raise UserError("probes.lexicon=fit: works for models that Concord has trained; for others name vocabularies, shared:[…]")
    words = [words_of_facts(path, each) for path, each in facts.items()] if choice == "fit" else []
    return replace(settings, lexicon=choice), _shared(words)


def _choice_of_runs(facts: Sequence[JsonObject]) -> LexiconChoice:
    """What all of them were asked while they learnt; `fixed` if they differ."""
    choices = [read_run_settings(each["settings"]).probes.lexicon for each in facts]
    return choices[0] if choices and all(each == choices[0] for each in choices) else "fixed"


def _shared(words: list[KnownWords]) -> KnownWords | None:
    if len(words) < 2:
        return words[0] if words else None
    return SharedWords(words)
