"""Speed and memory of training: `python benchmarks/training.py [small|large]`. Everything in one run, on the same model and data.

(a) our path: `lm.fit` through Lightning, with metrics.csv and checkpoints as `train.py` uses them;
(b) a bare PyTorch loop: the same batches, `nn.LSTM` and the full cross-entropy, nothing else;
(c) the ceiling: matrix multiplications of the model's sizes alone, as many as a step needs.
Every way runs in a process of its own, in turns, several times; the best of each counts, since the machine may be disturbed.
`small` is the default German run (800 words); `large` has 50,001 words and text of the same sentence lengths.
"""

import logging
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import torch
from concord.data.batches import NO_TARGET, Loader, Plan, Shape
from concord.data.corpus import Corpus, Split, VocabularyRule, prepare
from concord.data.grammar import folder_of
from concord.data.sources import GrammarSource
from concord.data.vocabulary import Vocabulary
from concord.lm.model import Architecture, initialise_model
from concord.runs.fit import Recipe, fit
from concord.runs.progress_report import ProgressReport
from concord.runs.run_folder import RunFolder
from concord.terminal import console, table
from torch import nn
from torch.nn import functional as F

REPEATS = 3
SENTENCES = {"small": 6400, "large": 640}


def corpus(size: str, cache: Path) -> Corpus:
    """The built-in German corpus; for `large` with every word replaced by one of 50,001."""
    sizes = {"train": SENTENCES[size], "valid": 10, "test": 10}
    made = prepare(GrammarSource(folder_of("de"), sizes, seed=0), VocabularyRule(None), cache)
    if size == "small":
        return made
    vocabulary = Vocabulary(["<eos>", "<unk>", *(f"w{i}" for i in range(49_999))])
    random = np.random.Generator(np.random.PCG64(0))
    splits = {}
    for name, split in made.splits().items():
        ids = np.where(split.ids == 0, 0, random.integers(2, 50_001, len(split.ids))).astype(np.uint16)
        splits[name] = Split(ids, split.offsets, 0)
    return Corpus(made.folder, vocabulary, **splits, report={})


def recipe(size: str) -> Recipe:
    width = 200
    return Recipe(
        architecture=Architecture(
            2,
            width,
            tied=True,
            dropout=0.1,
            init=0.1,
            network={"name": "lstm", "hidden": width, "layers": 2, "dropout": 0.1},
        ),
        optimizer={"name": "adamw", "lr": 0.002},
        scheduler={"name": "constant"},
        shape=Shape(64),
        evaluation_tokens=8192,
        seed=1,
        checkpoints={"monitor": "valid/perplexity", "mode": "min", "every_n_steps": 1000, "at_words": []},
        early_stopping={"monitor": "valid/perplexity", "mode": "min", "patience": None},
        compile=False,
        trainer={"accelerator": "cpu", "devices": 1, "max_epochs": 1, "gradient_clip_val": 1.0, "log_every_n_steps": 50},
    )


def ours(size: str, cache: Path) -> float:
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
        fit(made, initialise_model(made.architecture_for(len(text.vocabulary)), 1), text, {}, where, [], None)
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


def bare(size: str, cache: Path) -> float:
    text = corpus(size, cache)
    model = Bare(len(text.vocabulary), 200)
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.002)
    loader = Loader(text.train, Shape(64), 1, Plan())
    start = time.perf_counter()
    for batch in loader:
        logits = model(batch.inputs)
        loss = F.cross_entropy(logits.flatten(0, 1), batch.targets.flatten(), ignore_index=NO_TARGET)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    return time.perf_counter() - start


def ceiling(size: str, cache: Path) -> float:
    """The multiplications of forward and backward, at the speed of large square matrices on this machine."""
    text = corpus(size, cache)
    a, b = torch.randn(1024, 1024), torch.randn(1024, 1024)
    best = 1e9
    for _ in range(20):
        start = time.perf_counter()
        a @ b
        best = min(best, time.perf_counter() - start)
    speed = 2 * 1024**3 / best
    words, width = len(text.vocabulary), 200
    per_token = 3 * 2 * (2 * 8 * width * width + words * width)  # forward, and twice as much backward
    return text.train.tokens * per_token / speed


def _measure(way: Callable[[str, Path], float], size: str, cache: Path) -> tuple[float, float]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = way(size, cache)
    return seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def measure(way: Callable[[str, Path], float], size: str, cache: Path) -> tuple[float, float]:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as one:
        return one.submit(_measure, way, size, cache).result()


def main() -> None:
    for size in sys.argv[1:] or ["small", "large"]:
        with tempfile.TemporaryDirectory() as folder:
            cache = Path(folder)
            text = corpus(size, cache)
            found: dict[str, list[tuple[float, float]]] = {"ours": [], "bare": [], "ceiling": []}
            for _ in range(REPEATS):
                for name, way in (("ours", ours), ("bare", bare), ("ceiling", ceiling)):
                    found[name].append(measure(way, size, cache))
            seconds = {name: min(s for s, _ in runs) for name, runs in found.items()}
            memory = {name: min(m for _, m in runs) for name, runs in found.items()}
            title = f"{size}: {len(text.vocabulary):,} words, {text.train.tokens:,} tokens, best of {REPEATS}"
            view = table(title, "way", numbers=["tokens/s", "ratio to bare", "peak MB above idle", "ratio to bare "])
            for name in found:
                ratio = seconds["bare"] / seconds[name]
                shown = f"{memory[name]:,.0f}", f"{memory[name] / memory['bare']:.2f}"
                view.add_row(
                    name, f"{text.train.tokens / seconds[name]:,.0f}", f"{ratio:.2f}", *(shown if name != "ceiling" else ("", ""))
                )
            console.print(view)


if __name__ == "__main__":
    main()
