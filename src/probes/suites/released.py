"""Defects of the released English suites that only a reader finds; the others are found by rules."""

from typing import NamedTuple


class Defect(NamedTuple):
    """Reported if a suite of this name still has this formula (without blanks)."""

    suite: str
    formula: str
    note: str


RELEASED = (
    Defect(
        "fgd_hierarchy",
        "[(6;%what_nogap%)>(6;%that_nogap%)]&[(6;%what_subjgap%)<(6;%that_subjgap%)]",
        "prediction 1 reads region 6 in the clause without a gap, though the object that fills the gap is region 5",
    ),
)
