"""Perplexity and agreement over time, for one recipe after another on the same text.

    python benchmarks/learning.py --lang en --text novels.txt [--network lstm] [--recipes before main ours] [--seconds 300]
        [--seeds 1] [--words 680000] [--vocabulary 10000] [--override model.dropout=0.2] [--out rows.jsonl] [--small]

With --out, what was measured is kept as soon as it is there, and a recipe whose last second is kept already is not run again:
hours of measuring can be spread over several days and several processes. docs/make_recipe.py draws the rows.

`ours` is the current `data=text` recipe, `before` the earlier one (64 sentences, AdamW 0.001), `main` the recipe of
pytorch/examples' word_language_model, written from its description: SGD 20, divided by 4 after an epoch without a better
validation, 20 columns of 35 tokens with the state carried along, clipping at 0.25, dropout 0.2. The network is the same: 2 × 200,
tied. Time is *CPU* seconds of training on one thread, so that a busy machine only makes you wait longer; schedules with an end
reach it in the last second. Perplexity is validation perplexity by our definition, each sentence alone, for all of them.
Agreement is tested on frequent forms (*was were*, *is are*, *has have*) after nouns and pronouns: accuracy (0.5 for a model that
cannot tell the numbers apart), and how much the log odds of the plural form rise from a singular to a plural subject; and the
same at every place of the sentences held out where an author chose between the forms (`prose` in the rows). Beside it
stands the mean accuracy on the seven constructions that a run would be probed on, with words chosen from this vocabulary.
"""

import argparse
import json
import lzma
import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from concord.data.batches import Batch, BatchPlan, EvaluationLoader, Loader, Shape
from concord.data.corpus import Corpus, VocabularyRule, prepare
from concord.data.grammar import folder_of
from concord.data.sources import GrammarSource, TextSource
from concord.data.text import RawText
from concord.data.tokens import TokenRule
from concord.lm.loss import summed_nll
from concord.lm.model import LanguageModel, initialise_model
from concord.lm.networks import State, map_tensors
from concord.lm.optimisation import Horizon, Schedule, optimizer, schedule
from concord.lm.perplexity import evaluate_split
from concord.places import installed_folder
from concord.probes.accuracy import judge_scores
from concord.probes.probe import Probe
from concord.probes.probe_preparation import read_run_probes
from concord.probes.probe_series import sample_probe
from concord.probes.scorers.incremental import IncrementalScorer
from concord.runs.fit import architecture, read_recipe
from concord.settings.languages import read_language
from concord.settings.overrides import read_composed
from concord.settings.run import RunSettings
from concord.settings.training_settings import ModelSettings
from concord.terminal import console, table
from hydra import compose, initialize_config_dir
from torch import Tensor, nn

STEPS = 10_000  # into which a schedule cuts the time there is
SGD_RATES = {"lstm": 20.0, "transformer": 5.0}  # those that word_language_model recommends
ITEMS = 1000  # of each construction
MARKS = (60, 120, 300, 900, 1800, 3600)
NOUNS = {
    "en": "man/men woman/women child/children boy/boys girl/girls friend/friends day/days eye/eyes hand/hands horse/horses "
    "house/houses word/words letter/letters room/rooms brother/brothers sister/sisters thing/things year/years night/nights "
    "book/books",
    "de": "der_Mann/Männer das_Kind/Kinder die_Frau/Frauen der_Freund/Freunde das_Auge/Augen die_Hand/Hände der_Mensch/Menschen "
    "das_Mädchen/Mädchen der_Tag/Tage das_Wort/Worte der_Brief/Briefe das_Haus/Häuser das_Pferd/Pferde der_Bruder/Brüder "
    "der_Vater/Väter der_Soldat/Soldaten der_Baum/Bäume das_Zimmer/Zimmer",
}
PRONOUNS = {"en": [("He", "They"), ("It", "We")], "de": [("Er", "Wir")]}
FORMS = {
    "en": [("was", "were"), ("is", "are"), ("has", "have")],
    "de": [("war", "waren"), ("ist", "sind"), ("hat", "haben")],
}


def subjects(lang: str) -> list[tuple[str, str]]:
    """Singular and plural, each as a sentence would begin."""
    pairs = [each.split("/") for each in NOUNS[lang].split()]
    if lang == "en":
        return [(f"The {one}", f"The {many}") for one, many in pairs] + PRONOUNS[lang]
    return [(f"{one[0].upper()}{one[1:].replace('_', ' ')}", f"Die {many}") for one, many in pairs] + PRONOUNS[lang]


