"""Models evaluated on the same sets, by the same code as during training: scores, verdicts and tables, whatever the disk does."""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path

from .. import metric_names
from ..data.corpora import CorpusRecipe
from ..data.corpus import encode_split
from ..data.download import downloads_for
from ..errors import UserError
from ..files import JsonObject, require_writable
from ..lm.checkpoints import read_checkpoint
from ..lm.perplexity import evaluate_split
from ..metric_names import TEST_PERPLEXITY
from ..settings.corpus_settings import BUILT_IN
from ..settings.evaluation_settings import EvaluationSettings
from ..settings.languages import Clitics, each_language
from ..settings.probing import AGREEMENT, LexiconChoice, ProbeSettings, all_collections, has_our_sets
from ..settings.run import RunSettings, read_run_settings
from ..settings.training_settings import ScoreFileSettings
from .accuracy import Answer, Table, judge_scores
from .contract import make_contract
from .contract_statement import contract_statement, join_statements, state_contract
from .coverage import form_coverage, rule_coverage
from .lexicon.known_words import KnownWords, SharedWords, words_of_facts
from .lexicon.word_table import LEXICON, save_choice, show_choice
from .models import (
    Model,
    checkpoint_capitals,
    checkpoint_files,
    checkpoint_languages,
    load_checkpoints,
    load_function,
    load_pretrained,
    load_scores,
    must_be_comparable,
    of_built_in_corpus,
)
from .prediction_files import predictions_beside, save_predictions
from .probe import Probe
from .probe_display import show_contracts, show_disagreements, show_evaluation, show_folder, show_kept, show_unknown_words
from .probe_preparation import make_probe, must_cover, must_share, rule_tables
from .region_files import regions_beside, save_regions
from .result_files import read_summary, save_summary
from .surprisal import macro_perplexity
from .verdict_files import save_items
from .verdicts import unknown_words

log = logging.getLogger(__name__)
Measures = Mapping[str, float]


def choose_lexicon(settings: ProbeSettings, checkpoints: Sequence[str]) -> tuple[ProbeSettings, KnownWords | None]:
    """The settings with the choice made, and what all of these checkpoints know."""
    facts = {path: read_checkpoint(checkpoint_files(Path(path))[0])["concord"] for path in checkpoints}
    runs = {path: read_run_settings(each["settings"]) for path, each in facts.items()}
    chosen = replace(settings, lexicon=settings.lexicon if settings.lexicon is not None else _choice_of_runs(list(runs.values())))
    if settings.lexicon is None and chosen.fits_vocabulary:
        _tell_other_choices(chosen, runs)
    fits = "fit" in [each.lexicon for each in (chosen, *all_collections(chosen))]
    if fits and not facts:
        raise UserError("probes.lexicon=fit: works only for models trained by Concord; for others name vocabularies, shared:[…]")
    words = [words_of_facts(path, each) for path, each in facts.items()] if fits else []
    return chosen, _shared(words)


def _choice_of_runs(runs: Sequence[RunSettings]) -> LexiconChoice:
    """What all of them were probed on during training; `fixed` if they differ."""
    choices = [_choice_of(each) for each in runs]
    return choices[0] if choices and all(each == choices[0] for each in choices) else "fixed"


def _choice_of(run: RunSettings) -> LexiconChoice:
    """What it was probed on; if our sets were not among that, what they would have been built from."""
    if run.probes.lexicon != "fixed" or has_our_sets(run.probes.name, run.probes.also) or run.data.name == BUILT_IN:
        return run.probes.lexicon
    return "fit"


def _tell_other_choices(settings: ProbeSettings, runs: Mapping[str, RunSettings]) -> None:
    """Words chosen with other settings make other items than those of the run."""
    for path, run in runs.items():
        if has_our_sets(run.probes.name, run.probes.also) and (run.probes.least, run.probes.seed) != (
            settings.least,
            settings.seed,
        ):
            log.warning(
                "lexicon    %s was tested on words chosen with probes.least=%d probes.seed=%d; set these for the same items",
                path,
                run.probes.least,
                run.probes.seed,
            )


def _shared(words: list[KnownWords]) -> KnownWords | None:
    if len(words) < 2:
        return words[0] if words else None
    return SharedWords(words)


def read_probes(settings: EvaluationSettings) -> list[Probe]:
    """The sets of every requested language: those given, or all that a checkpoint knows, written like its corpus."""
    known = {} if settings.model or settings.scorer else checkpoint_languages(settings.ckpt_path or ())
    asked = [each.code for each in each_language(settings.lang)] if settings.lang else list(known)
    elsewhere: Clitics = "joined" if settings.model else next(iter(known.values()), "split")
    built_in = bool(known) and of_built_in_corpus(settings.ckpt_path or ())
    capitals = checkpoint_capitals(settings.ckpt_path or (), asked, settings.probes) if known else {}
    chosen, words = choose_lexicon(settings.probes, (settings.ckpt_path or ()) if known else ())
    sets, downloads = all_collections(chosen), downloads_for(settings.paths)
    probes = [
        make_probe(each, code, known.get(code, elsewhere), built_in, downloads, words, capitals.get(code, False))
        for code in asked
        for each in sets
    ]
    if settings.probes.lexicon is not None:  # what a run was probed on need not suit these sets
        must_share(sets, probes)
    return probes


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


