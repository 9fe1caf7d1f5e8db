"""Every comparison with another way of working, in one run and one table.

    python benchmarks/rivals.py [--parts training probing] [--text novels.txt.xz] [--small]

training    tokens per second, on 800 words, on 50,001 words and, with --text, on German prose: against a plain PyTorch loop, and
            on prose against the same loop reading as word_language_model does and against our earlier batches; and what the
            matrix products alone would allow, which nothing reaches (benchmarks/training.py)
probing     sentences per second of one challenge set, LSTM and Transformer, without and with a scored full stop: against batches
            of 64 (benchmarks/probing.py)
pretrained  sentences per second of Hugging Face models: against minicons, a plain loop and one pair at a time
            (benchmarks/pretrained.py says what to install; left out, with a line, where minicons is missing)

A ratio above 1 means that ours is faster. Seconds are wall time for training and probing and one thread's CPU time for pretrained
models, the best of several; run it on a quiet machine.
"""

import argparse
import importlib.util
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import pretrained
import probing
import training
from concord.terminal import console, table

PARTS = ("training", "probing", "pretrained")
RIVALS = {  # the ways of benchmarks/training.py
    "bare": "plain loop",
    "stream": "word_language_model's batches",
    "ours, 64 sentences": "ours before: 64 sentences",
    "ceiling": "matrix products alone",
}


@dataclass(frozen=True)
class Comparison:
    """Tokens of training, or sentences, per second."""

    what: str
    rival: str
    ours: float
    theirs: float


def train(sizes: list[training.Size]) -> Iterator[Comparison]:
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            text, found = training.measure(size, Path(folder))
        ours = found.pop("ours").tokens_per_second
        for way, measured in found.items():
            what = f"training, {size.name}, {len(text.vocabulary):,} words"
            yield Comparison(what, RIVALS[way], ours, measured.tokens_per_second)


def probe(small: bool) -> Iterator[Comparison]:
    for network in probing.SMALL if small else (probing.LSTM, probing.TRANSFORMER):
        chosen = {"share": 0.5, "repeat": 1, "limit": 100} if small else {"share": 0.05, "repeat": 3}
        for timing in probing.compare(network, None, **chosen):
            ours, theirs = (timing.sentences / seconds for seconds in (timing.ours, timing.batches))
            yield Comparison(f"probing, {timing.what}", "batches of 64", ours, theirs)


def score_pretrained() -> Iterator[Comparison]:
    for found in pretrained.rates():
        yield Comparison(f"pretrained, {found.what}", found.rival, found.ours, found.theirs)


def compare_all(parts: Collection[str], text: Path | None, small: bool) -> Iterator[Comparison]:
    if "training" in parts:
        yield from train(list(training.SMALL) if small else training.sizes("de", text))
    if "probing" in parts:
        yield from probe(small)
    if "pretrained" in parts:
        if importlib.util.find_spec("minicons") is None or small:
            console.print("pretrained models are left out: benchmarks/pretrained.py says what to install")
        else:
            yield from score_pretrained()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="*", default=PARTS, choices=PARTS, help="everything by default")
    parser.add_argument("--text", type=Path, help="raw German prose, .txt or .txt.xz")
    parser.add_argument("--small", action="store_true", help="takes seconds: a smoke test")
    asked = parser.parse_args()
    view = table("Tokens (training) or sentences per second", "what", "rival", numbers=["ours", "theirs", "ratio"])
    for found in compare_all(asked.parts, asked.text, asked.small):
        told = f"{found.ours:,.0f}", f"{found.theirs:,.0f}", f"{found.ours / found.theirs:.2f}"
        console.print(f"{found.what}; {found.rival}: {' / '.join(told)}")  # half an hour of work shows its progress
        view.add_row(found.what, found.rival, *told)
    console.print(view)


if __name__ == "__main__":
    main()
