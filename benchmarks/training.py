"""Speed and memory of training: `python benchmarks/training.py [few] [many] [prose --text novels.txt.xz] [--small]`.

Every way trains the same model on the same text for one epoch, in its own process, in turn, several times; the best of each
counts, since the machine may be disturbed. Tokens are those that are predicted: padding does not count.

ours        `concord.runs.fit` through Lightning, with metrics.csv and checkpoints as `train.py` uses them
bare        a plain PyTorch loop: `nn.LSTM` and the full cross-entropy on the same batches of 64 sentences, nothing else
stream      the same loop as pytorch/examples' word_language_model reads: 20 columns of 35 tokens, the state carried along, SGD
ceiling     only matrix multiplications of the model's sizes, as many as an epoch needs

`few` is the default German run (800 words); `many` has 50,001 words and text of the same sentence lengths. `prose` is real text
(German, unless --lang says otherwise) with a vocabulary of 20,000 words: ours cuts it into batches of 700 tokens, as a run on
text does, and, as it did before, into batches of 64 sentences.
"""

import argparse
import functools
import logging
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
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
from learning import read_text
from rich.table import Table
from torch import nn
from torch.nn import functional as F

State = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True)
class Size:
    name: str
    sentences: int
    words: int | None  # None: those of the built-in corpus
    repeats: int = 3
    width: int = 200
    apart: bool = True  # each way in its own process
    ways: tuple[str, ...] = ("ours", "bare", "ceiling")
    text: tuple[str, Path | None] | None = None  # language and file of prose; no file: the built-in corpus


@dataclass(frozen=True)
class Measured:
    """The best of several runs of one way."""

    tokens_per_second: float
    megabytes: float  # at the peak, above what the process had before


PROSE_WAYS = ("ours", "ours, 64 sentences", "bare", "stream", "ceiling")
PROSE_WORDS = 800_000  # of which the vocabulary is made
SIZES = (Size("few", 6400, None), Size("many", 640, 50_001), Size("prose", 5000, 20_000, ways=PROSE_WAYS, text=("de", None)))
SMALL = (
    Size("many", 64, 2001, 1, 16, apart=False),
    Size("prose", 64, 2001, 1, 16, apart=False, ways=PROSE_WAYS, text=("de", None)),
)


def corpus(size: Size, cache: Path) -> Corpus:
    """Prose; or the built-in German corpus: if more words are wanted, with every word replaced by one of them."""
    if size.text is not None:
        return beginning(read_text(size.text[1], size.text[0], PROSE_WORDS, size.words, cache), size.sentences)
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


def beginning(text: Corpus, sentences: int) -> Corpus:
    """The same text and vocabulary, with fewer sentences to train on."""
    offsets = text.train.offsets[: sentences + 1]
    return replace(text, train=Split(text.train.ids[: offsets[-1]], offsets, 0))


def recipe(size: Size, shape: Shape) -> Recipe:
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
        shape=shape,
        evaluation_tokens=8192,
        seed=1,
        checkpoints=CheckpointSettings(every_n_steps=1000),
        early_stopping=EarlyStoppingSettings(),
        trainer=TrainerSettings(accelerator="cpu", max_epochs=1),
    )


def ours(size: Size, cache: Path) -> float:
    return through_lightning(size, cache, Shape(None, tokens=700) if size.text else Shape(64))


def ours_by_sentences(size: Size, cache: Path) -> float:
    return through_lightning(size, cache, Shape(64))


def through_lightning(size: Size, cache: Path, shape: Shape) -> float:
    """Seconds of the training epoch alone, without validation and set-up, as the run itself reports them."""
    logging.disable()
    text, made = corpus(size, cache), recipe(size, shape)
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

    def forward(self, x: torch.Tensor, state: State | None) -> tuple[torch.Tensor, State]:
        contexts, state = self.lstm(self.dropout(self.embedding(x)), state)
        return self.decoder(self.dropout(contexts)), state