@dataclass(frozen=True)
class Rival:
    """A recipe: the model and its optimiser, how the text is cut, the norm that gradients are clipped to."""

    name: str
    model: ModelSettings
    optimizer: dict[str, Any]
    shape: Shape
    clip: float
    anneal: bool = False


def read_settings(*overrides: str) -> RunSettings:
    """Those of a training on real text."""
    with initialize_config_dir(str(installed_folder("conf")), version_base="1.3"):
        return read_composed(compose("train", ["data=text", *overrides]))


def rivals(network: str, lang: str, words: int, overrides: Sequence[str] = ()) -> dict[str, Rival]:
    """The three recipes, for a corpus of this many words; ours with these settings of one's own."""
    now, then = (
        read_recipe(read_settings(f"lang={lang}", f"model={network}", *more), words)
        for more in (overrides, ["data.batch_size=64"])
    )
    plain = replace(
        then.model,
        dropout=0.2,
        init=0.1,
        scheduler={"name": "constant"},
        network=then.model.network | {"dropout": 0.2},
    )
    return {
        "before": Rival("before", then.model, then.optimizer(), then.shape, 1.0),
        "main": Rival("main", plain, {"name": "sgd", "lr": SGD_RATES[network]}, Shape(20, window=35), 0.25, anneal=True),
        "ours": Rival(
            " ".join(["ours", *overrides]), now.model, now.optimizer(), now.shape, now.trainer.gradient_clip_val or math.inf
        ),
    }


def read_text(file: Path | None, lang: str, words: int, vocabulary: int, cache: Path) -> Corpus:
    """The beginning of a text; without one, a small part of the built-in corpus."""
    if file is None:
        return prepare(GrammarSource(folder_of(lang), {"train": 300, "valid": 40, "test": 40}, 0), VocabularyRule(None), cache)
    part = cache / f"{lang}.txt"
    part.parent.mkdir(parents=True, exist_ok=True)
    opener = lzma.open if file.suffix == ".xz" else open
    with opener(file, "rt", encoding="utf-8") as lines, part.open("w", encoding="utf-8") as out:
        left = words / 0.8  # the training part
        for line in lines:
            out.write(line)
            left -= len(line.split())
            if left < 0:
                break
    language = read_language(lang)
    reader = RawText(lang, TokenRule(language.tokens, language.replace))
    return prepare(TextSource({"all": part}, reader, seed=0), VocabularyRule(vocabulary), cache, workers=1)


def fit_sets(text: Corpus, lang: str) -> Probe:
    """What a run on this text would be probed on."""
    return sample_probe(read_run_probes(read_settings(f"lang={lang}"), text)[0], ITEMS, seed=0)


class Run:
    """One recipe with one seed, for the given CPU seconds."""

    def __init__(self, rival: Rival, text: Corpus, sets: Probe, seed: int, seconds: float) -> None:
        self.rival, self.text, self.sets, self.seed, self.seconds = rival, text, sets, seed, seconds
        self.model = initialise_model(architecture(rival.model, len(text.vocabulary)), seed)
        if rival.model.bias == "frequency":
            self.model.expect_frequencies(torch.from_numpy(np.bincount(text.train.ids, minlength=len(text.vocabulary))))
        self.optimizer = optimizer(self.model.parameters(), **rival.optimizer)
        self.schedule: Schedule = schedule(Horizon(STEPS, STEPS), **rival.model.scheduler)
        self.spent = self.tokens = 0
        self.state: State = None
        self.scale, self.best = 1.0, math.inf

    def rows(self, lang: str) -> Iterator[dict[str, Any]]:
        """Its state at each mark."""
        marks = [mark for mark in MARKS if mark < self.seconds] + [self.seconds]
        loader = Loader(self.text.train, self.rival.shape, self.seed, BatchPlan())
        while True:
            for batch in loader:
                started = time.process_time()
                self.step(batch)
                self.spent += time.process_time() - started
                while marks and self.spent >= marks[0]:
                    yield self.measure(lang, marks.pop(0), loader.epoch)
                if not marks:
                    return
            self.after_epoch()

    def step(self, batch: Batch) -> None:
        self.model.train()
        share = min(self.spent / self.seconds, 1.0)
        for group in self.optimizer.param_groups:
            group["lr"] = self.rival.optimizer["lr"] * self.schedule.factor(round(share * (STEPS - 1))) * self.scale
        contexts, state = self.model.contexts(batch.inputs, None if batch.fresh else self.state)
        nll, tokens = summed_nll(contexts, batch.targets, self.model.decoder)
        self.state = map_tensors(Tensor.detach, state) if self.rival.shape.window else None
        self.optimizer.zero_grad()
        (nll * batch.share).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.rival.clip)
        self.optimizer.step()
        self.tokens += tokens

    def after_epoch(self) -> None:
        """Validation sets the learning rate; its time is not counted."""
        if self.rival.anneal:
            loss = evaluate_split(self.model, self.text.valid).loss
            self.scale /= 1.0 if loss < self.best else 4.0
            self.best = min(loss, self.best)

    def measure(self, lang: str, mark: float, epoch: int) -> dict[str, Any]:
        known = {"recipe": self.rival.name, "network": self.rival.model.name, "lang": lang, "seed": self.seed}
        known |= {"planned": self.seconds, "seconds": mark}
        speed = self.tokens / max(self.spent, 1e-9)
        figures = {"tokens_per_second": speed, "perplexity": evaluate_split(self.model, self.text.valid).perplexity}
        asked = ask(self.model, self.text, lang) | {"sets": ask_sets(self.model, self.text, self.sets)}
        return known | {"epoch": epoch + 1} | figures | asked | {"prose": ask_prose(self.model, self.text, lang)}


