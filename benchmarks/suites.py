"""Suites: `python benchmarks/suites.py [--small]`. Every sentence of our English suites, together and one at a time.

A random LSTM of ours (2 × 200) with the words of the suites; together, shared sentence prefixes are read once. CPU seconds of
scoring, and whether all scores agree.
"""

import argparse
import time

import numpy as np
from concord.data.vocabulary import Vocabulary
from concord.lm.model import Architecture, initialise_model
from concord.probes.probe_preparation import make_probe
from concord.probes.scorers.incremental import IncrementalScorer
from concord.settings.probing import ProbeSettings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="a few items per suite: a smoke test")
    small = parser.parse_args().small
    settings = ProbeSettings(
        name="suites", format="syntaxgym", path="suites/{lang}", groupings={}, tier="full", limit=2 if small else None
    )
    sentences = make_probe(settings, "en", "joined").sentences
    words = sorted({word for sentence in sentences for word in sentence.words.split()})
    size = 8 if small else 200
    network = {"name": "lstm", "hidden": size, "layers": 2, "dropout": 0.0}
    model = initialise_model(Architecture(len(words) + 2, size, tied=True, dropout=0.0, init=0.1, network=network), seed=0)
    scorer = IncrementalScorer("lstm", model, Vocabulary(["<eos>", "<unk>", *words]))
    started = time.process_time()
    together = scorer.score(sentences)
    middle = time.process_time()
    alone = [scorer.score([sentence]).logprobs for sentence in sentences]
    ended = time.process_time()
    furthest = max(float(np.abs(together[i] - one).max()) for i, one in enumerate(alone))
    beginnings = scorer.prepare(sentences).contexts()
    print(f"{len(sentences):,} sentences, {len(together.logprobs):,} words, {beginnings:,} distinct prefixes")
    ratio = (ended - middle) / (middle - started)
    print(f"together {middle - started:.2f} s, one at a time {ended - middle:.2f} s, ratio {ratio:.1f}")
    print(f"scores differ by at most {furthest:.1e} nats")


if __name__ == "__main__":
    main()
