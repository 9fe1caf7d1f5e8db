"""Evaluate a model: `python evaluate.py ckpt_path=runs/…/checkpoints/best.ckpt`. `python evaluate.py --help` lists the rest."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, OmegaConf

from .hydra_program import run_with_settings

if TYPE_CHECKING:
    from ..data.tokenizer import Tokenizer
    from ..lm.model import LanguageModel
    from ..probes.accuracy import Table
    from ..probes.probe import Probe
    from ..probes.scorers import Scorer
    from ..probes.verdicts import Verdicts


@dataclass(frozen=True)
class Candidate:
    """A model under evaluation, and all that is known of it."""

    name: str
    scorer: "Scorer"
    digest: str  # of what decides its numbers
    about: dict[str, Any]
    words_seen: int = 0
    model: "LanguageModel | None" = None  # of a checkpoint of ours
    vocabulary: "Tokenizer | None" = None
    tokenizer: Any = None  # of a pretrained model


def command(cfg: DictConfig) -> None:
    # The heavy imports stand inside the functions, so that --help and a misspelt choice answer at once.
    from ..runs.failures import explained
    from ..runs.logs import logged

    with explained(), logged(first=True):
        if not cfg.get("model"):
            checkpoints_of(cfg.ckpt_path)  # before anything that takes time
        evaluate(OmegaConf.to_container(cfg, resolve=True, throw_on_missing=True))


def evaluate(settings: Any) -> None:
    """From checkpoints to tables and files."""
    from ..lm.fast_import import import_lightning

    import_lightning()
    must_ask_something(settings)
    models = pretrained(settings) if settings.get("model") else candidates(settings)
    if settings["text"] is not None:
        from ..probes.surprisal import show_surprisal

        show_surprisal(tokens(settings, models[0]), [(model.name, model.scorer) for model in models])
        return
    perplexities = {model.name: perplexity(settings, model) for model in models} if settings.get("data") else {}
    if settings["probes"]["name"] == "none":
        from ..probes import probe_display as screen

        screen.show_perplexities(perplexities)
    else:
        for language in languages_asked(settings, models[0]):
            probed(settings, models, probe_for(settings, models[0], language), perplexities)


def must_ask_something(settings: Any) -> None:
    from ..errors import UserError

    if settings["probes"]["name"] == "none" and settings["text"] is None and not settings.get("data"):
        raise UserError("probes=none: then data= (perplexity of a corpus) or text= (surprisal of a sentence) is needed")


def probed(settings: Any, models: list[Candidate], chosen: "Probe", perplexities: dict[str, dict[str, float]]) -> None:
    """The same sets and the same code as during training, for every model."""
    from ..probes import probe_display as screen
    from ..probes.result_files import save_summary

    folder = folder_of(settings, models, chosen)
    if settings.get("model"):
        show_kept(chosen, models[0])
    tables: dict[str, Table] = {}
    verdicts: dict[str, Verdicts] = {}
    for model in models:
        file = folder / items_file(models, model)
        verdicts[model.name], tables[model.name] = asked(chosen, model, file, perplexities.get(model.name, {}))
    about = {"language": chosen.language, "set": chosen.name, "digest": chosen.digest, "contract": chosen.contract.plain()}
    about |= {"models": {model.name: identity(model) | perplexities.get(model.name, {}) for model in models}}
    shown = tables | rules_without_model(chosen) if len(models) == 1 else tables
    save_summary(folder, shown, about)
    screen.show_evaluation(chosen, tables, shown, perplexities)
    screen.show_disagreements(verdicts)
    screen.show_folder(folder)


def asked(chosen: "Probe", model: Candidate, file: Path, measured: dict[str, float]) -> tuple["Verdicts", "Table"]:
    """Score, judge, save every verdict, tabulate."""
    from ..probes.accuracy import tabulate
    from ..probes.preparation import must_cover
    from ..probes.result_files import save_items
    from ..probes.verdicts import judge

    scores = model.scorer.score(chosen.sentences)
    must_cover(chosen, scores, model.name)
    verdicts = judge(chosen, scores)
    about = {"contract": chosen.contract.plain(), "digest": chosen.digest, **identity(model), **measured}
    save_items(file, chosen, verdicts, scores, about)
    return verdicts, tabulate(chosen, verdicts)


def candidates(settings: Any) -> list[Candidate]:
    """The models that are asked for, checked for being comparable."""
    from ..errors import UserError

    files = checkpoints_of(settings["ckpt_path"])
    models = sorted((candidate(file, settings) for file in files), key=lambda model: model.words_seen)
    if len({model.about["clitics"] for model in models}) > 1:
        raise UserError(
            "ckpt_path: these models were trained on clitics written differently (split and joined); evaluate them apart"
        )
    known = {model.name: "+".join(model.about["languages"]) for model in models}
    if len(set(known.values())) > 1 and not settings.get("lang"):
        told = ", ".join(f"{name} ({languages})" for name, languages in known.items())
        raise UserError(f"ckpt_path: these models know different languages: {told}; evaluate them apart, or say lang=")
    return models


def checkpoints_of(asked: Any) -> list[Path]:
    """One file, several, or all of a run."""
    from ..errors import UserError

    if asked is None:
        raise UserError("ckpt_path= is needed: a checkpoint, several ([a.ckpt,b.ckpt]), or the folder of a run")
    files: list[Path] = []
    for path in map(Path, [asked] if isinstance(asked, str) else asked):
        found = sorted(path.glob("checkpoints/*.ckpt")) or sorted(path.glob("*.ckpt")) if path.is_dir() else [path]
        if not path.exists():
            raise UserError(f"{path}: there is no such checkpoint")
        if not found:
            raise UserError(f"ckpt_path={path}: no checkpoint in this folder; give a file, or the folder of a run")
        files += found
    return files


def candidate(file: Path, settings: Any) -> Candidate:
    """A checkpoint as a scorer."""
    from ..errors import UserError
    from ..lm.checkpoints import load, read
    from ..probes.preparation import scorer_maker

    saved = read(file)
    model, vocabulary, about = load(file)
    model.to(device_of(settings))
    warm = None
    if settings["probes"].get("rules", {}).get("start") == "warm":
        if "warm" not in about:
            raise UserError(
                f"{file}: probes.rules.start=warm: this checkpoint has no sentences of its corpus to begin with; use zero"
            )
        warm = about["warm"]
    run = file.parent.parent.name if file.parent.name == "checkpoints" else file.parent.name
    scorer = scorer_maker(file.stem, vocabulary, warm)(model)
    seen = saved["training"]["words_seen"]
    return Candidate(f"{run}/{file.stem}", scorer, vocabulary.digest(), about, seen, model, vocabulary)


def device_of(settings: Any) -> str:
    import torch

    from ..errors import UserError

    asked = str(settings["device"])
    if asked not in ("cpu", "mps") and not asked.startswith("cuda"):
        raise UserError(f"device={asked}: there are cpu, cuda (cuda:1 for the second GPU) and mps")
    if asked != "cpu" and not (torch.backends.mps if asked == "mps" else torch.cuda).is_available():
        raise UserError(f"device={asked}: there is none here; leave it out, or device=cpu")
    return asked


def pretrained(settings: Any) -> list[Candidate]:
    """A model of the Hugging Face hub or of a folder, once for each score that is asked for."""
    from dataclasses import asdict

    from ..errors import UserError
    from ..places import cache_folder
    from ..probes.contract import make_contract
    from ..probes.scorers.pretrained import Options, default_scoring, load, scorer

    chosen, probes = settings["model"], settings["probes"]
    if chosen["name"] in ("lstm", "transformer") and "network" in chosen:
        raise UserError(
            f"model={chosen['name']}: evaluate.py takes ckpt_path= for models of ours, and model=hf for pretrained ones"
        )
    if not settings.get("lang"):
        raise UserError("model=hf needs lang=: a pretrained model does not say which language it is to be asked in")
    agreed = make_contract(probes.get("protocol", "default"), probes.get("rules", {}))
    ruled = {name: chosen[name] or name in agreed.options for name in ("skip_multi_piece", "equal_pieces")}
    options = Options(chosen["start"], **ruled, spacing=chosen["spacing"], tokens=chosen["tokens"])
    loaded = load(*(chosen[key] for key in ("name", "revision", "kind", "safetensors", "device")))
    wanted = probes.get("scoring") or agreed.scoring or default_scoring(loaded)
    language = settings["lang"]
    about = {"language": language, "languages": {language["code"]: language}, "clitics": "joined", "options": asdict(options)}
    made = [scorer(name, loaded, options, cache_folder("scores")) for name in ([wanted] if isinstance(wanted, str) else wanted)]
    short = Path(loaded.name).name
    return [Candidate(f"{short}/{each.name}", each, loaded.digest, about, tokenizer=loaded.tokenizer) for each in made]


def languages_asked(settings: Any, model: Candidate) -> list[str]:
    """All languages that a checkpoint knows, unless others are asked for."""
    if not settings.get("lang"):
        return list(model.about["languages"])
    return list(settings["lang"].get("languages") or [settings["lang"]["code"]])


def probe_for(settings: Any, model: Candidate, language: str) -> "Probe":
    """The sets of a language, written as the model's corpus was."""
    from ..probes.preparation import make_probe

    known = model.about["languages"]
    clitics = known[language]["clitics"] if language in known and "clitics" in known[language] else model.about["clitics"]
    return make_probe(settings["probes"], language, clitics)


