"""Training and probing on a GPU: `python benchmarks/gpu.py [--precision 32 bf16-mixed 16-mixed] [--steps 200] [--small]`.

Its authors had no GPU to try it on. Tokens per second and peak memory of training (forward, loss, backward, step) for LSTMs and
Transformers of two sizes and 50,001 words, in each precision, and the share of an epoch of 10 million words that probing
simple agreement would take. Without a GPU it runs on the CPU, in the precisions the CPU supports.
"""

import argparse
import time
from dataclasses import dataclass
from typing import Any

import torch
from concord.data.grammar import folder_of
from concord.data.vocabulary import Vocabulary
from concord.lm.loss import summed_nll
from concord.lm.model import Architecture, LanguageModel, initialise_model
from concord.probes.readers.grammar import expand_grammar
from concord.probes.scorers import ProbeSentence
from concord.probes.scorers.incremental import IncrementalScorer
from concord.runs.fit import computes_in_16_bits
from concord.terminal import console, table

KINDS = {"bf16-mixed": torch.bfloat16, "16-mixed": torch.float16}
EPOCH = 10_000_000  # words


@dataclass(frozen=True)
class Size:
    name: str
    width: int
    network: dict[str, Any]
    tokens: int  # in a batch
    words: int = 50_001


def transformer(layers: int, heads: int, feedforward: int) -> dict[str, Any]:
    shape = {"layers": layers, "heads": heads, "feedforward": feedforward, "norm_first": True, "final_norm": True}
    return {"name": "transformer", "dropout": 0.1} | shape


def lstm(hidden: int) -> dict[str, Any]:
    return {"name": "lstm", "hidden": hidden, "layers": 2, "dropout": 0.1}


SIZES = (
    Size("LSTM 2 × 200", 200, lstm(200), 4096),
    Size("LSTM 2 × 800", 800, lstm(800), 4096),
    Size("Transformer 3 × 200", 200, transformer(3, 4, 800), 4096),
    Size("Transformer 12 × 768", 768, transformer(12, 12, 3072), 4096),
)
SMALL = (Size("LSTM 2 × 16", 16, lstm(16), 64, 600), Size("Transformer 1 × 16", 16, transformer(1, 2, 32), 64, 600))


def train(size: Size, device: str, precision: str, steps: int) -> tuple[float, float]:
    """Tokens per second, and peak memory in MB if the device reports it."""
    model = build(size, device).train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler(device, enabled=precision == "16-mixed" and device == "cuda")
    inputs = torch.randint(2, size.words, (size.tokens // 32, 32), device=device)
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()

    def step() -> None:
        with torch.autocast(device, dtype=KINDS.get(precision), enabled=precision in KINDS):
            contexts, _ = model.contexts(inputs)
            nll, tokens = summed_nll(contexts, inputs.roll(-1, 1), model.decoder)
        optimiser.zero_grad()
        scaler.scale(nll / tokens).backward()
        scaler.step(optimiser)
        scaler.update()

    for _ in range(max(steps // 10, 1)):  # warm-up: kernels are chosen and compiled
        step()
    wait(device)
    started = time.perf_counter()
    for _ in range(steps):
        step()
    wait(device)
    taken = time.perf_counter() - started
    peak = torch.cuda.max_memory_allocated() / 1e6 if device == "cuda" else float("nan")
    return steps * inputs.numel() / taken, peak


def probe(size: Size, device: str, items: int) -> float:
    """Seconds for sentences of simple agreement, each scored up to its full stop."""
    texts = [f"{text} ." for text in expand_grammar(folder_of("de"), "simple_agrmt", "de").sentences[: 2 * items]]
    words = sorted({word for text in texts for word in text.split()})
    filled = [f"w{i}" for i in range(size.words - 2 - len(words))]
    scorer = IncrementalScorer("gpu", build(size, device), Vocabulary(["<eos>", "<unk>", *words, *filled]))
    asked = [ProbeSentence(text) for text in texts]
    scorer.score(asked[:64])
    started = time.perf_counter()
    scorer.score(asked)
    return time.perf_counter() - started


def build(size: Size, device: str) -> LanguageModel:
    return initialise_model(Architecture(size.words, size.width, True, 0.1, 0.1, size.network), seed=1).to(device)


def wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--precision", nargs="*", default=["32", "bf16-mixed"], choices=["32", *KINDS])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--small", action="store_true", help="takes seconds: a smoke test")
    asked = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu" and not computes_in_16_bits():
        print("this CPU has no 16-bit arithmetic: only precision 32 is measured")
        asked.precision = ["32"]
    name = torch.cuda.get_device_name() if device == "cuda" else f"no GPU: {torch.get_num_threads()} CPU threads"
    view = table(name, "model", numbers=["precision", "tokens/s", "ratio to 32", "peak MB", "probing s", "share of an epoch"])
    for size in SMALL if asked.small else SIZES:
        taken = probe(size, device, 20 if asked.small else 5_000)
        speeds: dict[str, float] = {}
        for precision in asked.precision:
            speeds[precision], peak = train(size, device, precision, 3 if asked.small else asked.steps)
            epoch = EPOCH / speeds[precision]
            ratio = f"{speeds[precision] / speeds[asked.precision[0]]:.2f}"
            figures = [f"{speeds[precision]:,.0f}", ratio, f"{peak:,.0f}" if device == "cuda" else "–"]
            view.add_row(size.name, precision, *figures, f"{taken:.1f}", f"{taken / (taken + epoch):.1%}")
    console.print(view)


if __name__ == "__main__":
    main()
