"""Where scorers disagree: item by item, since equal accuracies may hide different verdicts."""

import itertools
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Disagreement(NamedTuple):
    """Two scorers on the items that both cover."""

    one: str
    other: str
    n: int
    differ: int
    only_one: int  # the first scores higher: right where the other is wrong or tied
    only_other: int

    @property
    def share(self) -> float:
        """Of the items that both cover; NaN if there are none."""
        return self.differ / self.n if self.n else float("nan")


def disagreements(verdicts: Mapping[str, NDArray[np.floating]]) -> list[Disagreement]:
    """Every pair of scorers, in the given order. A verdict is 1, 0, in between for a tie, or NaN for uncovered."""
    sizes = {name: values.shape for name, values in verdicts.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"verdicts must be about the same items; these differ in number: {sizes}")
    rows = []
    for one, other in itertools.combinations(verdicts, 2):
        first, second = verdicts[one], verdicts[other]
        both = ~np.isnan(first) & ~np.isnan(second)
        higher, lower = int((first > second)[both].sum()), int((first < second)[both].sum())
        rows.append(Disagreement(one, other, int(both.sum()), higher + lower, higher, lower))
    return rows
