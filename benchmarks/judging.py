"""Half a million contrasts: `python benchmarks/judging.py [--small]`. CPU seconds (best of three) and megabytes.

Build: sentences and contrasts of a set become a probe, once per run. Judge: word scores become verdicts, at every probe.
Table: verdicts become accuracies by construction and group.
"""

import argparse
import random
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from concord.probes.accuracy import tabulate
from concord.probes.challenge_set import ChallengeSet, Span, Variant
from concord.probes.collection import CollectedSet
from concord.probes.contract import Contract, Rules, apply_rules
from concord.probes.contrast import Clause, Contrast, SpanTerm
from concord.probes.probe import Probe, build_probe
from concord.probes.scorers import WordScores
from concord.probes.verdicts import judge
from concord.terminal import console, table

NUMBERS = ("singular", "plural")


def words_of(rng: random.Random) -> list[str]:
    return [f"w{rng.randrange(3000)}" for _ in range(rng.randrange(4, 14))]


def pairs(count: int) -> ChallengeSet:
    """Pairs of sentences of 5 to 14 words that differ in one."""
    made, rng = ChallengeSet("pairs", "en", "made", "made"), random.Random(0)
    for number in range(count):
        words = words_of(rng)
        features = {"subject_number": NUMBERS[number % 2], "attractor_number": NUMBERS[number // 2 % 2]}
        forms = (("good", True, f"v{number}"), ("bad", False, f"u{number}"))
        made.add(number, features, [Variant(role, flag, (*words, form), None, ()) for role, flag, form in forms])
    return made


def formulas(count: int) -> ChallengeSet:
    """Four conditions with one region each; two inequalities and a difference of differences must hold."""
    term = {role: SpanTerm(role, "verb") for role in "abcd"}
    clauses = (
        Clause((term["a"],), (term["b"],)),
        Clause((term["c"],), (term["d"],)),
        Clause((term["a"], term["b"]._replace(weight=-1.0)), (term["d"], term["c"]._replace(weight=-1.0))),
    )
    made, rng = ChallengeSet("formulas", "en", "made", "made", (Contrast("all", (clauses,), tested="named"),)), random.Random(0)
    for number in range(count):
        words = words_of(rng)
        spans = (Span("verb", len(words), len(words) + 1),)
        made.add(number, {}, [Variant(role, None, (*words, f"{role}{number}"), None, spans) for role in "abcd"])
    return made


def scores_of(probe: Probe) -> WordScores:
    lengths = np.array([sentence.words.count(" ") + 1 for sentence in probe.sentences])
    firsts = np.concatenate([[0], np.cumsum(lengths)])
    rng = np.random.default_rng(0)
    return WordScores(firsts, rng.normal(-5, 2, firsts[-1]).astype(np.float32), rng.random(firsts[-1]) < 0.001)


def measure(what: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Seconds, and peak megabytes."""
    seconds = []
    for _ in range(repeats):
        started = time.process_time()
        what()
        seconds.append(time.process_time() - started)
    tracemalloc.start()
    what()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return min(seconds), peak / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="takes seconds: a smoke test")
    small = parser.parse_args().small
    count, repeats = (2_000, 1) if small else (500_000, 3)
    contract = Contract("default", Rules())
    view = table(f"{count:,} contrasts", "contrasts", "step", numbers=["seconds", "MB"])
    for make in (pairs, formulas):
        ruled = apply_rules(make(count), contract.rules)[0]
        collected = [CollectedSet(ruled, "own", count, 0, "", contract)]
        started = time.process_time()
        probe = build_probe("made", "en", collected)
        view.add_row(make.__name__, "build", f"{time.process_time() - started:.2f}", "")
        scores = scores_of(probe)
        verdicts = judge(probe, scores)
        for step, what in (("judge", lambda: judge(probe, scores)), ("table", lambda: tabulate(probe, verdicts))):
            seconds, megabytes = measure(what, repeats)
            view.add_row(make.__name__, step, f"{seconds:.2f}", f"{megabytes:.0f}")
        held = sum(part.nbytes for part in columns(probe))
        view.add_row(make.__name__, "columns of contrasts, kept", "", f"{held / 1e6:.0f}")
    console.print(view)


def columns(probe: Probe) -> list[np.ndarray]:
    contrasts = probe.contrasts
    tables = (contrasts, contrasts.clauses, contrasts.terms, contrasts.tested)
    return [value for each in tables for value in vars(each).values() if isinstance(value, np.ndarray)]


if __name__ == "__main__":
    main()