def bare(size: Size, cache: Path) -> float:
    return plain_loop(size, cache, Shape(64), functools.partial(torch.optim.AdamW, lr=0.002), 1.0)


def stream(size: Size, cache: Path) -> float:
    return plain_loop(size, cache, Shape(20, window=35), functools.partial(torch.optim.SGD, lr=20.0), 0.25)


def plain_loop(size: Size, cache: Path, shape: Shape, optimizer: Callable[..., torch.optim.Optimizer], clip: float) -> float:
    text = corpus(size, cache)
    model = Bare(len(text.vocabulary), size.width)
    optimiser = optimizer(model.parameters())
    loader = Loader(text.train, shape, 1, BatchPlan())
    state: State | None = None
    start = time.perf_counter()
    for batch in loader:
        logits, (hidden, cell) = model(batch.inputs, None if batch.fresh else state)
        state = hidden.detach(), cell.detach()
        loss = F.cross_entropy(logits.flatten(0, 1), batch.targets.flatten(), ignore_index=NO_TARGET)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
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


WAYS: dict[str, Callable[[Size, Path], float]] = {
    "ours": ours,
    "ours, 64 sentences": ours_by_sentences,
    "bare": bare,
    "stream": stream,
    "ceiling": ceiling,
}


def _time_way(way: str, size: Size, cache: Path) -> tuple[float, float]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = WAYS[way](size, cache)
    return seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def time_way(way: str, size: Size, cache: Path) -> tuple[float, float]:
    """Seconds, and megabytes at the peak."""
    if not size.apart:
        return _time_way(way, size, cache)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as one:
        return one.submit(_time_way, way, size, cache).result()


def measure(size: Size, cache: Path) -> tuple[Corpus, dict[str, Measured]]:
    """The text, and every way in turn."""
    text = corpus(size, cache)
    found: dict[str, list[tuple[float, float]]] = {way: [] for way in size.ways}
    for _ in range(size.repeats):
        for way, runs in found.items():
            runs.append(time_way(way, size, cache))
    tokens = text.train.tokens
    return text, {way: Measured(tokens / min(s for s, _ in runs), min(m for _, m in runs)) for way, runs in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "sizes", nargs="*", metavar="few|many|prose", help="few and many by default; prose too if there is --text"
    )
    parser.add_argument("--text", type=Path, help="raw prose, .txt or .txt.xz")
    parser.add_argument("--lang", default="de", help="its language")
    parser.add_argument("--small", action="store_true", help="takes seconds, a smoke test: few of everything")
    asked = parser.parse_args()
    known = {size.name: size for size in (SMALL if asked.small else sizes(asked.lang, asked.text))}
    if "prose" in asked.sizes and "prose" not in known:
        parser.error("prose: give --text")
    for size in [known[name] for name in asked.sizes or known]:
        with tempfile.TemporaryDirectory() as folder:
            console.print(show(size, *measure(size, Path(folder))))


def sizes(lang: str, text: Path | None) -> list[Size]:
    """All that can be measured; prose only where there is some."""
    return [replace(size, text=(lang, text)) if size.text else size for size in SIZES if text or not size.text]


def show(size: Size, text: Corpus, measured: dict[str, Measured]) -> Table:
    title = f"{size.name}: {len(text.vocabulary):,} words, {text.train.tokens:,} tokens, best of {size.repeats}"
    view = table(title, "way", numbers=["tokens/s", "ratio to bare", "peak MB above idle", "ratio to bare "])
    bare = measured["bare"]
    for way, found in measured.items():
        speed = f"{found.tokens_per_second:,.0f}", f"{found.tokens_per_second / bare.tokens_per_second:.2f}"
        above = f"{found.megabytes:,.0f}", f"{found.megabytes / max(bare.megabytes, 0.1):.2f}"
        view.add_row(way, *speed, *(above if way != "ceiling" else ("", "")))
    return view


if __name__ == "__main__":
    main()
