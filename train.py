"""Train a language model: `python train.py lang=de model=lstm`. `python train.py --help` lists what can be chosen."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

if TYPE_CHECKING:
    from pytorch_lightning.loggers.logger import Logger

    from data.corpus import Corpus
    from data.sources import Source
    from lm.fit import Recipe
    from lm.run_folder import RunFolder

# What a run's name does not depend on: where it runs and who watches.
MACHINE = ("accelerator", "devices", "num_nodes", "strategy", "threads", "profiler", "log_every_n_steps")


@hydra.main(version_base="1.3", config_path="conf", config_name="train")
def main(cfg: DictConfig) -> None:
    """Leave with a status that tells the truth: 0 only when the run is finished."""
    # The heavy imports stand inside the functions, so that --help and a misspelt choice answer at once.
    from lm.failures import explained

    with explained():
        refuse_lists()
        train(OmegaConf.to_container(cfg, resolve=True, throw_on_missing=True))


def train(settings: Any) -> None:
    """A run from its settings to its result. Whatever can be wrong is found before the run's folder is touched."""
    from lm import ranks, screen
    from lm.checkpoints import check_fits
    from lm.fit import fit
    from lm.logs import logged_to
    from lm.model import initialised
    from lm.run_folder import RunFolder

    first = ranks.rank() == 0
    folder = RunFolder(Path(settings["paths"]["runs"]) / (settings["name"] or name_of(settings)))
    resume = resume_from(settings, folder)
    recipe = recipe_of(settings)
    with logged_to(None, first):
        if folder.finished() and not settings["overwrite"]:
            screen.finished(folder)
            return
        if first and not settings["overwrite"] and settings["ckpt_path"] != "auto":
            folder.must_be_free()
        recipe.check()
        screen.configuration(settings)
        corpus = corpus_of(settings)
        model = initialised(recipe.architecture_for(len(corpus.vocabulary)), recipe.seed)
        if resume:
            check_fits(resume, model, corpus.vocabulary)
        screen.sizes(corpus, model)
        if settings.get("summary"):
            return

    known = enter(settings, folder) if first else {}
    with logged_to(folder.log, first):
        loggers = loggers_of(settings, folder, known) if first else []
        try:
            result = fit(recipe, model, corpus, about(settings), folder, loggers, resume)
            if first:
                folder.finish(result)
                screen.result(folder, result)
        finally:
            close(loggers, folder)


def refuse_lists() -> None:
    """Hydra would read lang=[de,fr] as a choice and keep only the last."""
    for override in HydraConfig.get().overrides.task:
        if override.startswith("lang=["):
            raise ValueError(f"{override}: only the last of these would be used; give one language, for instance lang=de")


def name_of(settings: Any) -> str:
    """Language, network, corpus, seed, and a hash of every setting that changes the result."""
    from lm.run_folder import settings_hash

    science = {key: settings[key] for key in ("lang", "model", "data", "tokenizer", "seed")}
    science["trainer"] = {key: value for key, value in settings["trainer"].items() if key not in MACHINE}
    science["early_stopping"] = settings["callbacks"]["early_stopping"]
    parts = (settings["lang"]["code"], settings["model"]["name"], settings["data"]["name"], f"s{settings['seed']}")
    return "-".join([*parts, settings_hash(science)])


def resume_from(settings: Any, folder: "RunFolder") -> Path | None:
    """The checkpoint to go on from; `auto` is the run's own last one, if it has got that far."""
    if settings["ckpt_path"] in (None, "auto"):
        return folder.last if settings["ckpt_path"] == "auto" and folder.last.exists() else None
    return Path(settings["ckpt_path"])


def enter(settings: Any, folder: "RunFolder") -> dict[str, Any]:
    """The run's folder, cleared if that was asked for; returns what is known of the run's earlier starts."""
    if settings["overwrite"]:
        folder.clear()
    return folder.enter(OmegaConf.to_yaml(OmegaConf.create(settings)))


def recipe_of(settings: Any) -> "Recipe":
    """How to train, in plain values; the size of the vocabulary follows with the corpus."""
    import torch

    from data.batches import Shape
    from lm.fit import Recipe
    from lm.model import Architecture

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
    from data.corpus import VocabularyRule, prepare

    rule = VocabularyRule(settings["tokenizer"]["vocabulary_size"], tuple(settings["tokenizer"]["counted_in"]))
    corpus = prepare(source_of(settings), rule, Path(settings["paths"]["cache"]))
    return corpus.first(settings["data"]["limit"]) if settings["data"]["limit"] else corpus


def source_of(settings: Any) -> "Source":
    """Where the sentences come from."""
    from data.grammar import folder_of
    from data.sources import NOTHING, GrammarSource, TextSource, challenge_sentences
    from data.text import RawText, TokenizedText
    from data.tokens import TokenRule

    lang, data = settings["lang"], settings["data"]
    if data["name"] == "grammar":
        grammars = folder_of(lang["code"])
        exclude = challenge_sentences(grammars, lang["clitics"]) if data["exclude_challenge"] else NOTHING
        return GrammarSource(grammars, data["sentences"], data["seed"], tuple(data["withhold"]), lang["clitics"], exclude)
    reader = TokenizedText() if data["tokenized"] else RawText(lang["code"], TokenRule(lang["tokens"], lang["replace"]))
    return TextSource(text_files(data), reader, data["seed"])


def text_files(data: Any) -> dict[str, Path]:
    """One file to be split, or one for each split."""
    splits = {name: Path(data[name]) for name in ("train", "valid", "test") if data[name] is not None}
    if data["path"] is not None and not splits:
        return {"all": Path(data["path"])}
    if data["path"] is None and len(splits) == 3:
        return splits
    raise ValueError("data=text needs data.path= (one file, split 8:1:1) or all of data.train= data.valid= data.test=")


def about(settings: Any) -> dict[str, Any]:
    """What a checkpoint says of itself, so that nothing has to be asked later."""
    lang = settings["lang"]
    raw = settings["data"]["name"] != "grammar" and not settings["data"]["tokenized"]
    language = {key: lang[key] for key in ("code", "name", "direction", "tokens", "replace")}
    return {"language": language, "clitics": "joined" if raw else lang["clitics"], "settings": settings}


def loggers_of(settings: Any, folder: "RunFolder", known: dict[str, Any]) -> list["Logger"]:
    """Besides metrics.csv, which is always written."""
    if settings["logger"]["name"] == "none":
        return []
    from lm.wandb_logging import wandb_logger

    return [wandb_logger(folder.path, known["wandb_id"], settings, settings["logger"]["project"], settings["tags"])]


def close(loggers: list["Logger"], folder: "RunFolder") -> None:
    """End what was opened, whatever happened."""
    if loggers:
        from lm import wandb_logging

        wandb_logging.close(folder.path)


if __name__ == "__main__":
    main()
