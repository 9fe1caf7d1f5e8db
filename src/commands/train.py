"""Train a language model: `concord train lang=de model=lstm`, or `python train.py …` in a clone."""

from contextlib import nullcontext
from typing import TYPE_CHECKING

from ..runs.stopping import is_first
from .hydra_program import run_with_settings

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from ..runs.run_folder import RunFolder
    from ..settings import RunSettings
    from ..terminal import RunLog


def main() -> None:
    run_with_settings("train", command)


def command(cfg: "DictConfig") -> None:
    """Exits with status 0 if the run is finished, was finished before, or was only prepared."""
    from ..runs.stopping import explain_failures
    from ..runs.sweeps.launchers import refuse_shared_process
    from ..settings.overrides import read_composed, refuse_lists, typed_overrides

    with explain_failures():
        refuse_lists(typed_overrides())
        settings = read_composed(cfg)
        refuse_shared_process(cfg)
        train(settings)


def train(settings: "RunSettings") -> None:
    """A run, from its settings to its result."""
    from ..lm.fast_import import import_lightning

    import_lightning()
    from ..runs.run_folder import RunFolder
    from ..runs.run_preparation import prepare_alone
    from ..terminal import keep_log

    folder = RunFolder(settings.folder)
    with keep_log(is_first()) as log:
        if settings.prepare or settings.summary:
            prepare_alone(settings, folder)
            return
        with folder.locked() if is_first() else nullcontext():
            run(settings, folder, log)


def run(settings: "RunSettings", folder: "RunFolder", log: "RunLog") -> None:
    """Errors are found before the run's folder is touched; of several processes, only the first writes and shows."""
    from ..report import complete_own_report, write_own_report
    from ..runs.continuing import checkpoint_to_resume, is_finished, resume_requeued, take_over
    from ..runs.fit import fit
    from ..runs.loggers import open_loggers
    from ..runs.run_display import show_finished, show_result
    from ..runs.run_preparation import enter_folder, prepare_run

    settings = take_over(resume_requeued(settings, folder), folder)
    resume = checkpoint_to_resume(settings, folder)
    if is_finished(settings, folder):
        complete_own_report(folder.path)
        show_finished(folder)
        return
    prepared = prepare_run(settings, folder, resume)
    if not is_first():
        fit(prepared, settings.facts(), folder, [], resume)
        return
    wandb_id = enter_folder(settings, folder, prepared)
    log.write_to(folder.log)
    with folder.noted(), open_loggers(settings, folder.path, wandb_id, resume) as loggers:
        folder.finish(fit(prepared, settings.facts(), folder, loggers, resume))
        write_own_report(folder.path)
        show_result(folder)


if __name__ == "__main__":
    main()
