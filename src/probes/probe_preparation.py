"""From the settings of a collection, in plain values, to probes and the reference lines that put their numbers in perspective."""

import logging
from collections.abc import Sequence
from dataclasses import replace

import torch

from .. import metric_names
from ..data.corpus import Corpus
from ..data.download import Downloads
from ..data.tokenizer import Tokenizer
from ..data.vocabulary import EOS_ID
from ..errors import UserError
from ..lm.kneser_ney import KneserNey
from ..lm.model import LanguageModel
from ..lm.state import State
from ..places import cache_folder
from ..settings.languages import Clitics
from ..settings.probing import ProbeSettings
from ..terminal import show
from . import probe_display as screen
from .accuracy import MEAN, Table, tabulate
from .challenge_set import SetError
from .collection import Fitted, ItemSelection, collect, locate
from .contract import make_contract
from .groupings import NUMBER, read_groupings
from .heuristics import HEURISTICS, judge_by_rule
from .leakage import count_forms, find_leakage
from .lexicon.choice import fit_collection, fitted_sets
from .lexicon.known_words import KnownWords
from .probe import Probe, build_probe
from .probe_series import MakeScorer, ProbePlan, SampledProbe
from .scorers import WordScores
from .scorers.incremental import IncrementalScorer, plant_forest
from .scorers.ngrams import score_by_ngrams
from .scorers.scoring_mode import scoring_mode
from .verdicts import Verdicts, covered_contrasts, judge

log = logging.getLogger(__name__)
# Sentences of the corpus that a model has read before a set is scored with a warm state.
WARM = 10


def make_probe(
    settings: ProbeSettings,
    language: str,
    clitics: Clitics,
    built_in: bool | None = None,
    downloads: Downloads | None = None,
    known: KnownWords | None = None,
    capitals: bool = False,
) -> Probe:
    """The probe that the settings of `conf/probes` describe, for one language.

    `built_in`: whether the models that are asked have read the built-in corpus; None, not known, takes suites of all tiers.
    `capitals`: whether the sentences that they have read begin with a capital.
    `downloads`: where sets of others are kept and whether they may be fetched; None: the user's cache, and CONCORD_OFFLINE.
    `known`: the words of the models, for sets that are to fit them; without it, those sets are as they are.
    """
    contract = make_contract(settings.protocol, settings.given_rules, capitals, settings.seed)
    tiers = settings.tiers(built_in)
    # The sentences of the built-in corpora begin in lower case; suites begin with a capital, which such a model has never seen.
    lower = built_in is True and settings.given_rules.get("capitalize", "auto") == "auto"
    chosen = (settings.constructions, settings.limit, settings.seed, settings.split)
    selection = ItemSelection(*chosen, contract, clitics, tiers, columns=settings.columns, lower=lower)
    if settings.path is None:
        raise UserError(
            f"probes={settings.name} needs probes.path=, the folder or file of these sets; conf/probes has an example"
        )
    path = locate(settings.path, language, downloads)
    if not path.exists():
        raise SetError(
            path, None, f"there is no such folder or file of challenge sets; give probes.path=, or probes=none ({language})"
        )
    declared = settings.groupings
    groupings = (NUMBER,) if declared is None else read_groupings(declared, "probes.groupings")
    lexicon = fit_collection(settings, path, known, contract.rules.capitalize is True, clitics)
    fitted = Fitted(fitted_sets(lexicon, language, clitics), lexicon.statement()) if lexicon else None
    sets = collect(path, language, settings.format, cache_folder("sets"), selection, fitted)
    probe = replace(build_probe(settings.name, language, sets, groupings), lexicon=lexicon)
    if settings.format is None:
        log.info("probes     read as %s", ", ".join(sorted({each.form for each in sets})))
    for construction, why in probe.without.items():
        log.warning("probes     %s is left out: %s", construction, why)
    return probe