@torch.no_grad()
def ask(model: LanguageModel, text: Corpus, lang: str) -> dict[str, Any]:
    """Agreement on frequent forms, if subject and forms are in the vocabulary."""
    model.eval()

    def numbers(words: str) -> list[int]:
        return [text.vocabulary.encode_word(word)[0] for word in words.split()]

    unknown = text.vocabulary.unk
    found: dict[str, Any] = {}
    for one, many in FORMS[lang]:
        forms = numbers(f"{one} {many}")
        asked = [[numbers(words) for words in pair] for pair in subjects(lang)]
        known = [pair for pair in asked if unknown not in [*pair[0], *pair[1], *forms]]
        if not known:
            continue
        odds = np.array([[log_probabilities(model, words)[forms].tolist() for words in pair] for pair in known])  # (n, 2, 2)
        prefers_plural = odds[:, :, 1] - odds[:, :, 0]  # (n, 2): after the singular, after the plural subject
        right = [*(prefers_plural[:, 0] < 0), *(prefers_plural[:, 1] > 0)]
        rises = prefers_plural[:, 1] - prefers_plural[:, 0]
        plural = np.exp(odds[:, :, 1]).mean(axis=0)
        found[f"{one}/{many}"] = {
            "n": len(known),
            "accuracy": float(np.mean(right)),
            "rise": float(rises.mean()),
            "error": standard_error(rises),
            "after singular": float(plural[0]),
            "after plural": float(plural[1]),
        }
    return found


@torch.no_grad()
def ask_prose(model: LanguageModel, text: Corpus, lang: str) -> dict[str, Any]:
    """Agreement where an author chose between the forms: every such place of the sentences held out."""
    model.eval()
    numbers = {pair: [text.vocabulary.encode_word(word)[0] for word in pair] for pair in FORMS[lang]}
    known = {pair: each for pair, each in numbers.items() if text.vocabulary.unk not in each}
    odds: dict[tuple[str, str], list[list[float]]] = {pair: [[], []] for pair in known}  # of the plural, by what was written
    for split in (text.valid, text.test):
        for batch in EvaluationLoader(split, 8192, BatchPlan()):
            contexts, _ = model.contexts(batch.inputs)
            for pair, (one, many) in known.items():
                weight = model.decoder.weight[many] - model.decoder.weight[one]
                bias = model.decoder.bias[many] - model.decoder.bias[one]
                for number, form in enumerate((one, many)):
                    odds[pair][number] += (contexts[batch.targets == form] @ weight + bias).tolist()
    return {"/".join(pair): judge_odds(*map(np.array, each)) for pair, each in odds.items() if all(each)}


def judge_odds(singular: np.ndarray, plural: np.ndarray) -> dict[str, float]:
    """From the log odds of the plural form where the singular and where the plural was written: accuracy, each number counting
    half, and the rise from one to the other.
    """
    accuracy = ((singular < 0).mean() + (plural > 0).mean()) / 2
    return {
        "n": len(singular) + len(plural),
        "plurals": len(plural),
        "accuracy": float(accuracy),
        "rise": float(plural.mean() - singular.mean()),
        "error": math.hypot(standard_error(singular), standard_error(plural)),
    }


