"""Run folders with everything that a real run leaves behind, written by the real functions; only the model is made up."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from concord.places import cache_folder
from concord.probes.accuracy import Table, metrics, tabulate
from concord.probes.collection import ItemSelection, collect, locate
from concord.probes.contract import make_contract
from concord.probes.contract_statement import contract_statement
from concord.probes.heuristics import HEURISTICS, judge_by_rule
from concord.probes.phases import agree_with_rules, rule_metrics
from concord.probes.probe import Probe, build_probe
from concord.probes.probe_series import sample_probe
from concord.probes.result_files import save_summary
from concord.probes.scorers import Reading, WordScores
from concord.probes.verdict_files import save_items, save_sample, save_verdicts
from concord.probes.verdicts import Verdicts, judge
from concord.runs.metrics_file import MetricsFile
from concord.runs.run_folder import RunFolder
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

ROOT = Path(__file__).resolve().parents[1]
# How soon a construction is learnt by our made-up models: the first early, the last hardly.
SPEED = {
    "simple_agrmt": 6,
    "vp_coord": 5,
    "obj_rel_within": 4,
    "subj_rel": 3,
    "prep": 2.2,
    "long_vp_coord": 1.6,
    "obj_rel_across": 1.0,
}


@cache
def asked(
    language: str,
    limit: int,
    protocol: str = "default",
    rules: tuple[tuple[str, Any], ...] = (),
    seed: int = 0,
    constructions: tuple[str, ...] = (),
    clitics: str = "split",
) -> Probe:
    agreed = make_contract(protocol, dict(rules))
    selection = ItemSelection(constructions, limit, seed, contract=agreed, clitics=clitics)
    sets = collect(locate("grammars/{lang}", language), language, "grammar", cache_folder("sets"), selection)
    return build_probe("agreement", language, sets)


def scores(chosen: Probe, skill: float, rng: np.random.Generator) -> WordScores:
    """A model that prefers good sentences the more, the higher its skill and the easier the construction."""
    lengths = np.array([len(sentence.words.split()) for sentence in chosen.sentences])
    firsts = np.concatenate([[0], np.cumsum(lengths)])
    logprobs = rng.normal(-2.5, 0.3, firsts[-1])
    contrasts = chosen.contrasts
    speeds = np.array([SPEED.get(name.removesuffix("_inanim"), 2.0) for name in chosen.constructions])
    margins = rng.normal(skill * speeds[contrasts.set], 1.0)
    for side, sign in ((0, 1), (1, -1)):
        logprobs[firsts[contrasts.pairs.sentences[:, side]] + contrasts.pairs.varied[:, side, 0]] = -4 + sign * margins / 2
    return WordScores(firsts, logprobs.astype(np.float32), np.zeros(firsts[-1], bool))


@cache
def settings(*overrides: str) -> dict[str, Any]:
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        return OmegaConf.to_container(compose("train", list(overrides)), resolve=True)  # type: ignore[return-value]


def write_run(
    folder: Path,
    whole: Probe,
    seed: int = 1,
    epochs: int = 6,
    sample: int = 20,
    skill: float = 0.5,
    chosen: Mapping[str, Any] | None = None,
    vocabulary: str = "v0",
    finished: bool = True,
) -> Path:
    """A run of so many epochs, of a model whose skill grows towards `skill`."""
    rng = np.random.default_rng([seed, len(folder.name), int(skill * 1000)])
    run = RunFolder(folder)
    made = dict(chosen or settings(f"lang={whole.language}")) | {"seed": seed}
    run.enter(OmegaConf.to_yaml(OmegaConf.create(made)), {"name": f"corpus-{vocabulary}", "vocabulary_digest": vocabulary})
    file = MetricsFile(run.metrics)
    some = sample_probe(whole, sample, 0)
    rules = {name: judge_by_rule(some, rule) for name, rule in HEURISTICS.items()}
    save_sample(run.probes / f"{whole.language}-{whole.name}-sample.parquet", some, rules, _identity(some))
    for epoch in range(epochs + 1):
        words = epoch * 100_000 + seed
        reached = skill * (1 - np.exp(-2.5 * epoch / epochs))
        verdicts, table = _judged(some, reached, rng)
        row = metrics(table, whole.language, whole.name) | {"progress/words_seen": words, "progress/epoch": epoch}
        row |= rule_metrics(agree_with_rules(some, verdicts, rules), f"probe/{whole.language}/{whole.name}")
        row |= {"valid/perplexity": float(60 * np.exp(-2 * reached) + rng.random())} if epoch else {}
        file.log_metrics(row, step=epoch * 50)
        about = _about(some, epoch * 50, words)
        save_verdicts(run.probes / f"{whole.language}-{whole.name}-step{epoch * 50:08d}.parquet", some, verdicts, about)
    if finished:
        _finish(run, whole, skill, rng, epochs)
    return folder


def _finish(run: RunFolder, whole: Probe, skill: float, rng: np.random.Generator, epochs: int) -> None:
    made = scores(whole, skill, rng)
    verdicts = judge(whole, made)
    folder = run.probes / f"final-{whole.language}-{whole.name}"
    about = _about(whole, epochs * 50, epochs * 100_000)
    references: dict[str, Table] = {name: tabulate(whole, judge_by_rule(whole, rule)) for name, rule in HEURISTICS.items()}
    save_items(folder / "items.parquet", whole, verdicts, made, about)
    save_summary(folder, {"model": tabulate(whole, verdicts), **references}, about)
    perplexity = 60 * float(np.exp(-2 * skill)) + float(rng.random())
    run.finish({"test/perplexity": perplexity, "epochs": epochs, "words seen": epochs * 100_000})


def write_evaluation(folder: Path, whole: Probe, names: Sequence[str], skill: float = 0.5) -> Path:
    """What evaluate.py leaves behind for several models."""
    rng = np.random.default_rng(len(names))
    tables = {}
    for i, name in enumerate(names):
        made = scores(whole, skill / (i + 1), rng)
        verdicts = judge(whole, made)
        tables[name] = tabulate(whole, verdicts)
        file = "items.parquet" if len(names) == 1 else f"items-{name.replace('/', '-')}.parquet"
        save_items(folder / file, whole, verdicts, made, _identity(whole) | {"model": name})
    known = {"words_seen": 0, "vocabulary": "v0", "tokenizer": None, "options": None, "scoring": None}
    stated = _identity(whole)["contract"]["statement"]
    models = {name: {"model": name, "statement": stated, "unknown_words": []} | known for name in names}
    save_summary(folder, tables, _identity(whole) | {"models": models})
    return folder


def _judged(chosen: Probe, skill: float, rng: np.random.Generator) -> tuple[Verdicts, Table]:
    verdicts = judge(chosen, scores(chosen, skill, rng))
    return verdicts, tabulate(chosen, verdicts)


def _about(chosen: Probe, step: int, words: int) -> dict[str, Any]:
    return _identity(chosen) | {"step": step, "words_seen": words, "epoch": step // 50}


def _identity(chosen: Probe) -> dict[str, Any]:
    contract = chosen.contract.plain() | {"statement": contract_statement(chosen, Reading(("<eos>",), state="zero"))}
    return {
        "language": chosen.language,
        "set": chosen.name,
        "digest": chosen.digest,
        "extent": chosen.extent,
        "contract": contract,
    }


def read_json(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))
