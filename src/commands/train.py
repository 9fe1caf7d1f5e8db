"""Train a language model: `python train.py lang=de model=lstm`. `python train.py --help` lists what can be chosen."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from ..places import installed_folder
from .hydra_program import run_with_settings

if TYPE_CHECKING:
    from ..data.corpus import Corpus
    from ..data.sources import Source
    from ..lm.model import LanguageModel
    from ..probes.callback import ProbeCallback, ProbePlan
    from ..runs.fit import Recipe
    from ..runs.logs import RunLog
    from ..runs.run_folder import RunFolder

LANGUAGES = installed_folder("conf") / "lang"
start = ("-m", "concord.commands.train")  # how the jobs of a sweep are started
# What a run's name does not depend on: where it runs and who watches.
MACHINE = ("workers", "accelerator", "devices", "num_nodes", "strategy", "threads", "profiler", "log_every_n_steps")


def command(cfg: DictConfig) -> None:
    """Leave with a status that tells the truth: 0 only when the run is finished."""
    # The heavy imports stand inside the functions, so that --help and a misspelt choice answer at once.
    from ..runs.failures import explained

    with explained():
        refuse_lists(HydraConfig.get().overrides.task)
        refuse_sharing(cfg)
        train(OmegaConf.to_container(cfg, resolve=True, throw_on_missing=True))


def train(settings: Any) -> None:
    """A run from its settings to its result."""
    from contextlib import nullcontext

    from ..lm.fast_import import import_lightning

    import_lightning()
    from ..runs import ranks
    from ..runs import run_display as screen
    from ..runs.logs import logged

    refuse_pretrained(settings)
    first = ranks.rank() == 0
    folder = folder_of(settings)
    with logged(first) as log:
        if settings["prepare"]:
            screen.corpus(corpus_of(settings), settings["tokenizer"]["vocabulary_size"])
            return
        if settings.get("summary"):
            prepared(settings, folder, None)
            return
        with folder.locked() if first else nullcontext():
            run(settings, folder, first, log)


def run(settings: Any, folder: "RunFolder", first: bool, log: "RunLog") -> None:
    """Whatever can be wrong is found before the run's folder is touched."""
    from contextlib import nullcontext

    from ..runs import loggers
    from ..runs.fit import fit

    loggers.check(settings["logger"])
    resume = resume_from(settings, folder)
    if folder.exists() and not settings["overwrite"]:
        must_be_the_same(folder, settings)
        if folder.finished():
            show_finished(folder)
            return
        if first and settings["ckpt_path"] != "auto":
            folder.must_be_free()
    recipe, model, corpus, watching = prepared(settings, folder, resume)
    words = {"vocabulary_digest": corpus.vocabulary.digest()}
    known = enter(settings, folder, corpus.summary() | words) if first else {}
    log.write_to(folder.log)
    with folder.noted() if first else nullcontext(), loggers.opened(settings, folder.path, known, resume, first) as opened:
        result = fit(recipe, model, corpus, about(settings, corpus), folder, opened, watching, resume)
        if first:
            folder.finish(result | {name: value for each in watching for name, value in each.result().items()})
            write_report(folder)
            show_result(folder)


def prepared(
    settings: Any, folder: "RunFolder", resume: Path | None
) -> tuple["Recipe", "LanguageModel", "Corpus", list["ProbeCallback"]]:
    """Recipe, model, corpus and probes, each checked, and their sizes shown."""
    from ..lm.checkpoints import check_fits, read
    from ..lm.model import initialised
    from ..runs import run_display as screen

    recipe = recipe_of(settings)
    asked = probes_of(settings)
    recipe.check(watchable(settings, asked))
    if resume:
        must_match(read(resume)["concord"]["settings"], settings, str(resume), growing=True)
    screen.configuration(settings, folder)
    corpus = corpus_of(settings)
    model = initialised(recipe.architecture_for(len(corpus.vocabulary)), recipe.seed)
    if resume:
        check_fits(resume, model, corpus.vocabulary)
    screen.sizes(corpus, model, settings["tokenizer"]["vocabulary_size"])
    return recipe, model, corpus, watching_of(settings, asked, corpus, folder)


