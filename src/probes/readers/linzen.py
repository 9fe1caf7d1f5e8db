"""Linzen, Dupoux and Goldberg (2016), as Goldberg (2019) tests them: a frame with ***mask*** and its two candidate forms.

Columns without a header: how many nouns intervene (all with the other number), the original sentence, the frame, the right
form, the wrong form. The forms are compared in place, so the contrast is the target's.
"""

from collections.abc import Iterator
from pathlib import Path

from ..challenge_set import TARGET, ChallengeSet, SetError, Span, Value, Variant
from ..contrast import pair_contrast
from ..set_file import lines, whole_number

SUFFIXES = {".tsv", ".txt"}
MASK = "***mask***"


def recognises(file: Path, head: str) -> bool:
    return MASK in head.partition("\n")[0]


def read(file: Path, language: str) -> Iterator[ChallengeSet]:
    made = ChallengeSet(file.stem, language, dataset="linzen", file=str(file))
    made.contrasts = (pair_contrast("target", "good", "bad", TARGET),)
    for number, line in lines(file):
        cells = line.split("\t")
        frames = [i for i, cell in enumerate(cells) if cell.split().count(MASK) == 1]
        if len(frames) != 1 or len(cells) < frames[0] + 3:
            raise SetError(
                file, number, f"a row needs a count, a sentence, a frame with one {MASK}, the right and the wrong form, with tabs"
            )
        frame, good, bad = cells[frames[0] : frames[0] + 3]
        if not good.split() or not bad.split():
            raise SetError(file, number, "the right and the wrong form must not be empty")
        made.add(number, _features(cells[: frames[0]]), [_variant(frame, good, True), _variant(frame, bad, False)])
    yield made


def _variant(frame: str, form: str, good: bool) -> Variant:
    words = frame.split()
    at = words.index(MASK)
    filled = (*words[:at], *form.split(), *words[at + 1 :])
    return Variant("good" if good else "bad", good, filled, None, (Span(TARGET, at, at + len(form.split())),))


def _features(cells: list[str]) -> dict[str, Value]:
    """A single count is of attractors, which are then all the nouns in between; of two, the first counts all nouns in between."""
    counts = [count for cell in cells if (count := whole_number(cell)) is not None]
    return {"n_intervening": counts[0], "n_attractors": counts[-1]} if counts else {}
