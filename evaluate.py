"""Evaluate a model: `python evaluate.py ckpt_path=runs/…/checkpoints/best.ckpt`. `python evaluate.py --help` lists the rest."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hydra
from omegaconf import DictConfig, OmegaConf

if TYPE_CHECKING:
    from data.tokenizer import Tokenizer
    from lm.model import LanguageModel
    from probes.accuracy import Table
    from probes.probe import Probe
    from probes.scorers import Scorer


@dataclass(frozen=True)
class Candidate:
    """A model under evaluation, and all that is known of it."""

    name: str
    scorer: "Scorer"
    model: "LanguageModel"
    vocabulary: "Tokenizer"
    about: dict[str, Any]
    words_seen: int


@hydra.main(version_base="1.3", config_path="conf", config_name="evaluate")
def main(cfg: DictConfig) -> None:
    # The heavy imports stand inside the functions, so that --help and a misspelt choice answer at once.
    from lm.failures import explained
    from lm.logs import logged

    with explained(), logged(first=True):
        evaluate(OmegaConf.to_container(cfg, resolve=True, throw_on_missing=True))


def evaluate(settings: Any) -> None:
    """From checkpoints to tables and files."""
    from probes.text import show_surprisal

    models = candidates(settings)
    if settings["text"] is not None:
        show_surprisal(tokens(str(settings["text"]), models[0]), [(model.name, model.scorer) for model in models])
        return
    perplexities = {model.name: perplexity(settings, model) for model in models} if settings.get("data") else {}
    if settings["probes"]["name"] != "none":
        probed(settings, models, perplexities)


def probed(settings: Any, models: list[Candidate], perplexities: dict[str, dict[str, float]]) -> None:
    """The same sets and the same code as during training, for every model."""
    from probes import screen
    from probes.results import save_summary

    chosen = probe_for(settings, models[0])
    folder = folder_of(settings, models, chosen)
    tables: dict[str, Table] = {}
    for model in models:
        tables[model.name] = asked(chosen, model, folder / items_file(models, model), perplexities.get(model.name, {}))
    about = {"language": chosen.language, "set": chosen.name, "digest": chosen.digest, "contract": chosen.contract.plain()}
    about |= {"models": {model.name: identity(model) | perplexities.get(model.name, {}) for model in models}}
    shown = tables | rules_without_model(chosen) if len(models) == 1 else tables
    save_summary(folder, shown, about)
    screen.evaluated(chosen, tables, shown, perplexities)
    screen.written(folder)


def asked(chosen: "Probe", model: Candidate, file: Path, measured: dict[str, float]) -> "Table":
    """Score, judge, save every verdict, tabulate."""
    from probes.accuracy import tabulated
    from probes.preparation import must_cover
    from probes.results import save_items
    from probes.verdicts import judged

    scores = model.scorer.score(chosen.sentences)
    must_cover(chosen, scores)
    verdicts = judged(chosen, scores)
    about = {"contract": chosen.contract.plain(), "digest": chosen.digest, **identity(model), **measured}
    save_items(file, chosen, verdicts, scores, about)
    return tabulated(chosen, verdicts)


def candidates(settings: Any) -> list[Candidate]:
    """The models that are asked for, checked for being comparable."""
    from data.errors import UserError

    files = checkpoints_of(settings["ckpt_path"])
    models = sorted((candidate(file, settings) for file in files), key=lambda model: model.words_seen)
    if len({str(file.parent) for file in files}) == 1:
        # Of one run: told apart by their own names.
        models = [replace(model, name=model.scorer.name) for model in models] if len(models) > 1 else models
    if len({model.about["clitics"] for model in models}) > 1:
        raise UserError(
            "ckpt_path: these models were trained on clitics written differently (split and joined); evaluate them apart"
        )
    return models


def checkpoints_of(asked: Any) -> list[Path]:
    """One file, several, or all of a run."""
    from data.errors import UserError

    if asked is None:
        raise UserError("ckpt_path= is needed: a checkpoint, several ([a.ckpt,b.ckpt]), or the folder of a run")
    files: list[Path] = []
    for path in map(Path, asked if isinstance(asked, list) else [asked]):
        found = sorted(path.glob("checkpoints/*.ckpt")) or sorted(path.glob("*.ckpt")) if path.is_dir() else [path]
        if not found:
            raise UserError(f"ckpt_path={path}: no checkpoint in this folder; give a file, or the folder of a run")
        files += found
    return files


def candidate(file: Path, settings: Any) -> Candidate:
    """A checkpoint as a scorer."""
    from data.errors import UserError
    from lm.checkpoints import load, read
    from probes.preparation import encoder, reader_of

    saved = read(file)
    model, vocabulary, about = load(file)
    model.to(settings["device"])
    warm = None
    if settings["probes"].get("rules", {}).get("start") == "warm":
        if "warm" not in about:
            raise UserError(
                f"{file}: probes.rules.start=warm: this checkpoint has no sentences of its corpus to begin with; use zero"
            )
        warm = about["warm"]
    encode = encoder(vocabulary)
    run = file.parent.parent.name if file.parent.name == "checkpoints" else file.parent.name
    scorer = reader_of(file.stem, encode, vocabulary.unk, warm)(model)
    return Candidate(f"{run}/{file.stem}", scorer, model, vocabulary, about, saved["training"]["words_seen"])


def probe_for(settings: Any, model: Candidate) -> "Probe":
    """In the checkpoint's language, written as its corpus was, unless another language is asked for."""
    from probes.preparation import probe_of

    language = settings["lang"]["code"] if settings.get("lang") else model.about["language"]["code"]
    return probe_of(settings["probes"], language, model.about["clitics"])


