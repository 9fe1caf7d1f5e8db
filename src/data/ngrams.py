"""How often tokens stand together in a corpus; only what is asked for is counted, in one pass."""

import numpy as np
from numpy.typing import NDArray

CHUNK = 1 << 20
Ids = NDArray[np.int64]


def count_ngrams(ids: Ids, order: int, corpus: NDArray[np.unsignedinteger], vocabulary: int) -> list[Ids]:
    """For each order up to this, how often the last so many tokens at every place of `ids` stand together in the corpus."""
    wanted = [np.unique(_keys(ids, n, vocabulary), return_inverse=True) for n in range(1, order + 1)]
    found = [np.zeros(len(keys), np.int64) for keys, _ in wanted]
    overlap = order - 1
    for start in range(0, len(corpus), CHUNK):
        reach = corpus[max(start - overlap, 0) : start + CHUNK].astype(np.int64)
        # The corpus begins after an <eos>, as every sentence does.
        reach = np.concatenate([np.zeros(overlap, np.int64), reach]) if start == 0 else reach
        for n, (keys, _) in enumerate(wanted):
            there = _keys(reach, n + 1, vocabulary)[overlap:]
            places = np.minimum(np.searchsorted(keys, there), len(keys) - 1)
            found[n] += np.bincount(places[keys[places] == there], minlength=len(keys))
    return [counts[which] for counts, (_, which) in zip(found, wanted, strict=True)]


def _keys(ids: Ids, order: int, vocabulary: int) -> Ids:
    """One number for the last `order` tokens at every place."""
    keys = np.zeros(len(ids), np.int64)
    for back in range(order - 1, -1, -1):
        keys = keys * vocabulary + np.roll(ids, back)
    return keys