def tokens(settings: Any, model: Candidate) -> list[str]:
    """A sentence cut as raw text of its language is."""
    from ..data.tokens import TokenRule
    from ..errors import UserError

    known = model.about["languages"]
    language = settings["lang"] if settings.get("lang") else model.about["language"]
    if "tokens" not in language:
        raise UserError(
            f"text=: this model knows {', '.join(known)}; say which language the sentence is, lang={next(iter(known))}"
        )
    return TokenRule(language["tokens"], language["replace"])(str(settings["text"]))


def perplexity(settings: Any, model: Candidate) -> dict[str, float]:
    """Of the test part of a corpus, in the words that the model knows; under the protocol clams also their macro-average."""
    from ..data.chosen import selection_of
    from ..data.corpus import encoded
    from ..errors import UserError
    from ..lm.perplexity import measured
    from ..probes.surprisal import macro_perplexity
    from .train import languages_of, source_of

    if model.model is None or model.vocabulary is None:
        raise UserError("data=: the perplexity of a pretrained model per word is not comparable; leave data= out with model=hf")
    trained = model.about["settings"]
    chosen = settings | {"lang": settings.get("lang") or trained["lang"], "tokenizer": trained["tokenizer"]}
    test = encoded(source_of(chosen), model.vocabulary, "test", selection_of(settings["data"], languages_of(chosen)))
    begins = model.vocabulary.begins()
    tally = measured(model.model, test, begins)
    found = {"test/perplexity": tally.perplexity}
    if begins is not None:
        found["test/perplexity_word"] = tally.perplexity_word
    if settings["probes"].get("protocol") == "clams":
        found["test/perplexity_macro"] = macro_perplexity(model.model, test)
    return found