def standard_error(values: np.ndarray) -> float:
    """Of their mean."""
    return float(values.std(ddof=1) / len(values) ** 0.5) if len(values) > 1 else math.nan


def ask_sets(model: LanguageModel, text: Corpus, sets: Probe) -> dict[str, float]:
    """Accuracy by construction, their mean, and how many items there are in all."""
    answers = judge_scores(sets, IncrementalScorer("model", model, text.vocabulary).score(sets.sentences)).table
    counted = {row.construction: row.all for row in answers.rows if row.construction in answers.mean.over}
    items = sum(each.n for each in counted.values())
    return {"items": items, "mean": answers.mean.accuracy} | {name: each.accuracy for name, each in counted.items()}


def log_probabilities(model: LanguageModel, words: Sequence[int]) -> Tensor:
    """The log-probability of every word, after <eos> and these words."""
    return model(torch.tensor([[0, *words]]))[0][0, -1]


def show(rows: Sequence[dict[str, Any]], lang: str) -> None:
    forms = [f"{one}/{many}" for one, many in FORMS[lang]]
    view = table(
        f"{lang}: valid perplexity and agreement over CPU seconds",
        "recipe",
        numbers=["seed", "s", "epoch", "tokens/s", "perplexity", *forms, "sets"],
    )
    for row in rows:
        told = [f"{row[form]['accuracy']:.2f} ({row[form]['rise']:+.2f})" if form in row else "–" for form in forms]
        told.append(f"{row['sets']['mean']:.2f}" if "sets" in row else "–")
        figures = [f"{row['seconds']:g}", row["epoch"], f"{row['tokens_per_second']:,.0f}", f"{row['perplexity']:,.1f}"]
        view.add_row(f"{row['recipe']} {row['network']}", str(row["seed"]), *map(str, figures), *told)
    console.print(view)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lang", default="en", choices=list(FORMS))
    parser.add_argument("--text", type=Path, help="raw prose, .txt or .txt.xz")
    parser.add_argument("--network", default="lstm", choices=["lstm", "transformer"])
    parser.add_argument("--recipes", nargs="*", default=["before", "main", "ours"], choices=["before", "main", "ours"])
    parser.add_argument(
        "--override", action="append", default=[], metavar="model.dropout=0.2", help="a change to ours, to search"
    )
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seeds", type=int, nargs="*", default=[1])
    parser.add_argument("--words", type=int, default=680_000)
    parser.add_argument("--vocabulary", type=int, default=10_000)
    parser.add_argument("--out", type=Path, help="a JSON lines file to append rows to")
    parser.add_argument("--small", action="store_true", help="takes seconds: a smoke test")
    asked = parser.parse_args()
    if not asked.small and asked.text is None:
        parser.error("give --text or --small")
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        text = read_text(None if asked.small else asked.text, asked.lang, asked.words, asked.vocabulary, Path(folder))
        print(f"{text.train.tokens:,} tokens, {len(text.vocabulary):,} words, {len(text.valid):,} validation sentences")
        known = rivals(asked.network, asked.lang, text.train.words, asked.override)
        seconds = 1 if asked.small else asked.seconds
        sets = fit_sets(text, asked.lang)
        rows = read_rows(asked.out)
        for name, seed in ((name, seed) for seed in asked.seeds for name in asked.recipes):
            if (known[name].name, asked.network, asked.lang, seed, seconds, seconds) in map(which, rows):
                continue
            for row in Run(known[name], text, sets, seed, seconds).rows(asked.lang):
                rows.append(row)
                keep(row, asked.out)
    show([row for row in rows if (row["lang"], row["network"]) == (asked.lang, asked.network)], asked.lang)


def which(row: dict[str, Any]) -> tuple[object, ...]:
    """The run and the moment that a row belongs to."""
    return tuple(row[name] for name in ("recipe", "network", "lang", "seed", "planned", "seconds"))


def read_rows(file: Path | None) -> list[dict[str, Any]]:
    """What was kept: of two runs that are the same, one of which was cut off, the later."""
    lines = file.read_text(encoding="utf-8").splitlines() if file and file.exists() else []
    return list({which(row): row for row in map(json.loads, lines)}.values())


def keep(row: dict[str, Any], file: Path | None) -> None:
    """Several of these programs may write to one file."""
    if file:
        with file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
