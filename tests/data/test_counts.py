"""Counting in bounded memory gives what counting in plenty gives."""

from collections import Counter

import numpy as np
from concord.data.vocabulary import Counts
from hypothesis import given, settings
from hypothesis import strategies as st

WORDS = st.text(st.characters(blacklist_categories=("Cs", "Zs", "Zl", "Zp", "Cc")), min_size=1, max_size=3)


@settings(max_examples=50)
@given(st.lists(st.dictionaries(WORDS, st.integers(0, 5), max_size=8), max_size=12), st.integers(1, 20))
def test_a_table_that_goes_to_disk_counts_the_same(tmp_path_factory, blocks, limit):
    counts = Counts(tmp_path_factory.mktemp("counts"), limit=limit)
    expected: Counter[str] = Counter()
    for block in blocks:
        counts.add(list(block), np.array(list(block.values()), dtype=np.int64))
        expected.update({word: count for word, count in block.items() if count})
    assert dict(counts) == expected
    assert [word for word, _ in counts] == sorted(expected)
    assert counts.types() == len(expected)
    ranked = sorted(expected.items(), key=lambda entry: (-entry[1], entry[0]))
    assert counts.most_frequent(5) == ranked[:5]
    assert counts.most_frequent(None) == ranked
    counts.remove()
    assert not list(counts.folder.iterdir())
