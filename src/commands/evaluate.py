"""Evaluate models: `concord evaluate ckpt_path=runs/…`, or `python evaluate.py …` in a clone."""

from typing import TYPE_CHECKING

from .hydra_program import run_with_settings

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from ..settings import EvaluationSettings


def main() -> None:
    run_with_settings("evaluate", command)


def command(cfg: "DictConfig") -> None:
    from ..runs.stopping import explain_failures
    from ..settings.overrides import check_trust, read_composed_evaluation, typed_overrides
    from ..terminal import keep_log

    with explain_failures(), keep_log(first=True):
        settings = read_composed_evaluation(cfg)
        check_trust(settings, typed_overrides())
        evaluate(settings)


def evaluate(settings: "EvaluationSettings") -> None:
    """From models to tables and files; the sets are read before any weights."""
    from ..lm.fast_import import import_lightning

    import_lightning()
    from ..probes.evaluation import check_starts, evaluate_probe, load_models, measure_perplexity, read_probes, result_folder
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


if __name__ == "__main__":
    main()