def probes_of(settings: Any) -> list["ProbePlan"]:
    """The challenge sets of the run's language; none with probes=none."""
    from ..data.chosen import clitics_of
    from ..probes.preparation import make_probe, plan_probe

    chosen = settings["probes"]
    if chosen["name"] == "none":
        return []
    wholes = [make_probe(chosen, lang["code"], clitics_of(settings["data"], lang)) for lang in languages_of(settings)]
    return [plan_probe(whole, chosen["sample"], chosen["seed"]) for whole in wholes]


def watchable(settings: Any, asked: list["ProbePlan"]) -> list[str]:
    """Metrics of probes that stand beside every perplexity."""
    from ..probes.preparation import monitorable_metrics

    return monitorable_metrics(asked) if asked and settings["probes"]["schedule"]["every_epochs"] == 1 else []


def watching_of(settings: Any, asked: list["ProbePlan"], corpus: "Corpus", folder: "RunFolder") -> list["ProbeCallback"]:
    """The callback that probes; before it is made, coverage is shown and reference lines are computed."""
    from dataclasses import replace

    from ..probes.callback import ProbeCallback
    from ..probes.preparation import check_coverage, perspective, scorer_maker
    from ..probes.schedule import ProbeSchedule

    if not asked:
        return []
    schedule = ProbeSchedule(**settings["probes"]["schedule"])
    vocabulary = corpus.vocabulary
    for each in asked:
        check_coverage(each, vocabulary)
    asked = [replace(each, **perspective(each.whole, corpus)) for each in asked]
    warm = corpus.warm() if asked[0].whole.contract.rules.start == "warm" else None
    return [ProbeCallback(asked, scorer_maker("model", vocabulary, warm), schedule, folder.probes)]


def write_report(folder: "RunFolder") -> None:
    """The run's own page; nothing of the run is lost where it cannot be written."""
    from ..report import own_report
    from ..runs import run_display as screen

    try:
        own_report(folder.path)
    except OSError as error:
        screen.say(f"report     not written: {error}")


def show_finished(folder: "RunFolder") -> None:
    """A run that is asked for again."""
    from ..runs import run_display as screen

    show_result(folder)
    screen.say("This run is finished. To do it again from the start: overwrite=true")


def show_result(folder: "RunFolder") -> None:
    """The end of a run: what it measured, the tables of its probes, and where everything is."""
    from ..probes.probe_display import show_final
    from ..runs import run_display as screen

    screen.result(folder, folder.result())
    show_final(folder.probes)
    screen.places(folder)


def refuse_lists(overrides: Sequence[str]) -> None:
    """Hydra would read lang=[de,fr] as a choice and keep only the last."""
    from ..errors import UserError

    for override in overrides:
        if override.startswith("lang=["):
            listed = override.removeprefix("lang=")
            raise UserError(f"{override}: only the last of these would be used; give lang=multi lang.languages={listed}")


def refuse_sharing(cfg: DictConfig) -> None:
    """Lightning starts the processes of ddp with the command line, and that of a sweep is the whole sweep."""
    from ..errors import UserError

    launcher = HydraConfig.get().launcher._target_.rsplit(".", 1)[-1]
    if HydraConfig.get().mode == RunMode.MULTIRUN and cfg.trainer.devices != 1:
        raise UserError(
            f"{launcher} runs the jobs of a sweep inside itself, where trainer.devices={cfg.trainer.devices} cannot work; "
            "use hydra/launcher=processes or submitit_slurm"
        )


def folder_of(settings: Any) -> "RunFolder":
    """Where a run with these settings lives."""
    from ..runs.run_folder import RunFolder

    return RunFolder(Path(settings["paths"]["runs"]) / (settings["name"] or name_of(settings)))


