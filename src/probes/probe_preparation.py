"""From the settings of a collection, in plain values, to probes and the reference lines that put their numbers in perspective."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

import torch

from .. import metric_names
from ..data.corpus import Corpus, begins_with_capital
from ..data.download import Downloads, downloads_for
from ..data.vocabulary import EOS_ID, Tokenizer
from ..errors import UserError
from ..lm.kneser_ney import KneserNey
from ..lm.model import LanguageModel
from ..lm.networks import State
from ..places import cache_folder
from ..settings.corpus_settings import BUILT_IN
from ..settings.languages import Clitics
from ..settings.probing import SHARED, ProbeSettings, all_collections
from ..settings.run import RunSettings
from ..terminal import show
from . import probe_display as screen
from .accuracy import MEAN, Table, tabulate
from .challenge_set import SetError
from .collection import Fitted, ItemSelection, collect, locate
from .contract import make_contract
from .feature_columns import feature_columns
from .groupings import NUMBER, read_groupings
from .heuristics import HEURISTICS, judge_by_rule
from .leakage import count_forms, find_leakage
from .lexicon.choice import fit_collection, fitted_sets
from .lexicon.known_words import CorpusWords, KnownWords
from .lexicon.word_table import show_choice
from .probe import Probe, build_probe
from .probe_series import MakeScorer, ProbePlan, SampledProbe, sample_probe
from .scorers import WordScores
from .scorers.incremental import IncrementalScorer, plant_forest
from .scorers.ngrams import score_by_ngrams
from .scorers.scoring_mode import scoring_mode
from .verdicts import Verdicts, covered_contrasts, judge

log = logging.getLogger(__name__)
ByRule = Mapping[str, Verdicts]
# Sentences of the corpus that a model reads before a set is scored with a warm state.
WARM = 10


def read_run_probes(settings: RunSettings, corpus: Corpus | None = None) -> list[Probe]:
    """The challenge sets of each language of the run; none with probes=none. Once there is a corpus, their words are chosen and
    they start the way its sentences do.
    """
    known, capitals = (CorpusWords(corpus), corpus.capitals()) if corpus else (None, {})
    built_in, downloads = settings.data.name == BUILT_IN, downloads_for(settings.paths)
    collections = all_collections(settings.probes)
    probes = [
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
    must_share(collections, probes)
    return probes


def must_share(collections: Sequence[ProbeSettings], probes: Sequence[Probe]) -> None:
    """Check that where words were requested that several vocabularies share, some collection of each language has words to choose
    from; others, which take over the setting, stay unchanged.
    """
    for choice in [each.lexicon for each in collections if isinstance(each.lexicon, Mapping)]:
        names = [each.name for each in collections if each.lexicon == choice]
        for language in dict.fromkeys(probe.language for probe in probes):
            if not any(probe.lexicon for probe in probes if probe.language == language and probe.name in names):
                raise UserError(
                    f"probes.lexicon=shared:[{','.join(choice[SHARED])}]: the sets of {', '.join(names)} ({language}) come "
                    "with no lexicon to choose words from; leave it out"
                )


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

    `built_in`: whether the models were trained on the built-in corpus; if unknown (None), suites of all tiers are used.
    `capitals`: whether the sentences they were trained on start with a capital.
    `downloads`: where published sets are kept and whether they may be fetched; None: the user's cache, and CONCORD_OFFLINE.
    `known`: the models' words, for sets to be fitted to them; without it, those sets stay unchanged.
    """
    contract = make_contract(settings.protocol, settings.given_rules, capitals, settings.seed)
    tiers = settings.tiers(built_in)
    # Built-in corpora start sentences in lower case; suites start with a capital, which such a model has never seen.
    lower = built_in is True and settings.given_rules.get("capitalize", "auto") == "auto"
    chosen = (settings.constructions, settings.limit, settings.seed, settings.split)
    selection = ItemSelection(*chosen, contract, clitics, tiers, columns=settings.columns, lower=lower)
    if settings.path is None:
        raise UserError(
            f"probes={settings.name} needs probes.path=, the folder or file with these sets; see conf/probes for an example"
        )
    path = locate(settings.path, language, downloads)
    if not path.exists():
        raise SetError(path, None, f"no such folder or file of challenge sets; set probes.path=, or probes=none ({language})")
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
    """Metrics that every validation has, so that checkpoints and early stopping can monitor them.

    A few items may all be in test: there is no accuracy on dev then.
    """
    found = []
    for each in probes:
        dev = [bool(each.contrasts.dev[each.contrasts.of_set(number)].any()) for number in range(len(each.sets))]
        for name, has_dev in zip((*each.constructions, MEAN), (*dev, any(dev)), strict=True):
            kinds = ("accuracy", "accuracy_dev") if has_dev else ("accuracy",)
            found += [metric_names.probe(each.language, each.name, name, kind) for kind in kinds]
    return found