def tokens(text: str, model: Candidate) -> list[str]:
    """A sentence cut as raw text of the model's language is."""
    from data.tokens import TokenRule

    language = model.about["language"]
    return TokenRule(language["tokens"], language["replace"])(text)


def perplexity(settings: Any, model: Candidate) -> dict[str, float]:
    """Of the test part of a corpus, in the words that the model knows; under the protocol clams also their macro-average."""
    from data.chosen import selection_of
    from data.corpus import encoded
    from lm.perplexity import measured
    from probes.text import macro_perplexity
    from train import languages_of, source_of

    own = model.about["settings"]
    asked = settings | {"lang": settings.get("lang") or own["lang"], "tokenizer": own["tokenizer"]}
    test = encoded(source_of(asked), model.vocabulary, "test", selection_of(asked["data"], languages_of(asked)))
    begins = model.vocabulary.begins()
    tally = measured(model.model, test, begins)
    found = {"test/perplexity": tally.perplexity}
    if begins is not None:
        found["test/perplexity_word"] = tally.perplexity_word
    if settings["probes"].get("protocol") == "clams":
        found["test/perplexity_macro"] = macro_perplexity(model.model, test)
    return found


def rules_without_model(chosen: "Probe") -> dict[str, "Table"]:
    """Reference lines that need no corpus."""
    from probes.accuracy import tabulated
    from probes.heuristics import HEURISTICS, heuristic

    return {name: tabulated(chosen, heuristic(chosen, rule)) for name, rule in HEURISTICS.items()}


def identity(model: Candidate) -> dict[str, Any]:
    """Which model a result comes from."""
    return {"model": model.name, "words_seen": model.words_seen, "vocabulary": model.vocabulary.digest()}


def items_file(models: list[Candidate], model: Candidate) -> str:
    return "items.parquet" if len(models) == 1 else f"items-{model.name.replace('/', '-')}.parquet"


def folder_of(settings: Any, models: list[Candidate], chosen: "Probe") -> Path:
    """Named for the model, the language, the set and the contract, so that no two results meet in one place."""
    if settings["out"]:
        return Path(settings["out"])
    names = [model.name.replace("/", "-") for model in models]
    if isinstance(settings["ckpt_path"], str) and Path(settings["ckpt_path"]).is_dir():
        names = [Path(settings["ckpt_path"]).resolve().name]
    model = names[0] if len(names) == 1 else f"{names[0]}-and-{len(names) - 1}-more"
    label = "" if chosen.contract.label == "default" else f"-{chosen.contract.label}"
    return Path(settings["paths"]["results"]) / f"{model}-{chosen.language}-{chosen.name}{label}"


if __name__ == "__main__":
    main()