def monitorable_metrics(probes: Sequence[Probe]) -> list[str]:
    """Metrics that every validation has, so that checkpoints and early stopping can go by them."""
    names = [metric_names.probe(each.language, each.name, name) for each in probes for name in (*each.constructions, MEAN)]
    return [f"{name}/{metric}" for name in names for metric in ("accuracy", "accuracy_dev")]


def scorer_maker(name: str, vocabulary: Tokenizer, warm: Sequence[int]) -> MakeScorer:
    """What turns a model into a scorer. `warm` are tokens that it reads first where the rule `start` asks for it, each time with
    the weights it then has.
    """

    def make_scorer(model: LanguageModel, start: str) -> IncrementalScorer:
        return IncrementalScorer(name, model, vocabulary, _warmed(model, warm) if start == "warm" else None)

    return make_scorer


def _warmed(model: LanguageModel, warm: Sequence[int]) -> State:
    """The state before the `<eos>` that begins a sentence."""
    with scoring_mode(model):
        inputs = torch.tensor([[EOS_ID, *warm[:-1]]], device=model.embedding.weight.device)
        return model.read(inputs)[1]


def check_coverage(each: SampledProbe, vocabulary: Tokenizer) -> None:
    """Words not in the vocabulary are found before any work, and nothing at all to ask is an error."""
    forest = plant_forest(each.whole.sentences, vocabulary, budget=1 << 20)
    scores = WordScores(forest.firsts, forest.unknown.astype("float32"), forest.unknown)
    view, warnings = screen.coverage_view(each.whole, scores, {made.construction: len(made) for made in each.sample.sets})
    show(view)
    for warning in warnings:
        log.warning("probes     %s", warning)
    must_cover(each.whole, scores)


def must_cover(asked: Probe, scores: WordScores, model: str = "") -> None:
    """Something can be asked. `model` is one that exists already and cannot learn more words."""
    if covered_contrasts(asked, scores)[0].any():
        return
    sets = f"the sets of probes={asked.name} lang={asked.language}"
    if model:
        raise UserError(
            f"{model}: it knows the tested words of no item in {sets}; say lang= if they are in another language, take other "
            "sets (probes=, probes.path=), or probes.rules.unknown=unk to score them as <unk>"
        )
    raise UserError(
        f"the vocabulary has the tested words of no item in {sets}; is that the language of the text, and has "
        "data.withhold left the words in it? Take tokenizer=sentencepiece, which knows every word, a larger "
        "tokenizer.vocabulary_size, other sets (probes=own probes.path=…), probes.rules.unknown=unk, or probes=none"
    )


def plan_probe(sampled: SampledProbe, corpus: Corpus) -> ProbePlan:
    """With what puts numbers into perspective: reference lines, what of the sets the model reads, how frequent the forms are."""
    whole = sampled.whole
    leaks = find_leakage(whole.sets, corpus)
    log.info("leakage    %s: %s", whole.language, leaks.line())
    frequent = count_forms({form for pair in whole.forms() for form in pair}, corpus)
    counted = KneserNey(corpus.train.ids, corpus.train.offsets, len(corpus.vocabulary))
    references = {name: tabulate(whole, each) for name, each in judge_by_rules(whole, counted, corpus.vocabulary).items()}
    rules = judge_by_rules(sampled.sample, counted, corpus.vocabulary)
    return ProbePlan(sampled.sample, whole, references, frequent, leaks, rules)


def judge_by_rules(probe: Probe, counted: KneserNey, vocabulary: Tokenizer) -> dict[str, Verdicts]:
    """How far counting words, and rules that need no model, get on these items."""
    scores = score_by_ngrams(counted, vocabulary, probe.sentences)
    by_heuristic = {name: judge_by_rule(probe, rule) for name, rule in HEURISTICS.items()}
    return {name: judge(probe, each) for name, each in scores.items()} | by_heuristic


def rule_tables(whole: Probe) -> dict[str, Table]:
    """How far rules get that need neither a model nor a corpus."""
    return {name: tabulate(whole, judge_by_rule(whole, rule)) for name, rule in HEURISTICS.items()}