def scorer_maker(name: str, vocabulary: Tokenizer, warm: Sequence[int]) -> MakeScorer:
    """What turns a model into a scorer. `warm`: tokens to read first if the rule `start` requires it, each time with the current
    weights.
    """

    def make_scorer(model: LanguageModel, start: str) -> IncrementalScorer:
        return IncrementalScorer(name, model, vocabulary, _warmed(model, warm) if start == "warm" else None)

    return make_scorer


def _warmed(model: LanguageModel, warm: Sequence[int]) -> State:
    """The state before the `<eos>` that starts a sentence."""
    with scoring_mode(model):
        inputs = torch.tensor([[EOS_ID, *warm[:-1]]], device=model.embedding.weight.device)
        return model.read(inputs)[1]


def check_coverage(each: SampledProbe, vocabulary: Tokenizer) -> None:
    """Out-of-vocabulary words are found before any work; having nothing to score is an error."""
    forest = plant_forest(each.whole.sentences, vocabulary, budget=1 << 20)
    scores = WordScores(forest.firsts, forest.unknown.astype("float32"), forest.unknown)
    view, warnings = screen.coverage_view(each.whole, scores, {made.construction: len(made) for made in each.sample.sets})
    show(view)
    for warning in warnings:
        log.warning("probes     %s", warning)
    must_cover(each.whole, scores)


def must_cover(asked: Probe, scores: WordScores, model: str = "") -> None:
    """Check that something can be scored. `model` is one that already exists and cannot learn more words."""
    if covered_contrasts(asked, scores)[0].any():
        return
    sets = f"the sets of probes={asked.name} lang={asked.language}"
    if model:
        raise UserError(
            f"{model}: it knows the tested words of no item in {sets}; set lang= if they are in another language, choose other "
            "sets (probes=, probes.path=), or set probes.rules.unknown=unk to score them as <unk>"
        )
    raise UserError(
        f"the vocabulary has the tested words of no item in {sets}; is that the language of the text, and did "
        "data.withhold leave the words in it? Use tokenizer=sentencepiece, which knows every word, a larger "
        "tokenizer.vocabulary_size, other sets (probes=own probes.path=…), probes.rules.unknown=unk, or probes=none"
    )


def plan_probes(settings: ProbeSettings, probes: Sequence[Probe], corpus: Corpus) -> list[ProbePlan]:
    """What a model trained on this corpus is probed on; words it cannot know are reported first."""
    for probe in probes:
        # What could not be written after the last epoch is found before the first.
        feature_columns(probe.sets, ((number, item) for number, made in enumerate(probe.sets) for item in range(len(made))))
    sampled = [SampledProbe(sample_probe(probe, settings.sample, settings.seed), probe) for probe in probes]
    for each in sampled:
        if each.whole.lexicon:
            show_choice(each.whole.lexicon, f"lexicon: {each.whole.language} {each.whole.name}")
        check_coverage(each, corpus.vocabulary)
    counted = KneserNey(corpus.train.ids, corpus.train.offsets, len(corpus.vocabulary))
    judged = judge_by_rules([part for each in sampled for part in (each.whole, each.sample)], counted, corpus.vocabulary)
    return [plan_probe(each, corpus, *found) for each, *found in zip(sampled, judged[::2], judged[1::2], strict=True)]


def plan_probe(sampled: SampledProbe, corpus: Corpus, whole_rules: ByRule, sample_rules: ByRule) -> ProbePlan:
    """With what puts numbers in perspective: reference lines, leakage from the training text, and form frequencies."""
    whole = sampled.whole
    leaks = find_leakage(whole.sets, corpus)
    log.info("leakage    %s: %s", whole.language, leaks.line())
    frequent = count_forms({form for pair in whole.forms() for form in pair}, corpus)
    references = {name: tabulate(whole, each) for name, each in whole_rules.items()}
    return ProbePlan(sampled.sample, whole, references, frequent, leaks, sample_rules)


def judge_by_rules(probes: Sequence[Probe], counted: KneserNey, vocabulary: Tokenizer) -> list[ByRule]:
    """How far n-gram counts, and rules that need no model, get on the items of each; n-grams are counted once for all of them."""
    scores = score_by_ngrams(counted, vocabulary, (sentence for probe in probes for sentence in probe.sentences))
    ends = [0, *accumulate(len(probe.sentences) for probe in probes)]
    return [
        {name: judge(probe, each.part(*between)) for name, each in scores.items()}
        | {name: judge_by_rule(probe, rule) for name, rule in HEURISTICS.items()}
        for probe, between in zip(probes, pairwise(ends), strict=True)
    ]


def rule_tables(whole: Probe) -> dict[str, Table]:
    """How far rules that need neither a model nor a corpus get."""
    return {name: tabulate(whole, judge_by_rule(whole, rule)) for name, rule in HEURISTICS.items()}
