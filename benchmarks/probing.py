"""Scoring a challenge set: the prefix tree against length-bucketed batches of 64 and against one sentence at a time.

    python benchmarks/probing.py [--transformer] [--share 0.1] [--repeat 3] [--set FILE] [--small]

A random model of 50,001 words (LSTM 2 × 800; or a Transformer of 4 × 512) and the French sentences across a subject relative,
with every word's score kept. The rivals are measured on a share of the batches and on 300 single sentences, and extrapolated;
ours on everything, the best of several. --set names the published set; by default ours is used. With --small both networks
have a few units and score a few sentences, as a smoke test.
"""

import argparse
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from concord.lm.model import Architecture, LanguageModel, initialise_model
from concord.places import cache_folder
from concord.probes.collection import ItemSelection, collect, locate
from concord.probes.contract import Contract, Rules
from concord.probes.scorers import ProbeSentence
from concord.probes.scorers.incremental import IncrementalScorer

V = 50_001
PUBLISHED = Path(__file__).resolve().parents[2] / "shared/reference/clams_fr/evalset/subj_rel.txt.xz"
LSTM = {"name": "lstm", "hidden": 800, "layers": 2, "dropout": 0.2}
TRANSFORMER = {
    "name": "transformer",
    "layers": 4,
    "heads": 8,
    "feedforward": 2048,
    "dropout": 0.1,
    "norm_first": True,
    "final_norm": True,
}
WIDTH = 512  # of the Transformer; the LSTM's is that of its layers
SMALL = (LSTM | {"hidden": 16}, TRANSFORMER | {"layers": 1, "feedforward": 16})


@dataclass(frozen=True)
class Timing:
    """Seconds for one set, by each method, and how far their scores differ."""

    what: str
    sentences: int
    ours: float
    batches: float
    one_at_a_time: float
    note: str


def sentences(path: Path, final: bool, limit: int | None) -> list[str]:
    chosen = ItemSelection(() if path.is_file() else ("subj_rel",), limit, contract=Contract("default", Rules(final=final)))
    form = "clams" if path.is_file() else "grammar"
    return [text for each in collect(path, "fr", form, cache_folder("sets"), chosen) for text in each.challenge_set.sentences]


def numbered(texts: list[str]) -> dict[str, int]:
    words = sorted({word for text in texts for word in text.split()})
    return dict(zip(words, random.Random(0).sample(range(2, V), len(words)), strict=True))


class Numbered:
    """Words at random positions of a vocabulary."""

    eos, unk = 0, 1

    def __init__(self, numbers: dict[str, int]) -> None:
        self.numbers = numbers

    def encode_word(self, word: str) -> list[int]:
        return [self.numbers[word]]


def in_batches(model: LanguageModel, ids: list[list[int]], size: int) -> list[list[float]]:
    """Sentences of equal length side by side, the whole softmax at every position: the usual method."""
    found: list[list[float]] = []
    with torch.no_grad():
        for at in range(0, len(ids), size):
            targets = torch.tensor(ids[at : at + size])
            inputs = torch.cat([torch.zeros_like(targets[:, :1]), targets[:, :-1]], dim=1)
            logprobs, _ = model(inputs)
            found += logprobs.gather(2, targets[:, :, None])[:, :, 0].tolist()
    return found


def timed(work, repeat: int):
    best, result = float("inf"), None
    for _ in range(repeat):
        started = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - started)
    return best, result


def measure(model: LanguageModel, what: str, texts: list[str], share: float, repeat: int) -> Timing:
    numbers = numbered(texts)
    ids = [[numbers[word] for word in text.split()] for text in texts]
    asked = [ProbeSentence(text) for text in texts]
    scorer = IncrementalScorer("ours", model, Numbered(numbers))
    ours, scores = timed(lambda: scorer.score(asked), repeat)
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    buckets = [order[at : at + 64] for at in range(0, len(order), 64)]
    buckets = [bucket for bucket in buckets if len({len(ids[i]) for i in bucket}) == 1]
    some = random.Random(1).sample(buckets, max(int(len(buckets) * share), 1))
    took, batched = timed(lambda: [in_batches(model, [ids[i] for i in bucket], 64) for bucket in some], repeat)
    batches = took * len(texts) / sum(map(len, some))
    few = random.Random(2).sample(range(len(ids)), min(300, len(ids)))
    took, _ = timed(lambda: [in_batches(model, [ids[i]], 1) for i in few], 1)
    singly = took * len(texts) / len(few)
    theirs = {
        i: sum(values) for bucket, found in zip(some, batched, strict=True) for i, values in zip(bucket, found, strict=True)
    }
    mine = {i: float(scores[i].sum(dtype=np.float64)) for i in theirs}
    worst = max(abs(mine[i] - theirs[i]) for i in theirs)
    pairs = [i for i in theirs if i % 2 == 0 and i + 1 in theirs]
    differ = sum((mine[i] > mine[i + 1]) != (theirs[i] > theirs[i + 1]) for i in pairs)
    forest = scorer.prepare(asked)
    note = (
        f"{sum(map(len, ids)):,} words, {forest.contexts():,} contexts; best of {repeat}, batches from {len(some)} of "
        f"{len(buckets)}, single sentences from {len(few)}; largest difference {worst:.1e} nats per sentence, "
        f"{differ} of {len(pairs):,} verdicts differ"
    )
    return Timing(what, len(texts), ours, batches, singly, note)


def show(timing: Timing) -> None:
    print(f"{timing.what}: {timing.sentences:,} sentences, {timing.note}")
    print(f"  ours           {timing.ours:8.1f} s   {timing.sentences / timing.ours:,.0f} sentences/s")
    print(f"  batches of 64  {timing.batches:8.1f} s   {timing.batches / timing.ours:6.1f} × ours")
    print(f"  one at a time  {timing.one_at_a_time:8.1f} s   {timing.one_at_a_time / timing.ours:6.1f} × ours")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--transformer", action="store_true")
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--set", type=Path)
    parser.add_argument("--small", action="store_true", help="takes seconds: a smoke test")
    arguments = parser.parse_args()
    if arguments.small:
        timings = [timing for network in SMALL for timing in compare(network, arguments.set, 0.5, 1, limit=100)]
    else:
        timings = compare(TRANSFORMER if arguments.transformer else LSTM, arguments.set, arguments.share, arguments.repeat)
    for timing in timings:
        show(timing)


def compare(network: dict, file: Path | None, share: float, repeat: int, limit: int | None = None) -> Iterator[Timing]:
    """Without a final token, and closed by a full stop that is scored."""
    width = network.get("hidden", WIDTH if limit is None else 16)
    model = initialise_model(Architecture(V, width, tied=False, dropout=0.2, init=0.1, network=network), 1).eval()
    path = file or (PUBLISHED if PUBLISHED.exists() and limit is None else locate("grammars/{lang}", "fr"))
    for final in (False, True):
        what = f"{network['name']}, {'full stop' if final else 'no full stop'}"
        timing = measure(model, what, sentences(path, final, limit), share, repeat)
        about = f"{'the published set' if path == PUBLISHED else path.name}, {model.parameter_count():,} parameters"
        yield replace(timing, note=f"{about}, {torch.get_num_threads()} threads, {timing.note}")


if __name__ == "__main__":
    main()
