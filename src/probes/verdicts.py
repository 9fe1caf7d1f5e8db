"""Verdicts: from the log-probability of every word to what a model prefers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from .probe import Probe
from .scorers import WordScores


@dataclass(frozen=True)
class Verdicts:
    """A row a contrast. `verdict` is 1, 0, or what a tie is worth; it means nothing where the item is not covered."""

    better: NDArray[np.float64]  # nats
    worse: NDArray[np.float64]
    verdict: NDArray[np.float64]
    tie: NDArray[np.bool_]
    covered: NDArray[np.bool_]
    unknown_context: NDArray[np.bool_]  # a word of the context is unknown


def judge(probe: Probe, scores: WordScores) -> Verdicts:
    """Compare what each contrast compares."""
    better, worse = _over(scores.logprobs, scores, probe, probe.contrasts.compared)
    tie = better == worse
    worth = {"half": 0.5, "correct": 1.0, "wrong": 0.0}[probe.contract.rules.ties]
    covered, unknown_context = covered_contrasts(probe, scores)
    return Verdicts(better, worse, np.where(tie, worth, better > worse), tie, covered, unknown_context)


def covered_contrasts(probe: Probe, scores: WordScores) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which contrasts can be scored, and in which of them a word of the context is unknown."""
    lengths = np.diff(scores.firsts)[probe.contrasts.sentences]
    sentences = np.stack([np.zeros_like(lengths), lengths], axis=-1)
    anywhere = np.stack(_over(scores.unknown, scores, probe, sentences))  # (2, C)
    inside = np.stack(_over(scores.unknown, scores, probe, probe.contrasts.varied))
    unknown_context: NDArray[np.bool_] = np.any(anywhere > inside, axis=0)
    if probe.contract.rules.unknown == "unk":
        return np.ones(len(probe.contrasts), bool), unknown_context
    covered: NDArray[np.bool_] = np.all(inside == 0, axis=0)
    if probe.contract.rules.unknown == "error" and (unknown_context.any() or not covered.all()):
        raise UserError(_refusal(probe, scores))
    return covered, unknown_context


def _over(
    values: NDArray[np.float32] | NDArray[np.bool_], scores: WordScores, probe: Probe, spans: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums over stretches of words (C, 2, 2), of the better and of the worse sentence. In 64 bits: sums are compared exactly.

    Each stretch is added up by itself, from left to right, so that equal words give equal sums wherever they stand.
    """
    places = scores.firsts[probe.contrasts.sentences][..., None] + spans  # (C, 2, 2)
    totals = []
    for side in (0, 1):
        starts, ends = places[:, side, 0], places[:, side, 1]
        total = np.zeros(len(starts), np.float64)
        for step in range(int((ends - starts).max(initial=0))):
            going = starts + step < ends
            total[going] += values[starts[going] + step]
        totals.append(total)
    return totals[0], totals[1]


def _refusal(probe: Probe, scores: WordScores) -> str:
    words = [word for sentence in probe.sentences for word in sentence.words.split()]
    unknown = list(dict.fromkeys(word for word, flag in zip(words, scores.unknown, strict=True) if flag))
    shown = ", ".join(unknown[:8]) + (" …" if len(unknown) > 8 else "")
    return (
        f"probes.protocol={probe.contract.label} admits no unknown word, and the model does not know {len(unknown):,}: {shown}. "
        "Take a larger vocabulary, or probes.rules.unknown=uncovered"
    )
