"""What a model prefers on the items of a probe."""

from dataclasses import dataclass

from .accuracy import Table, tabulate
from .probe import Probe
from .scorers import WordScores
from .verdicts import Verdicts, judge


@dataclass(frozen=True)
class Answer:
    scores: WordScores
    verdicts: Verdicts
    table: Table


def judge_scores(probe: Probe, scores: WordScores) -> Answer:
    """From scores to verdicts to a table."""
    verdicts = judge(probe, scores)
    return Answer(scores, verdicts, tabulate(probe, verdicts))
