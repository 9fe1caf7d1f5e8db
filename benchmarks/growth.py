"""How time and memory grow with size: preparation, training, probing and report at 1 ×, 4 × and 16 ×.

    python benchmarks/growth.py [--lang de] [--text novels.txt.xz] [--words 60000] [--small]

Every step is the command a user types, in its own process: its CPU seconds and peak resident memory, on one thread. Training
is one epoch of the default LSTM on the given number of words (10,000 of them in the vocabulary); probing evaluates its
checkpoint on the given number of items; a report covers the given number of runs of ten epochs. Without --text the words are
those of the built-in grammar. The last lines of the table can be scaled up: docs/growth.md.
"""

import argparse
import lzma
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from concord.data.grammar import folder_of, load
from concord.data.grammar.sample import Draw
from concord.terminal import console, table

from report import made as write_runs

ROOT = Path(__file__).resolve().parents[1]
FACTORS = (1, 4, 16)
ITEMS, RUNS, EPOCHS = 60, 3, 10  # per construction; at 1 ×
# A process inherits the memory count of its parent, so a small one starts it.
SMALL_PARENT = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss)
sys.exit(status)
"""


@dataclass(frozen=True)
class Cost:
    """What one command took."""

    seconds: float  # CPU seconds
    megabytes: float  # peak resident memory

    def per(self, count: int) -> str:
        return f"{count / self.seconds:,.0f} / s"


def cost(folder: Path, *command: str) -> Cost:
    environment = os.environ | {"OMP_NUM_THREADS": "1", "CONCORD_CACHE": str(folder / "cache")}
    started = [sys.executable, "-c", SMALL_PARENT, sys.executable, *command]
    done = subprocess.run(started, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    seconds, kilobytes = map(float, done.stdout.split()[-2:])
    return Cost(seconds, kilobytes / 1e3)


def paragraphs(text: Path | None, language: str) -> Iterator[str]:
    if text is None:
        yield from Draw(load(folder_of(language), "corpus"), 0)
        return
    with lzma.open(text, "rt", encoding="utf-8") if text.suffix == ".xz" else text.open(encoding="utf-8") as lines:
        yield from lines


def write_text(file: Path, text: Path | None, language: str, words: int) -> int:
    """The first `words` words, in whole paragraphs."""
    written = 0
    with file.open("w", encoding="utf-8") as out:
        for line in paragraphs(text, language):
            out.write(line.rstrip("\n") + "\n")
            written += len(line.split())
            if written >= words:
                break
    return written


def costs(work: Path, words: int, items: int, runs: int, lang: str, text: Path | None) -> Iterator[tuple[str, str, Cost, str]]:
    """Preparation, training, probing and report at one size."""
    train, evaluate = str(ROOT / "train.py"), str(ROOT / "evaluate.py")
    written = write_text(work / "text.txt", text, lang, words)
    corpus = [
        "data=text",
        "data.path=text.txt",
        f"lang={lang}",
        "data.workers=1",
        "logger=none",
        "tokenizer.vocabulary_size=10000",
    ]
    corpus += ["tokenizer.vocabulary_size=10000"]
    size = f"{written:,} words"
    prepared = cost(work, train, *corpus, "prepare=true")
    yield "preparation", size, prepared, prepared.per(written)
    trained = cost(work, train, *corpus, "name=grown", "trainer.max_epochs=1", "probes=none", "trainer.threads=1")
    yield "training, one epoch", size, trained, trained.per(written)
    checkpoint = "ckpt_path=runs/grown/checkpoints/best.ckpt"
    asked = cost(work, evaluate, checkpoint, f"probes.limit={items}", "probes.lexicon=fixed", "probes.rules.unknown=unk")
    yield "probing", f"{7 * items:,} items", asked, asked.per(7 * items)
    write_runs(work / "many", runs, EPOCHS)
    reported = cost(work, "-m", "concord.commands.report", "many", "--out", "report")
    yield "report", f"{runs} runs", reported, reported.per(runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lang", default="de")
    parser.add_argument("--text", type=Path)
    parser.add_argument("--words", type=int, default=60_000, help="at 1 ×")
    parser.add_argument("--small", action="store_true", help="takes seconds: a smoke test")
    asked = parser.parse_args()
    words, factors = (2_000, FACTORS[:1]) if asked.small else (asked.words, FACTORS)
    view = table("growth", "step", "size", numbers=["seconds", "MB", "speed"])
    for factor in factors:
        with tempfile.TemporaryDirectory() as temporary:
            for step, size, took, speed in costs(
                Path(temporary), words * factor, ITEMS * factor, RUNS * factor, asked.lang, asked.text
            ):
                view.add_row(step, size, f"{took.seconds:.1f}", f"{took.megabytes:,.0f}", speed)
                print(f"{factor:>3} × {step}: {took.seconds:.1f} s, {took.megabytes:,.0f} MB", flush=True)
    console.print(view)


if __name__ == "__main__":
    main()