def show_kept(chosen: "Probe", model: Candidate) -> None:
    """Of a pretrained model: how much of each construction published rules for words in pieces would leave."""
    from functools import partial

    from ..probes import coverage
    from ..probes import probe_display as screen
    from ..probes.scorers.pretrained.word_pieces import target_pieces

    count = partial(target_pieces, model.tokenizer)
    screen.show_kept([coverage.rule_coverage(made, count) for made in chosen.sets], coverage.form_coverage(chosen.sets, count))


def rules_without_model(chosen: "Probe") -> dict[str, "Table"]:
    """Reference lines that need no corpus."""
    from ..probes.accuracy import tabulate
    from ..probes.heuristics import HEURISTICS, judge_by_rule

    return {name: tabulate(chosen, judge_by_rule(chosen, rule)) for name, rule in HEURISTICS.items()}


def identity(model: Candidate) -> dict[str, Any]:
    """Which model a result comes from."""
    return {
        "model": model.name,
        "words_seen": model.words_seen,
        "vocabulary": model.digest,
        "options": model.about.get("options"),
    }


def items_file(models: list[Candidate], model: Candidate) -> str:
    return "items.parquet" if len(models) == 1 else f"items-{model.name.replace('/', '-')}.parquet"


def folder_of(settings: Any, models: list[Candidate], chosen: "Probe") -> Path:
    """Named for the models, the language, the items and the contract, so that no two results meet in one place."""
    from hashlib import sha256

    if settings["out"]:
        several = len(languages_asked(settings, models[0])) > 1
        return Path(settings["out"]) / (chosen.language if several else "")
    names = [model.name.replace("/", "-") for model in models]
    all_of_them = sha256(" ".join(names).encode()).hexdigest()[:6]
    model = names[0] if len(names) == 1 else f"{names[0]}-and-{len(names) - 1}-more-{all_of_them}"
    label = "" if chosen.contract.label == "default" else f"-{chosen.contract.label}"
    probes = settings["probes"]
    whole = probes["name"] == "agreement" and not (probes["limit"] or probes["constructions"]) and probes["split"] == "all"
    items = "" if whole else f"-{chosen.digest[:6]}"
    return Path(settings["paths"]["results"]) / f"{model}-{chosen.language}-{chosen.name}{label}{items}"


def main() -> None:
    run_with_settings("evaluate", command)


if __name__ == "__main__":
    main()
