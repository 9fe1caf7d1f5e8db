"""Verdicts: from the log-probability of every word to a model's preferences."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from .contrast import METRICS
from .contrast_chance import ABSOLUTE, RELATIVE
from .contrast_table import Contrasts
from .probe import Probe
from .scorers import WordScores

log = logging.getLogger(__name__)
Floats = NDArray[np.float64]
TOGETHER = 1 << 18  # spans summed at a time
MEASURES: dict[str, Callable[[Floats], float]] = {
    "mean": np.mean,
    "median": np.median,
    "min": np.min,
    "max": np.max,
    "range": np.ptp,
}


@dataclass(frozen=True)
class ClauseScores:
    """One row per comparison: both sides, and its margin, negative if it fails. In nats, unless scaled."""

    left: Floats
    right: Floats
    margin: Floats
    terms: Floats  # one row per summed span: its value, before weighting


@dataclass(frozen=True)
class Verdicts:
    """One row per contrast. `verdict` is 1, 0, or the worth of a tie; it is meaningless if the item is not covered."""

    verdict: Floats
    tie: NDArray[np.bool_]
    covered: NDArray[np.bool_]
    unknown_context: NDArray[np.bool_]  # a word outside the tested ones is unknown
    margin: Floats  # of the deciding comparison
    clauses: ClauseScores | None = None  # rules without a model have no scores


def judge(probe: Probe, scores: WordScores) -> Verdicts:
    """Compare what each contrast compares."""
    scores.require_finite(nan_too=not probe.contract.nan_is_lowest)
    covered, unknown_context = covered_contrasts(probe, scores)
    clauses = compare(probe.contrasts, scores, _divisors(probe, scores), probe.contract.nan_is_lowest)
    if lowest := int((np.isinf(clauses.left) | np.isinf(clauses.right)).sum()):
        log.warning(
            "%s of %s comparisons have a side that is not a number: it counts as −∞", f"{lowest:,}", f"{len(clauses.left):,}"
        )
    strictly = (clauses.margin > 0) | (probe.contrasts.clauses.equal & (clauses.margin == 0))
    holds = _in_contrasts(strictly, probe.contrasts)
    # Tied if it would hold should every tie hold.
    tie = ~holds & _in_contrasts(clauses.margin >= 0, probe.contrasts)
    verdict = np.where(tie, probe.contrasts.tie_worth, holds)
    return Verdicts(verdict, tie, covered, unknown_context, _in_contrasts(clauses.margin, probe.contrasts), clauses)


def _divisors(probe: Probe, scores: WordScores) -> Floats | None:
    """What each term is divided by: the length of its sentence, as measured by the rule `normalize`; None: nothing.

    Tokens are the model's, or words if it has no others. Sets with their own rules, such as suites, are not divided.
    """
    by, contrasts = probe.contract.rules.normalize, probe.contrasts
    if by == "none":
        return None
    if by == "tokens":
        counted = np.ones(len(scores.logprobs)) if scores.pieces is None else scores.pieces
        lengths = np.diff(np.concatenate([[0], np.cumsum(counted)])[scores.firsts])
    else:
        texts = [each.text or each.words for each in probe.sentences]
        lengths = np.array([len(text.encode()) if by == "bytes" else len(text) for text in texts])
    fixed = np.array([bool(made.fixed_rules) for made in probe.sets])
    owner = contrasts.set[contrasts.clauses.contrast[contrasts.terms.clause]]
    return np.where(fixed[owner], 1.0, np.maximum(lengths, 1)[contrasts.terms.sentence])


def compare(
    contrasts: Contrasts, scores: WordScores, divisors: Floats | None = None, nan_is_lowest: bool = False
) -> ClauseScores:
    """Both sides of every clause, their words and spans summed from left to right.

    Log-probabilities have 24 bits and their sums 53, so equal sums are equal in whatever order they are added. So they are
    summed first and scaled last; surprisals in bits would differ in the last digit, and a tie would be won or lost by it.
    `nan_is_lowest`: a span whose log-probability is NaN counts as minus infinity.
    """
    terms, clauses = contrasts.terms, contrasts.clauses
    values = _span_values(contrasts, scores)
    if nan_is_lowest:
        values[np.isnan(values)] = -np.inf
    if divisors is not None:
        values = values / divisors
    weighted = values if (terms.weight == 1.0).all() else values * terms.weight
    sides = np.zeros((len(clauses.contrast), 2))
    places = terms.clause.astype(np.int64) * 2 + terms.side
    for turn, own in enumerate(_turns(places)):
        if turn == 0:
            sides.reshape(-1)[places[own]] = weighted[own]
        else:
            sides.reshape(-1)[places[own]] += weighted[own]
    scale = contrasts.scale[clauses.contrast]
    sides = sides * scale[:, None] + clauses.constants
    left, right = sides[:, 0], sides[:, 1]
    same = left == right  # also if both are minus infinity
    margin = np.subtract(left, right, out=np.zeros_like(left), where=~same)
    if clauses.equal.any():
        tolerance = ABSOLUTE + RELATIVE * np.abs(right) - np.abs(margin)
        margin = np.where(clauses.equal, tolerance, margin)
    return ClauseScores(left, right, margin, values * scale[terms.clause])


def _turns(places: NDArray[np.int64]) -> Iterator[NDArray[np.int64] | slice]:
    """The first term of every side, then the second of every side that has two, and so on."""
    new = np.concatenate([[True], places[1:] != places[:-1]])
    if new.all():
        yield slice(None)
        return
    starts = np.flatnonzero(new)
    turns = np.arange(len(places)) - np.repeat(starts, np.diff([*starts, len(places)]))
    for turn in range(int(turns.max()) + 1):
        yield np.flatnonzero(turns == turn)


def _span_values(contrasts: Contrasts, scores: WordScores) -> Floats:
    """Each term's metric over the words of its span, unscaled; a few at a time, which bounds memory."""
    terms = contrasts.terms
    found = np.empty(len(terms.clause))
    for start in range(0, len(found), TOGETHER):
        some = slice(start, start + TOGETHER)
        first = scores.firsts[terms.sentence[some]]
        starts, ends = first + terms.start[some], first + terms.end[some]
        found[some] = _sums(scores.logprobs, starts, ends)
        contrast = contrasts.clauses.contrast[terms.clause[some]]
        metric, scale = contrasts.metric[contrast], contrasts.scale[contrast]
        for number in np.unique(metric[metric > 0]):
            own = np.flatnonzero(metric == number)
            found[start + own] = _other_metric(METRICS[number], scores.logprobs, starts[own], ends[own], scale[own])
    return found