def refuse_pretrained(settings: Any) -> None:
    """conf/model has them too, for evaluate.py."""
    from ..errors import UserError

    if "network" not in settings["model"]:
        raise UserError("model=hf is a pretrained model: evaluate.py scores it. To train one: model=lstm or model=transformer")


def science(settings: Any) -> dict[str, Any]:
    """Every setting that changes the result, by its full name."""
    chosen = {key: settings[key] for key in ("lang", "model", "data", "tokenizer", "probes", "seed")}
    for group in ("trainer", "data"):
        chosen[group] = {key: value for key, value in settings[group].items() if key not in MACHINE}
    watched = settings["callbacks"]["checkpoints"]
    chosen["callbacks"] = {"early_stopping": settings["callbacks"]["early_stopping"]}
    chosen["callbacks"]["checkpoints"] = {key: watched[key] for key in ("monitor", "mode")}
    return dict(flattened(chosen))


def flattened(settings: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """`{"model": {"tied": True}}` as `("model.tied", True)`."""
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from flattened(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def name_of(settings: Any) -> str:
    """Language, network, corpus, seed, and a hash of every setting that changes the result."""
    from ..runs.run_folder import settings_hash

    hashed = science(settings)
    if settings["ckpt_path"] not in (None, "auto"):
        hashed["ckpt_path"] = settings["ckpt_path"]
    parts = (settings["lang"]["code"], settings["model"]["name"], settings["data"]["name"], f"s{settings['seed']}")
    return "-".join([*parts, settings_hash(hashed)])


def must_match(there: Any, here: Any, where: str, growing: bool) -> None:
    """A run goes on with the settings it was started with; only its length may change, while it is not finished."""
    from ..errors import UserError

    theirs, ours = science(there), science(here)
    names = [name for name in {**theirs, **ours} if theirs.get(name) != ours.get(name)]
    if names and not (growing and names == ["trainer.max_epochs"]):
        shown = "; ".join(f"{name} {theirs.get(name)} there, {ours.get(name)} here" for name in names[:5])
        raise UserError(f"{where}: made with other settings: {shown}. Give the same settings, another name=, or overwrite=true")


def must_be_the_same(folder: "RunFolder", settings: Any) -> None:
    """What is in the folder is a run with these settings on this text; also asked by sweeps, before they take a job for done."""
    must_match(folder.settings(), settings, str(folder.path), growing=not folder.finished())
    corpus_must_match(folder, settings)


def corpus_must_match(folder: "RunFolder", settings: Any) -> None:
    """The settings may be the same and the text another: an edited file or grammar."""
    from ..data.chosen import rule_of, selection_of
    from ..data.corpus import name_of as corpus_name
    from ..errors import UserError

    selection = selection_of(settings["data"], languages_of(settings))
    if folder.corpus_name() not in ("", corpus_name(source_of(settings), rule_of(settings["tokenizer"]), selection)):
        raise UserError(
            f"{folder.path}: its corpus has changed since (a text or grammar file); give another name=, or overwrite=true"
        )


def resume_from(settings: Any, folder: "RunFolder") -> Path | None:
    """The checkpoint to go on from; `auto` is the run's own last one, if it has got that far."""
    from ..errors import UserError

    asked = settings["ckpt_path"]
    if asked and settings["overwrite"] and (asked == "auto" or folder.path.resolve() in Path(asked).resolve().parents):
        raise UserError(f"ckpt_path={asked} overwrite=true: the one goes on with the run, the other removes it; choose one")
    if asked in (None, "auto"):
        return folder.last if asked == "auto" and folder.last.exists() else None
    return Path(asked)


def enter(settings: Any, folder: "RunFolder", corpus: dict[str, Any]) -> dict[str, Any]:
    """The run's folder, cleared if that was asked for; returns what is known of the run's earlier starts."""
    if settings["overwrite"]:
        folder.clear()
    return folder.enter(OmegaConf.to_yaml(OmegaConf.create(settings)), corpus)


def recipe_of(settings: Any) -> "Recipe":
    """How to train, in plain values; the size of the vocabulary follows with the corpus."""
    import torch

    from ..data.batches import Shape
    from ..lm.model import Architecture
    from ..runs.fit import Recipe

    model, data = settings["model"], settings["data"]
    trainer = dict(settings["trainer"])
    if threads := trainer.pop("threads"):
        torch.set_num_threads(threads)
    return Recipe(
        architecture=Architecture(
            2, model["embedding"], tied=model["tied"], dropout=model["dropout"], init=model["init"], network=model["network"]
        ),
        optimizer=model["optimizer"],
        scheduler=model["scheduler"],
        shape=Shape(data["batch_size"], data["window"], data["warmup_batch_size"]),
        evaluation_tokens=data["evaluation_tokens"],
        seed=settings["seed"],
        checkpoints=settings["callbacks"]["checkpoints"],
        early_stopping=settings["callbacks"]["early_stopping"],
        compile=model["compile"],
        trainer=trainer,
    )


def corpus_of(settings: Any) -> "Corpus":
    """The corpus as numbers, prepared now if no run has needed it before."""
    from ..data.chosen import rule_of, selection_of
    from ..data.corpus import prepare
    from ..errors import UserError

    limit = settings["data"]["limit"]
    if limit is not None and not (isinstance(limit, int) and limit > 0):
        raise UserError(f"data.limit={limit}: a whole number above 0 is needed, or null for all")
    selection = selection_of(settings["data"], languages_of(settings))
    cache, workers = Path(settings["paths"]["cache"]), settings["data"]["workers"]
    corpus = prepare(source_of(settings), rule_of(settings["tokenizer"]), cache, selection, workers)
    return corpus if limit is None else corpus.first(limit)


def source_of(settings: Any) -> "Source":
    """Where the sentences come from."""
    from ..data import chosen

    # From the environment it comes as text, and may be set to nothing.
    offline = str(settings["paths"]["offline"]).lower() not in ("", "0", "false", "no", "none")
    network = chosen.Network(Path(settings["paths"]["downloads"]), offline)
    return chosen.source_of(settings["data"], languages_of(settings), settings["tokenizer"]["rules"], network)


def languages_of(settings: Any) -> list[dict[str, Any]]:
    """What is true of each language of the run, as conf/lang says it."""
    from ..errors import UserError

    lang = settings["lang"]
    if "languages" not in lang:
        return [lang]
    known = {file.stem: file for file in sorted(LANGUAGES.glob("*.yaml")) if file.stem != lang["code"]}
    if unknown := [code for code in lang["languages"] if code not in known]:
        raise UserError(f"lang.languages={lang['languages']}: no {unknown[0]} here; there are: {', '.join(known)}")
    if len(lang["languages"]) < 2:
        raise UserError(f"lang.languages={lang['languages']}: name two or more; for one language, lang=<language>")
    return [OmegaConf.to_container(OmegaConf.load(known[code])) for code in lang["languages"]]  # type: ignore[misc]


def about(settings: Any, corpus: "Corpus") -> dict[str, Any]:
    """What a checkpoint says of itself, so that nothing has to be asked later. `language` is that of a run with only one."""
    from ..data.chosen import clitics_of

    languages = {
        lang["code"]: {key: lang[key] for key in ("code", "name", "direction", "tokens", "replace")}
        | {"clitics": clitics_of(settings["data"], lang)}
        for lang in languages_of(settings)
    }
    own = settings["lang"]
    language = {key: own[key] for key in ("code", "name", "direction", "tokens", "replace") if key in own}
    clitics = clitics_of(settings["data"], own)
    return {"language": language, "languages": languages, "clitics": clitics, "settings": settings, "warm": corpus.warm()}


def main() -> None:
    run_with_settings("train", command)


if __name__ == "__main__":
    main()