def ask(model: Model, probe: Probe) -> Answer:
    """Score, judge, tabulate."""
    scores = model.scorer.score(probe.sentences)
    must_cover(probe, scores, model.name)
    return judge_scores(probe, scores)


def check_starts(models: Sequence[Model], probes: Sequence[Probe]) -> None:
    """Check before any work that every model starts sentences as all probes' contracts require."""
    for probe in probes:
        start = probe.contract.rules.start
        for model in models:
            state = model.scorer.reading.state
            if start == "warm" and not state:
                raise UserError(
                    f"{model.name}: probes.rules.start=warm: only Concord models come with "
                    "sentences of their corpus to warm up on; leave it out"
                )
            actual = "warm" if state == "warm" else "zero"
            if state and actual != start:
                raise UserError(
                    f"{probe.name}: probes.rules.start={start}, but {model.name} starts its sentences with start={actual}; "
                    "evaluate collections that differ in it separately"
                )


def save_answer(file: Path, model: Model, probe: Probe, answer: Answer, measures: Measures) -> None:
    """Every verdict, and every word with its log-probability; for suites also every region."""
    about = {"contract": state_contract(probe, model.scorer), "digest": probe.digest, **model.identity(), **measures}
    save_items(file, probe, answer.verdicts, answer.scores, about)
    save_regions(regions_beside(file), probe, answer.scores, about)
    save_predictions(predictions_beside(file), probe, answer.verdicts)


def save_tables(
    folder: Path, probe: Probe, models: Sequence[Model], answers: Mapping[str, Answer], measures: Mapping[str, Measures]
) -> None:
    """Write the summary of an evaluation."""
    stated = {each.name: contract_statement(probe, each.scorer.reading) for each in models}
    contract = probe.contract.plain() | {"statement": join_statements(stated)}
    found: dict[str, dict[str, object]] = {}
    for each in models:
        said = {"statement": stated[each.name], "unknown_words": unknown_words(probe, answers[each.name].scores)}
        found[each.name] = each.identity() | said | dict(measures.get(each.name, {}))
    about = {
        "language": probe.language,
        "set": probe.name,
        "digest": probe.digest,
        "extent": probe.extent,
        "contract": contract,
        "models": found,
    }
    save_summary(folder, tables_of(probe, answers), about)


def tables_of(probe: Probe, answers: Mapping[str, Answer]) -> dict[str, Table]:
    """The tables of all models; beside a single model, rules that need none."""
    tables = {name: answer.table for name, answer in answers.items()}
    return tables | (rule_tables(probe) if len(answers) == 1 else {})


def evaluate_probe(probe: Probe, models: Sequence[Model], folder: Path, measures: Mapping[str, Measures]) -> dict[str, Answer]:
    """The tables of all models on the same items, in files and on the screen."""
    if models[0].tokenizer is not None and probe.contrasts.is_pair.any():
        from .scorers.pretrained.word_pieces import target_pieces  # noqa: PLC0415 - transformers

        count = partial(target_pieces, models[0].tokenizer)
        show_kept([rule_coverage(each, count) for each in probe.sets], form_coverage(probe.sets, count))
    require_writable(folder)
    if probe.lexicon:
        show_choice(probe.lexicon, f"lexicon: {probe.language} {probe.name}")
        save_choice(folder / LEXICON, probe.lexicon)
    unwritten: list[OSError] = []
    answers: dict[str, Answer] = {}
    for each in models:
        answer = answers[each.name] = ask(each, probe)
        try:
            save_answer(folder / items_file(models, each), each, probe, answer, measures.get(each.name, {}))
        except OSError as error:  # reported after the tables: scores are never lost to a full disk
            unwritten.append(error)
    tables = tables_of(probe, answers)
    show_evaluation(probe, {name: answer.table for name, answer in answers.items()}, tables, measures)
    show_unknown_words(
        {each.name: (unknown_words(probe, answers[each.name].scores), bool(each.scorer.reading.left_out)) for each in models}
    )
    show_contracts(probe.contract.label, {each.name: contract_statement(probe, each.scorer.reading) for each in models})
    show_disagreements({name: answer.verdicts for name, answer in answers.items()})
    if unwritten:
        raise unwritten[0]
    save_tables(folder, probe, models, answers, measures)
    show_folder(folder)
    return answers


