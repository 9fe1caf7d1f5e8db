"""Speed and memory of training: `python benchmarks/training.py [few] [many] [--small]`. All methods on the same model and data.

(a) our path: `concord.runs.fit` through Lightning, with metrics.csv and checkpoints as `train.py` uses them;
(b) a bare PyTorch loop: the same batches, `nn.LSTM` and the full cross-entropy, nothing else;
(c) the ceiling: only matrix multiplications of the model's sizes, as many as a step needs.
Each method runs in its own process, in turn, several times; the best of each counts, since the machine may be disturbed.
`few` is the default German run (800 words); `many` has 50,001 words and text of the same sentence lengths.
"""

import argparse
import logging
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from concord.data.batches import NO_TARGET, BatchPlan, Loader, Shape
from concord.data.corpus import Corpus, Split, VocabularyRule, prepare
from concord.data.grammar import folder_of
from concord.data.sources import GrammarSource
from concord.data.vocabulary import Vocabulary
from concord.lm.model import initialise_model
from concord.runs.fit import PreparedRun, Recipe, architecture, fit
from concord.runs.progress_report import ProgressReport
from concord.runs.run_folder import RunFolder
from concord.settings.training_settings import CheckpointSettings, EarlyStoppingSettings, ModelSettings, TrainerSettings
from concord.terminal import console, table
from rich.table import Table
from torch import nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Size:
    name: str
    sentences: int
    words: int | None  # null: those of the built-in corpus
    repeats: int = 3
    width: int = 200
    apart: bool = True  # each method in its own process


SIZES = (Size("few", 6400, None), Size("many", 640, 50_001))
SMALL = (Size("many", 64, 2001, 1, 16, apart=False),)


def corpus(size: Size, cache: Path) -> Corpus:
    """The built-in German corpus; if more words are wanted, with every word replaced by one of them."""
    sizes = {"train": size.sentences, "valid": 10, "test": 10}
    made = prepare(GrammarSource(folder_of("de"), sizes, seed=0), VocabularyRule(None), cache)
    if size.words is None:
        return made
    vocabulary = Vocabulary(["<eos>", "<unk>", *(f"w{i}" for i in range(size.words - 2))])
    random = np.random.Generator(np.random.PCG64(0))
    splits = {}
    for name, split in made.splits().items():
        ids = np.where(split.ids == 0, 0, random.integers(2, size.words, len(split.ids))).astype(np.uint16)
        splits[name] = Split(ids, split.offsets, 0)
    return Corpus(made.folder, vocabulary, **splits, report={})


def recipe(size: Size) -> Recipe:
    return Recipe(
        model=ModelSettings(
            "lstm",
            embedding=size.width,
            tied=True,
            dropout=0.1,
            init=0.1,
            network={"name": "lstm", "hidden": size.width, "layers": 2, "dropout": 0.1},
            optimizer={"name": "adamw", "lr": 0.002},
            scheduler={"name": "constant"},
        ),
        shape=Shape(64),
        evaluation_tokens=8192,
        seed=1,
        checkpoints=CheckpointSettings(every_n_steps=1000),
        early_stopping=EarlyStoppingSettings(),
        trainer=TrainerSettings(accelerator="cpu", max_epochs=1),
    )


def ours(size: Size, cache: Path) -> float:
    """Seconds of the training epoch alone, without validation and set-up, as the run itself reports them."""
    logging.disable()
    text, made = corpus(size, cache), recipe(size)
    taken: list[float] = []
    report = ProgressReport.on_validation_start

    def note(self: ProgressReport, *args: object) -> None:
        report(self, *args)  # type: ignore[arg-type]
        taken.append(self.seconds)

    ProgressReport.on_validation_start = note  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        where = RunFolder(Path(folder))
        where.enter("", {})
        model = initialise_model(architecture(made.model, len(text.vocabulary)), made.seed)
        fit(PreparedRun(made, text, model), {}, where, [], None)
    return taken[0]


class Bare(nn.Module):
    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.lstm = nn.LSTM(width, width, 2, batch_first=True, dropout=0.1)
        self.decoder = nn.Linear(width, words)
        self.decoder.weight = self.embedding.weight
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.decoder(self.dropout(self.lstm(self.dropout(self.embedding(x)))[0]))


def bare(size: Size, cache: Path) -> float:
    text = corpus(size, cache)
    model = Bare(len(text.vocabulary), size.width)
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.002)
    loader = Loader(text.train, Shape(64), 1, BatchPlan())
    start = time.perf_counter()
    for batch in loader:
        logits = model(batch.inputs)
        loss = F.cross_entropy(logits.flatten(0, 1), batch.targets.flatten(), ignore_index=NO_TARGET)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    return time.perf_counter() - start


def ceiling(size: Size, cache: Path) -> float:
    """The multiplications of forward and backward, at the speed of large square matrices on this machine."""
    text = corpus(size, cache)
    a, b = torch.randn(1024, 1024), torch.randn(1024, 1024)
    best = 1e9
    for _ in range(20):
        start = time.perf_counter()
        a @ b
        best = min(best, time.perf_counter() - start)
    speed = 2 * 1024**3 / best
    words, width = len(text.vocabulary), size.width
    per_token = 3 * 2 * (2 * 8 * width * width + words * width)  # forward, and twice as much backward
    return text.train.tokens * per_token / speed


def _measure(way: Callable[[Size, Path], float], size: Size, cache: Path) -> tuple[float, float]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = way(size, cache)
    return seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def measure(way: Callable[[Size, Path], float], size: Size, cache: Path) -> tuple[float, float]:
    if not size.apart:
        return _measure(way, size, cache)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as one:
        return one.submit(_measure, way, size, cache).result()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", metavar="few|many", help="how many words the model predicts; both by default")
    parser.add_argument("--small", action="store_true", help="takes seconds, a smoke test: `many`, with few of everything")
    asked = parser.parse_args()
    known = {size.name: size for size in (SMALL if asked.small else SIZES)}
    for size in [known[name] for name in asked.sizes or known]:
        with tempfile.TemporaryDirectory() as folder:
            console.print(compare(size, Path(folder)))


def compare(size: Size, cache: Path) -> Table:
    text = corpus(size, cache)
    found: dict[str, list[tuple[float, float]]] = {"ours": [], "bare": [], "ceiling": []}
    for _ in range(size.repeats):
        for name, way in (("ours", ours), ("bare", bare), ("ceiling", ceiling)):
            found[name].append(measure(way, size, cache))
    seconds = {name: min(s for s, _ in runs) for name, runs in found.items()}
    memory = {name: min(m for _, m in runs) for name, runs in found.items()}
    title = f"{size.name}: {len(text.vocabulary):,} words, {text.train.tokens:,} tokens, best of {size.repeats}"
    view = table(title, "way", numbers=["tokens/s", "ratio to bare", "peak MB above idle", "ratio to bare "])
    for name in found:
        speed = f"{text.train.tokens / seconds[name]:,.0f}", f"{seconds['bare'] / seconds[name]:.2f}"
        above = f"{memory[name]:,.0f}", f"{memory[name] / max(memory['bare'], 0.1):.2f}"
        view.add_row(name, *speed, *(above if name != "ceiling" else ("", "")))
    return view


if __name__ == "__main__":
    main()
