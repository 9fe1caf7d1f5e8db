"""Evaluate models: `concord evaluate ckpt_path=runs/…`, or `python evaluate.py …` in a clone."""

from typing import TYPE_CHECKING

from .hydra_program import run_with_settings

# The heavy imports stand inside the functions, so that --help and a misspelt choice answer at once.
if TYPE_CHECKING:
    from collections.abc import Sequence

    from omegaconf import DictConfig

    from ..probes.models import Model
    from ..probes.probe import Probe
    from ..settings import EvaluationSettings
    from ..settings.languages import Clitics


def main() -> None:
    run_with_settings("evaluate", command)


def command(cfg: "DictConfig") -> None:
    from hydra.core.hydra_config import HydraConfig

    from ..runs.failures import explain_failures
    from ..runs.logs import keep_log
    from ..settings.overrides import check_trust, read_composed_evaluation

    with explain_failures(), keep_log(first=True):
        settings = read_composed_evaluation(cfg)
        check_trust(settings, HydraConfig.get().overrides.task)
        evaluate(settings)


def evaluate(settings: "EvaluationSettings") -> None:
    """From models to tables and files; the sets are read before any weights."""
    from ..lm.fast_import import import_lightning

    import_lightning()
    from ..probes.evaluation import check_starts, evaluate_probe, measure_perplexity, result_folder
    from ..probes.probe_display import show_perplexities
    from ..probes.surprisal import answer_text, text_sentences
    from ..settings.training_settings import PretrainedSettings
    from ..watching.run_curve import is_one_run, keep_run_curve

    sentences = {} if settings.text is None else text_sentences(settings)
    probes = [] if settings.probes.is_none or settings.text is not None else read_probes(settings)
    if probes and isinstance(settings.model, PretrainedSettings) and settings.model.asks_training:
        from ..watching.checkpoint_curve import evaluate_training

        evaluate_training(settings, probes)
        return
    models = load_models(settings, probes)
    check_starts(models, probes)
    if settings.text is not None:
        answer_text(settings, models, sentences)
        return
    measures = {model.name: measure_perplexity(settings, model) for model in models} if settings.data else {}
    if not probes:
        show_perplexities(measures)
    answers = [evaluate_probe(each, models, result_folder(settings, models, each, probes), measures) for each in probes]
    if probes and is_one_run(settings.ckpt_path, models):
        keep_run_curve(settings, models, probes, answers)


def read_probes(settings: "EvaluationSettings") -> list["Probe"]:
    """The sets of every language asked: those that were typed, or all that a checkpoint knows, written as its corpus was."""
    from ..data.download import downloads_for
    from ..probes.lexicon.asked_models import choose_lexicon
    from ..probes.models import checkpoint_capitals, checkpoint_languages, of_built_in_corpus
    from ..probes.probe_preparation import make_probe
    from ..settings.languages import each_language
    from ..settings.probing import all_collections

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


def load_models(settings: "EvaluationSettings", probes: "Sequence[Probe]") -> list["Model"]:
    from ..probes.contract import make_contract
    from ..probes.models import load_checkpoints, load_function, load_pretrained, load_scores, must_be_comparable
    from ..settings.languages import each_language
    from ..settings.training_settings import ScoreFileSettings

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


if __name__ == "__main__":
    main()
