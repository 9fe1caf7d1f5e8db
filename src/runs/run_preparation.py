"""Recipe, corpus, model and probes of a run, each checked before the run's folder is touched."""

import logging
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from pytorch_lightning import Callback

from ..data.corpus import Corpus, begins_with_capital
from ..data.download import downloads_for
from ..lm.checkpoints import check_resumable, read_checkpoint
from ..lm.model import initialise_model
from ..lm.warm_start import take_weights
from ..probes.callback import ProbeCallback
from ..probes.feature_columns import feature_columns
from ..probes.lexicon.known_words import CorpusWords, write_words
from ..probes.lexicon.word_table import show_choice
from ..probes.probe import Probe
from ..probes.probe_preparation import check_coverage, make_probe, monitorable_metrics, plan_probe, scorer_maker
from ..probes.probe_screen import ProbeScreen
from ..probes.probe_series import SampledProbe, sample_probe
from ..probes.schedule import ProbeSchedule
from ..settings.corpus_settings import BUILT_IN
from ..settings.probing import all_collections
from ..settings.run import RunSettings, read_run_settings
from .checkpointing import rows_known_to
from .continuing import corpus_recipe, must_match
from .fit import PreparedRun, Recipe, architecture, read_recipe
from .learning_check import LearningCheck
from .loggers import check_loggers
from .metrics_file import must_hold
from .own_objects import make_each
from .ranks import is_first
from .run_display import show_corpus, show_recipe, show_settings, show_sizes, show_words_file
from .run_folder import RunFolder
from .training_memory import estimate_memory, largest_batch, must_fit

log = logging.getLogger(__name__)
FEWEST = 2  # words of a vocabulary that is not known yet: <eos> and <unk>


def prepare_run(settings: RunSettings, folder: RunFolder, resume: Path | None) -> PreparedRun:
    """What can be wrong is found in the order of what it costs to find it; sizes are shown."""
    check_loggers(settings.logger, settings.allow)
    recipe = read_recipe(settings)
    probes = read_probes(settings)
    own = make_each("callbacks", settings.callbacks.rest, Callback, settings.allow)
    every_epoch = settings.probes.schedule.every_epochs == 1
    recipe.check(monitorable_metrics(probes) if every_epoch else ())
    recipe.check_trainer()
    if resume:
        saved = read_checkpoint(resume)
        must_match(read_run_settings(saved["concord"]["settings"]), settings, str(resume), growing=True)
        if resume.resolve().parent == folder.checkpoints.resolve() and is_first():
            must_hold(folder.metrics, rows_known_to(saved))
    if settings.trainer.threads:
        torch.set_num_threads(settings.trainer.threads)
    if settings.init_from:
        read_checkpoint(settings.init_from)
    check_memory(settings, recipe, FEWEST, 1)
    show_settings(settings, folder)
    corpus = prepare_corpus(settings)
    if settings.data.max_tokens:
        log.info("data.max_tokens=%s shortens the training part; valid and test stay whole", settings.data.max_tokens)
    check_memory(settings, recipe, len(corpus.vocabulary), int(corpus.train.lengths().max(initial=1)))
    recipe = read_recipe(settings, corpus.train.words)
    model = initialise_model(architecture(settings.model, len(corpus.vocabulary)), settings.seed, settings.allow)
    if recipe.model.bias == "frequency":
        model.expect_frequencies(torch.from_numpy(np.bincount(corpus.train.ids, minlength=len(corpus.vocabulary))))
    if resume:
        check_resumable(resume, model, corpus.vocabulary)
    elif settings.init_from:
        log.info("%s", take_weights(model, corpus.vocabulary, Path(settings.init_from)))
    show_sizes(corpus, model, settings.tokenizer.vocabulary_size)
    show_recipe(recipe)
    if settings.probes.fits_vocabulary or any(corpus.capitals().values()):
        probes = read_probes(settings, corpus)
    checks = [] if settings.data.name == BUILT_IN else [LearningCheck(corpus)]
    return PreparedRun(recipe, corpus, model, make_callbacks(settings, probes, corpus, folder), [*own, *checks])


def check_memory(settings: RunSettings, recipe: Recipe, words: int, longest: int) -> None:
    """Whether the training of a model with this many words fits into the memory that is free, unless the user wants to try."""
    if settings.force:
        return
    batch = largest_batch(recipe.shape, longest)
    need = estimate_memory(architecture(settings.model, words), settings.model.optimizer, batch, settings.allow)
    must_fit(need, settings.trainer.accelerator, settings.processes // settings.trainer.num_nodes, batch)


def prepare_corpus(settings: RunSettings) -> Corpus:
    """The corpus as numbers, prepared now if no run has needed it before."""
    return corpus_recipe(settings).prepare(settings.paths.corpora)


def prepare_alone(settings: RunSettings, folder: RunFolder) -> None:
    """Without training: a corpus for later runs, or all that would be trained, and how large it is."""
    if not settings.prepare:
        prepare_run(settings, folder, None)
        return
    corpus = prepare_corpus(settings)
    show_corpus(corpus, settings.tokenizer.vocabulary_size)
    show_words_file(write_words(corpus.folder.with_suffix(".words.tsv"), corpus))


def enter_folder(settings: RunSettings, folder: RunFolder, corpus: Corpus) -> str:
    """The run's folder, cleared if that was asked for, with what was settled so far; returns the run's name at W&B."""
    if settings.overwrite:
        folder.clear()
    known = corpus.summary() | {"vocabulary_digest": corpus.vocabulary.digest()}
    return str(folder.enter(settings.yaml(), known, torch.get_num_threads())["wandb_id"])


def read_probes(settings: RunSettings, corpus: Corpus | None = None) -> list[Probe]:
    """The challenge sets of each language of the run; none with probes=none. Once there is a corpus their words are chosen, and
    they begin as its sentences do.
    """
    known, capitals = (CorpusWords(corpus), corpus.capitals()) if corpus else (None, {})
    built_in, downloads = settings.data.name == BUILT_IN, downloads_for(settings.paths)
    collections = all_collections(settings.probes)
    return [
        make_probe(
            collection,
            each.code,
            settings.clitics(each),
            built_in,
            downloads,
            known,
            begins_with_capital(capitals, each.code),
        )
        for each in settings.languages
        for collection in collections
    ]


def make_callbacks(settings: RunSettings, probes: list[Probe], corpus: Corpus, folder: RunFolder) -> list[ProbeCallback]:
    """The callback that probes; before it is made, coverage is shown and reference lines are computed."""
    if not probes:
        return []
    chosen = settings.probes
    for probe in probes:
        # What could not be written after the last epoch is found before the first.
        feature_columns(probe.sets, ((number, item) for number, made in enumerate(probe.sets) for item in range(len(made))))
    sampled = [SampledProbe(sample_probe(probe, chosen.sample, chosen.seed), probe) for probe in probes]
    for each in sampled:
        if each.whole.lexicon:
            show_choice(each.whole.lexicon, f"lexicon: {each.whole.language} {each.whole.name}")
        check_coverage(each, corpus.vocabulary)
    plans = [plan_probe(each, corpus) for each in sampled]
    schedule = ProbeSchedule(**asdict(chosen.schedule))
    scorer_for = scorer_maker("model", corpus.vocabulary, corpus.warm())
    return [ProbeCallback(plans, scorer_for, schedule, folder.probes, ProbeScreen(full=chosen.screen == "full"))]