def items_file(models: Sequence[Model], model: Model) -> str:
    return "items.parquet" if len(models) == 1 else f"items-{model.name.replace('/', '-')}.parquet"


def result_folder(settings: EvaluationSettings, models: Sequence[Model], probe: Probe, probes: Sequence[Probe]) -> Path:
    """Named after the models, the language, the items and the contract, so that no two results collide."""
    if settings.out:
        several = (len({each.language for each in probes}) > 1, len({each.name for each in probes}) > 1)
        return Path(settings.out) / "-".join(
            part for part, told in zip((probe.language, probe.name), several, strict=True) if told
        )
    names = [model.name.replace("/", "-") for model in models]
    all_of_them = sha256(" ".join(names).encode()).hexdigest()[:6]
    model = names[0] if len(names) == 1 else f"{names[0]}-and-{len(names) - 1}-more-{all_of_them}"
    label = "" if probe.contract.label == "default" else f"-{probe.contract.label}"
    items = "" if _is_whole(settings.probes, [probe]) else f"-{probe.digest[:6]}"
    folder = Path(settings.paths.results) / f"{model}-{probe.language}-{probe.name}{label}{items}"
    return folder.with_name(f"{folder.name}-{_which(models)}") if _is_of_others(folder, models) else folder


def _is_of_others(folder: Path, models: Sequence[Model]) -> bool:
    """Whether it has results of other models of the same names: of another owner, folder or revision, or trained otherwise."""
    try:
        there = read_summary(folder)[1].get("models", {})
        return any(_differs(there[each.name], each) for each in models if each.name in there)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False  # none, or damaged and so replaced


def _differs(known: JsonObject, model: Model) -> bool:
    """What a summary does not say is no difference."""
    own = _distinction(model)
    return _as_json({key: known.get(key, own[key]) for key in own}) != _as_json(own)


def _distinction(model: Model) -> dict[str, object]:
    """What tells models of one name apart. Functions and tables of scores have only their name: the newer replaces the older."""
    if not model.options and not model.training:
        return {}
    return {key: said for key, said in model.identity().items() if key in ("vocabulary", "options", "settings")}


def _which(models: Sequence[Model]) -> str:
    return sha256(_as_json([_distinction(each) for each in models]).encode()).hexdigest()[:6]


def _as_json(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def curve_folder(settings: EvaluationSettings, model: str, probes: Sequence[Probe], several: bool = False) -> Path:
    """The same for checkpoints of one training run, whose results on all sets share a folder; `several`: one of many curves."""
    if settings.out:
        return Path(settings.out) / model if several else Path(settings.out)
    languages, sets = (dict.fromkeys(getattr(each, name) for each in probes) for name in ("language", "name"))
    label = "" if probes[0].contract.label == "default" else f"-{probes[0].contract.label}"
    digests = "".join(each.digest for each in probes)
    which = sha256(digests.encode()).hexdigest() if len(probes) > 1 else digests
    items = "" if _is_whole(settings.probes, probes) else f"-{which[:6]}"
    named = "-".join([model.replace("/", "-"), "curve", *languages, *sets])
    return Path(settings.paths.results) / f"{named}{label}{items}"


def _is_whole(settings: ProbeSettings, probes: Sequence[Probe]) -> bool:
    """Whether these are all of our sets and nothing else, as they are for every model."""
    ours = all(each.name == AGREEMENT and not each.lexicon for each in probes)
    return ours and settings.name == AGREEMENT and not (settings.limit or settings.constructions) and settings.split == "all"


def measure_perplexity(settings: EvaluationSettings, model: Model) -> dict[str, float]:
    """Perplexity of a corpus's test part, in the words the model knows; under the protocol clams also its macro-average."""
    network, vocabulary, training = model.network, model.vocabulary, model.training
    if settings.data is None or network is None or vocabulary is None or training is None:
        return {}
    languages = each_language(settings.lang or training.lang)
    recipe = CorpusRecipe(settings.data, languages, training.tokenizer, downloads_for(settings.paths))
    test = encode_split(recipe.source(), vocabulary, "test", recipe.selection())
    begins = vocabulary.begins()
    tally = evaluate_split(network, test, begins)
    if begins is None:
        # A text of which little is known is easy to predict: <unk> after <unk>.
        log.info("test text  %s: %s of its words unknown, predicted as <unk>", model.name, f"{test.unknown / test.words:.2%}")
    found = {TEST_PERPLEXITY: tally.perplexity}
    if begins is not None:
        found[metric_names.per_word(TEST_PERPLEXITY)] = tally.perplexity_word
    if settings.probes.protocol == "clams":
        found[metric_names.macro(TEST_PERPLEXITY)] = macro_perplexity(network, test)
    return found
