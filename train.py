"""Train a language model: `python train.py lang=de model=lstm`. `python train.py --help` lists what can be chosen."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

if TYPE_CHECKING:
    from pytorch_lightning.loggers.logger import Logger

    from data.corpus import Corpus, VocabularyRule
    from data.sources import Source
    from lm.fit import Recipe
    from lm.logs import RunLog
    from lm.model import LanguageModel
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
    """A run from its settings to its result."""
    from contextlib import nullcontext

    from lm import ranks
    from lm.logs import logged
    from lm.run_folder import RunFolder

    refuse_pretrained(settings)
    first = ranks.rank() == 0
    folder = RunFolder(Path(settings["paths"]["runs"]) / (settings["name"] or name_of(settings)))
    with logged(first) as log:
        if settings.get("summary"):
            prepared(settings, folder, None)
            return
        with folder.locked() if first else nullcontext():
            run(settings, folder, first, log)


def run(settings: Any, folder: "RunFolder", first: bool, log: "RunLog") -> None:
    """Whatever can be wrong is found before the run's folder is touched."""
    from lm import screen
    from lm.fit import fit

    resume = resume_from(settings, folder)
    if folder.exists() and not settings["overwrite"]:
        must_match(folder.settings(), settings, str(folder.path), growing=not folder.finished())
        corpus_must_match(folder, settings)
        if folder.finished():
            screen.finished(folder)
            return
        if first and settings["ckpt_path"] != "auto":
            folder.must_be_free()
    recipe, model, corpus = prepared(settings, folder, resume)
    known = enter(settings, folder, corpus.summary()) if first else {}
    log.write_to(folder.log)
    loggers = loggers_of(settings, folder, known) if first else []
    try:
        result = fit(recipe, model, corpus, about(settings), folder, loggers, resume)
        if first:
            folder.finish(result)
            screen.result(folder, result)
    finally:
        close(loggers, folder)


def prepared(settings: Any, folder: "RunFolder", resume: Path | None) -> tuple["Recipe", "LanguageModel", "Corpus"]:
    """Recipe, model and corpus, each checked, and their sizes shown."""
    from lm import screen
    from lm.checkpoints import check_fits, read
    from lm.model import initialised

    recipe = recipe_of(settings)
    recipe.check()
    if resume:
        must_match(read(resume)["concord"]["settings"], settings, str(resume), growing=True)
    screen.configuration(settings, folder)
    corpus = corpus_of(settings)
    model = initialised(recipe.architecture_for(len(corpus.vocabulary)), recipe.seed)
    if resume:
        check_fits(resume, model, corpus.vocabulary)
    screen.sizes(corpus, model, settings["tokenizer"]["vocabulary_size"])
    return recipe, model, corpus


def refuse_lists() -> None:
    """Hydra would read lang=[de,fr] as a choice and keep only the last."""
    from data.errors import UserError

    for override in HydraConfig.get().overrides.task:
        if override.startswith("lang=["):
            raise UserError(f"{override}: only the last of these would be used; give one language, for instance lang=de")


def refuse_pretrained(settings: Any) -> None:
    """conf/model has them too, for evaluate.py."""
    from data.errors import UserError

    if "network" not in settings["model"]:
        raise UserError("model=hf is a pretrained model: evaluate.py scores it. To train one: model=lstm or model=transformer")


def science(settings: Any) -> dict[str, Any]:
    """Every setting that changes the result, by its full name."""
    chosen = {key: settings[key] for key in ("lang", "model", "data", "tokenizer", "seed")}
    chosen["trainer"] = {key: value for key, value in settings["trainer"].items() if key not in MACHINE}
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
    from lm.run_folder import settings_hash

    hashed = science(settings)
    if settings["ckpt_path"] not in (None, "auto"):
        hashed["ckpt_path"] = settings["ckpt_path"]
    parts = (settings["lang"]["code"], settings["model"]["name"], settings["data"]["name"], f"s{settings['seed']}")
    return "-".join([*parts, settings_hash(hashed)])


def must_match(there: Any, here: Any, where: str, growing: bool) -> None:
    """A run goes on with the settings it was started with; only its length may change, while it is not finished."""
    from data.errors import UserError

    theirs, ours = science(there), science(here)
    names = [name for name in {**theirs, **ours} if theirs.get(name) != ours.get(name)]
    if names and not (growing and names == ["trainer.max_epochs"]):
        shown = "; ".join(f"{name} {theirs.get(name)} there, {ours.get(name)} here" for name in names[:5])
        raise UserError(f"{where}: made with other settings: {shown}. Give the same settings, another name=, or overwrite=true")


def corpus_must_match(folder: "RunFolder", settings: Any) -> None:
    """The settings may be the same and the text another: an edited file or grammar."""
    from data.corpus import name_of as corpus_name
    from data.errors import UserError

    if folder.corpus_name() not in ("", corpus_name(source_of(settings), rule_of(settings))):
        raise UserError(
            f"{folder.path}: its corpus has changed since (a text or grammar file); give another name=, or overwrite=true"
        )


def resume_from(settings: Any, folder: "RunFolder") -> Path | None:
    """The checkpoint to go on from; `auto` is the run's own last one, if it has got that far."""
    from data.errors import UserError

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
    from data.corpus import prepare
    from data.errors import UserError

    limit = settings["data"]["limit"]
    if limit is not None and not (isinstance(limit, int) and limit > 0):
        raise UserError(f"data.limit={limit}: a whole number above 0 is needed, or null for all")
    corpus = prepare(source_of(settings), rule_of(settings), Path(settings["paths"]["cache"]))
    return corpus if limit is None else corpus.first(limit)


def rule_of(settings: Any) -> "VocabularyRule":
    """Which words the model knows."""
    from data.corpus import VocabularyRule

    return VocabularyRule(settings["tokenizer"]["vocabulary_size"], tuple(settings["tokenizer"]["counted_in"]))


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
        withhold = (data["withhold"],) if isinstance(data["withhold"], str) else tuple(data["withhold"])
        return GrammarSource(grammars, data["sentences"], data["seed"], withhold, lang["clitics"], exclude)
    reader = TokenizedText() if data["tokenized"] else RawText(lang["code"], TokenRule(lang["tokens"], lang["replace"]))
    return TextSource(text_files(data), reader, data["seed"])


def text_files(data: Any) -> dict[str, Path]:
    """One file to be split, or one for each split."""
    from data.errors import UserError

    splits = {name: Path(data[name]) for name in ("train", "valid", "test") if data[name] is not None}
    if data["path"] is not None and not splits:
        return {"all": Path(data["path"])}
    if data["path"] is None and len(splits) == 3:
        if len({file.resolve() for file in splits.values()}) < 3:
            raise UserError("data.train, data.valid and data.test must be three files; a model is not tested on what it has read")
        return splits
    raise UserError("data=text needs data.path= (one file, split 8:1:1) or all of data.train= data.valid= data.test=")


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
