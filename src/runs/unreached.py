"""Moments that were asked for and that a run will not come to: told before it begins, not missed at its end."""

from collections.abc import Iterator, Sequence

from ..probes.schedule import ProbeSchedule


def unreached(at_words: Sequence[int], schedule: ProbeSchedule | None, words: int, steps: int, epochs: int) -> Iterator[str]:
    """One line for each kind of moment, with what the run has in all."""
    asked: list[tuple[str, Sequence[float], int, str]] = [("callbacks.checkpoints.at_words", at_words, words, "words")]
    if schedule is not None:
        asked += [
            ("probes.schedule.words", schedule.words, words, "words"),
            ("probes.schedule.steps", schedule.steps, steps, "steps"),
            ("probes.schedule.epochs", schedule.epochs, epochs, "epochs"),
        ]
    for name, moments, end, unit in asked:
        if late := [f"{moment:,g}" if moment < 1e6 else f"{int(moment):,}" for moment in moments if moment > end]:
            yield f"{name}: {', '.join(late)} will not be reached; this run ends after {end:,} {unit}"
