"""The recipe, corpus, model and probes of a run, each checked before the run's folder is touched."""

import logging
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from pytorch_lightning import Callback

from ..data.corpus import Corpus
from ..lm.checkpoints import check_resumable, read_checkpoint
from ..lm.loss import rows_at_once
from ..lm.model import initialise_model
from ..lm.warm_start import take_weights
from ..machine import give_memory_back
from ..own_code import make_each
from ..probes.callback import ProbeCallback, ProbeSchedule
from ..probes.lexicon.known_words import write_words
from ..probes.probe import Probe
from ..probes.probe_preparation import monitorable_metrics, plan_probes, read_run_probes, scorer_maker
from ..probes.probe_series import ProbeScreen
from ..settings.corpus_settings import BUILT_IN
from ..settings.probing import all_collections
from ..settings.run import RunSettings, read_run_settings
from .checkpointing import rows_known_to
from .continuing import corpus_recipe, must_match
from .fit import RECIPE, PreparedRun, Recipe, architecture, read_recipe
from .loggers import check_loggers
from .metrics_file import must_hold
from .progress_report import LearningCheck
from .run_display import show_corpus, show_recipe, show_sample, show_settings, show_sizes, show_words_file
from .run_folder import CONTENT, RunFolder
from .stopping import is_first
from .training_memory import device_type, estimate_memory, largest_batch, must_fit

log = logging.getLogger(__name__)
FEWEST = 2  # words in a vocabulary not yet known: <eos> and <unk>


def prepare_run(settings: RunSettings, folder: RunFolder, resume: Path | None) -> PreparedRun:
    """Errors are found in order of what they cost to find; sizes are shown."""
    check_loggers(settings.logger, settings.allow)
    recipe = read_recipe(settings)
    corpus_recipe(settings).check(settings.paths.corpora)  # before the sets, which take seconds
    probes = read_run_probes(settings)
    own = make_each("callbacks", settings.callbacks.rest, Callback, settings.allow)
    every_epoch = settings.probes.schedule.every_epochs == 1
    recipe.check(monitorable_metrics(probes) if every_epoch else ())
    recipe.check_trainer()
    saved = read_checkpoint(resume) if resume else None
    if resume and saved:
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
        show_sample(corpus, settings.data.max_tokens)
    recipe = read_recipe(settings, corpus.train.words).as_begun(saved and saved["concord"].get(RECIPE))
    check_memory(settings, recipe, len(corpus.vocabulary), int(corpus.train.lengths().max(initial=1)))
    model = initialise_model(architecture(settings.model, len(corpus.vocabulary)), settings.seed, settings.allow)
    if recipe.model.bias == "frequency":
        model.expect_frequencies(torch.from_numpy(np.bincount(corpus.train.ids, minlength=len(corpus.vocabulary))))
    if resume:
        check_resumable(resume, model, corpus.vocabulary)
    elif settings.init_from:
        log.info("%s", take_weights(model, corpus.vocabulary, Path(settings.init_from), settings.allow))
    show_sizes(corpus, model, settings.tokenizer.vocabulary_size)
    show_recipe(recipe)
    if any(each.fits_vocabulary for each in all_collections(settings.probes)) or any(corpus.capitals().values()):
        probes = []  # the first ones may go before there are others
        probes = read_run_probes(settings, corpus)
    checks = [] if settings.data.name == BUILT_IN else [LearningCheck(corpus, recipe.model.bias)]
    callbacks = make_callbacks(settings, probes, corpus, folder)
    give_memory_back()
    return PreparedRun(recipe, corpus, model, callbacks, [*own, *checks])


def check_memory(settings: RunSettings, recipe: Recipe, words: int, longest: int) -> None:
    """Check that training a model with this many words fits into free memory, unless the user wants to try."""
    if settings.force:
        return
    batch, trainer = largest_batch(recipe.shape, longest), settings.trainer
    rows = rows_at_once(device_type(trainer.accelerator), "mixed" in str(trainer.precision))
    need = estimate_memory(architecture(settings.model, words), settings.model.optimizer, batch, settings.allow, rows)
    must_fit(need, trainer.accelerator, settings.processes // trainer.num_nodes, batch)


def prepare_corpus(settings: RunSettings) -> Corpus:
    """The corpus as numbers, prepared now unless an earlier run did."""
    return corpus_recipe(settings).prepare(settings.paths.corpora)


def prepare_alone(settings: RunSettings, folder: RunFolder) -> None:
    """Without training: a corpus for later runs, or everything that would be trained, and its size."""
    if not settings.prepare:
        prepare_run(settings, folder, None)
        return
    corpus = prepare_corpus(settings)
    show_corpus(corpus, settings.tokenizer.vocabulary_size)
    show_words_file(write_words(corpus.folder.with_suffix(".words.tsv"), corpus))


def enter_folder(settings: RunSettings, folder: RunFolder, prepared: PreparedRun) -> str:
    """The run's folder, cleared if requested, with what is settled so far; returns the run's W&B id."""
    if settings.overwrite:
        folder.clear()
    corpus = prepared.corpus
    known = corpus.summary() | {"vocabulary_digest": corpus.vocabulary.digest(), CONTENT: corpus.content()}
    return str(folder.enter(settings.yaml(), known, torch.get_num_threads(), prepared.recipe.settled())["wandb_id"])


def make_callbacks(settings: RunSettings, probes: list[Probe], corpus: Corpus, folder: RunFolder) -> list[ProbeCallback]:
    """The callback that probes; before it is made, coverage is shown and reference lines are computed."""
    if not probes:
        return []
    chosen = settings.probes
    plans = plan_probes(chosen, probes, corpus)
    schedule = ProbeSchedule(**asdict(chosen.schedule))
    scorer_for = scorer_maker("model", corpus.vocabulary, corpus.warm())
    return [ProbeCallback(plans, scorer_for, schedule, folder.probes, ProbeScreen(full=chosen.screen == "full"))]
