"""What an evaluation asks, and whom: its sets, read before any weights, and its models."""

from collections.abc import Sequence

from ..data.download import downloads_for
from ..settings import EvaluationSettings
from ..settings.languages import Clitics, each_language
from ..settings.probing import all_collections
from ..settings.training_settings import ScoreFileSettings
from .contract import make_contract
from .lexicon.asked_models import choose_lexicon
from .models import (
    Model,
    checkpoint_capitals,
    checkpoint_languages,
    load_checkpoints,
    load_function,
    load_pretrained,
    load_scores,
    must_be_comparable,
    of_built_in_corpus,
)
from .probe import Probe
from .probe_preparation import make_probe


def read_probes(settings: EvaluationSettings) -> list[Probe]:
    """The sets of every language asked: those that were typed, or all that a checkpoint knows, written as its corpus was."""
    known = {} if settings.model or settings.scorer else checkpoint_languages(settings.ckpt_path or ())
    asked = [each.code for each in each_language(settings.lang)] if settings.lang else list(known)
    elsewhere: Clitics = "joined" if settings.model else next(iter(known.values()), "split")
    built_in = bool(known) and of_built_in_corpus(settings.ckpt_path or ())
    capitals = checkpoint_capitals(settings.ckpt_path or (), asked, settings.probes) if known else {}
    chosen, words = choose_lexicon(settings.probes, (settings.ckpt_path or ()) if known else ())
    sets, downloads = all_collections(chosen), downloads_for(settings.paths)
    return [
        make_probe(each, code, known.get(code, elsewhere), built_in, downloads, words, capitals.get(code, False))
        for code in asked
        for each in sets
    ]


def load_models(settings: EvaluationSettings, probes: Sequence[Probe]) -> list[Model]:
    contract = make_contract(settings.probes.protocol, settings.probes.given_rules)
    if settings.model and settings.lang:
        language = each_language(settings.lang)[0]
        if isinstance(settings.model, ScoreFileSettings):
            return [load_scores(settings.model, language, probes)]
        return load_pretrained(settings.model, contract, settings.probes.scoring, language)
    if settings.scorer and settings.lang:
        return [load_function(settings.scorer, settings.allow, each_language(settings.lang)[0])]
    models = load_checkpoints(settings.ckpt_path or (), settings.device, contract.rules.start == "warm", settings.allow)
    must_be_comparable(models, language_given=settings.lang is not None)
    return models