def _sums(values: NDArray[np.float32], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Floats:
    """Each stretch is summed separately, from left to right, so that equal words give equal sums wherever they occur."""
    lengths = ends - starts
    order = np.argsort(-lengths, kind="stable")  # the longest first: at every step the unfinished ones are at the front
    starts = starts[order]
    going_on = np.searchsorted(-lengths[order], -np.arange(1, int(lengths.max(initial=0)) + 1), side="right")
    total = np.zeros(len(starts))
    for step, count in enumerate(going_on):
        total[:count] += values[starts[:count] + step]
    found = np.empty_like(total)
    found[order] = total
    return found


def _other_metric(
    metric: str, values: NDArray[np.float32], starts: NDArray[np.int64], ends: NDArray[np.int64], scale: Floats
) -> Floats:
    """For non-empty spans; an empty one is NaN. Scaled, since the sign decides which is smallest, then unscaled."""
    found = np.full(len(starts), np.nan)
    measure = MEASURES[metric]
    for row, (start, end, factor) in enumerate(zip(starts.tolist(), ends.tolist(), scale.tolist(), strict=True)):
        words = values[start:end].astype(np.float64) * factor
        if len(words):
            found[row] = measure(words) / factor
    return found


def _in_contrasts(values: NDArray, contrasts: Contrasts) -> NDArray:
    """The smallest of every group, then the largest of every contrast; for truth values: all of a group, any of a contrast."""
    clauses = contrasts.clauses
    groups = np.flatnonzero(np.concatenate([[True], clauses.group[1:] != clauses.group[:-1]]))
    if len(groups) == len(values) == len(contrasts):
        return values
    smallest = np.minimum.reduceat(values, groups)
    owner = clauses.contrast[groups]
    return np.maximum.reduceat(smallest, np.flatnonzero(np.concatenate([[True], owner[1:] != owner[:-1]])))


def covered_contrasts(probe: Probe, scores: WordScores) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which contrasts can be scored, and in which of them a context word is unknown."""
    covered, unknown_context = _known_contrasts(probe, scores)
    return covered & _separable_contrasts(probe.contrasts, scores), unknown_context


def _separable_contrasts(contrasts: Contrasts, scores: WordScores) -> NDArray[np.bool_]:
    """Contrasts whose spans have their own scores: if a source scores whole regions, a single word may have none."""
    found = np.ones(len(contrasts), bool)
    if scores.inseparable is None or not scores.inseparable.any():
        return found
    terms = contrasts.terms
    first, last = scores.firsts[terms.sentence], scores.firsts[terms.sentence + 1]
    starts, ends = first + terms.start, first + terms.end
    marks = np.append(scores.inseparable, False)
    cut = (starts < ends) & (marks[starts] | ((ends < last) & marks[ends]))
    found[contrasts.clauses.contrast[terms.clause[cut]]] = False
    return found


def _known_contrasts(probe: Probe, scores: WordScores) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    tested, count = probe.contrasts.tested, len(probe.contrasts)
    if not scores.unknown.any():
        return np.ones(count, bool), np.zeros(count, bool)
    before = np.concatenate([[0], np.cumsum(scores.unknown, dtype=np.int32)])
    first = scores.firsts[tested.sentence]
    inside = before[first + tested.end] - before[first + tested.start]
    anywhere = np.where(tested.again, 0, before[scores.firsts[tested.sentence + 1]] - before[first])
    starts = np.flatnonzero(np.concatenate([[True], tested.contrast[1:] != tested.contrast[:-1]]))
    unknown_inside = np.add.reduceat(inside, starts)
    unknown_context: NDArray[np.bool_] = np.add.reduceat(anywhere, starts) > unknown_inside
    if probe.contract.rules.unknown == "unk":
        if scores.left_out is None:
            return np.ones(count, bool), unknown_context
        without = np.concatenate([[0], np.cumsum(scores.left_out, dtype=np.int32)])
        return np.add.reduceat(without[first + tested.end] - without[first + tested.start], starts) == 0, unknown_context
    covered: NDArray[np.bool_] = unknown_inside == 0
    if probe.contract.rules.unknown == "error" and (unknown_context.any() or not covered.all()):
        raise UserError(_refusal(probe, scores))
    return covered, unknown_context


def unknown_words(probe: Probe, scores: WordScores) -> list[str]:
    """The words of the sets that the model does not know, each once, in order of appearance."""
    words = [word for sentence in probe.sentences for word in sentence.words.split()]
    return list(dict.fromkeys(word for word, flag in zip(words, scores.unknown, strict=True) if flag))


def _refusal(probe: Probe, scores: WordScores) -> str:
    unknown = unknown_words(probe, scores)
    shown = ", ".join(unknown[:8]) + (" …" if len(unknown) > 8 else "")
    return (
        f"probes.protocol={probe.contract.label} allows no unknown words, but the model does not know {len(unknown):,}: {shown}. "
        "Use a larger vocabulary, or probes.rules.unknown=uncovered"
    )
