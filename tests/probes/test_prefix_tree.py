"""The prefix tree: every distinct beginning once, and nothing else."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from concord.probes.prefix_tree import grow_tree, tree_blocks
from concord.probes.readers import reader
from hypothesis import given
from hypothesis import strategies as st

CLAMS = Path(__file__).parents[3] / "shared/reference/clams_fr/evalset"
sentences = st.lists(st.lists(st.integers(0, 4), max_size=6), max_size=30)


def flat(sentences: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    ids = np.array([token for sentence in sentences for token in sentence], np.int64)
    return ids, np.concatenate([[0], np.cumsum([len(s) for s in sentences])]).astype(np.int64)


def prefixes(sentences: list[list[int]]) -> set[tuple[int, ...]]:
    return {tuple(sentence[:end]) for sentence in sentences for end in range(1, len(sentence) + 1)}


@given(sentences)
def test_a_node_for_every_distinct_prefix_and_a_path_for_every_sentence(some: list[list[int]]) -> None:
    ids, firsts = flat(some)
    tree = grow_tree(ids, firsts)
    assert len(tree) == 1 + len(prefixes(some))
    for number, sentence in enumerate(some):
        path = tree.paths[firsts[number] : firsts[number + 1]]
        assert tree.tokens[path].tolist() == sentence
        assert tree.parents[path].tolist() == [0, *path[:-1]][: len(path)]


@given(sentences)
def test_contexts_are_the_prefixes_that_go_on(some: list[list[int]]) -> None:
    ids, firsts = flat(some)
    assert grow_tree(ids, firsts).contexts() == len({prefix[:-1] for prefix in prefixes(some)})


@given(sentences, st.integers(1, 12))
def test_blocks_hold_every_token_once_and_spell_the_same_sentences(some: list[list[int]], budget: int) -> None:
    ids, firsts = flat(some)
    parts = tree_blocks(ids, firsts, budget)
    places = np.concatenate([block.places for block in parts]) if parts else np.zeros(0, np.int64)
    assert sorted(places.tolist()) == list(range(len(ids)))
    for block in parts:
        assert block.tree.tokens[block.tree.paths].tolist() == ids[block.places].tolist()
        # Bounded: the budget, one more sentence, and the way to the block.
        assert len(block.tree) <= budget + 13


@given(sentences.filter(bool))
def test_a_block_is_a_stretch_of_the_dictionary(some: list[list[int]]) -> None:
    """Each budget of nodes is filled in the order of the sentences, and only what is new in a sentence counts."""
    ids, firsts = flat(some)
    new, before = [], list[int]()
    for sentence in sorted(some):
        shared = next((at for at, pair in enumerate(zip(sentence, before, strict=False)) if pair[0] != pair[1]), None)
        new.append(len(sentence) - (min(len(sentence), len(before)) if shared is None else shared))
        before = sentence
    numbers = (np.cumsum(new) - new) // 5
    wanted = [sorted(some)[at] for at in range(len(some)) if numbers[at] == numbers[0]]
    assert ids[tree_blocks(ids, firsts, 5)[0].places].tolist() == [token for sentence in wanted for token in sentence]


def test_a_very_long_sentence_makes_only_itself_longer() -> None:
    """As a table of 2,000 sentences, each as wide as the longest, they would take 80 MB, several times over."""
    ids, firsts = flat([[number, *range(10)] for number in range(2000)] + [[7] * 5000])
    tracemalloc.start()
    tree_blocks(ids, firsts, 768)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < 30e6


@pytest.mark.skipif(not CLAMS.exists(), reason="the published French sets are not here")
@pytest.mark.parametrize(("closing", "contexts"), [("", 5_484), (" .", 27_884)])
def test_the_published_french_set_has_as_many_contexts_as_were_counted(closing: str, contexts: int) -> None:
    (made,) = reader("clams").read(CLAMS / "subj_rel.txt.xz", "fr")
    numbers: dict[str, int] = {}
    some = [[numbers.setdefault(w, len(numbers)) for w in f"{text}{closing}".split()] for text in made.sentences]
    assert grow_tree(*flat(some)).contexts() == contexts


@given(st.lists(st.lists(st.integers(2, 4), min_size=1, max_size=6), min_size=1, max_size=12))
def test_the_way_to_a_node_is_itself_and_what_leads_to_it(sentences: list[list[int]]) -> None:
    ids = np.array([token for sentence in sentences for token in sentence])
    tree = grow_tree(ids, np.concatenate([[0], np.cumsum([len(sentence) for sentence in sentences])]))
    nodes, depths, seen = tree.ways()
    assert nodes.tolist() == sorted({*tree.parents[1:].tolist()})
    for row, node in enumerate(nodes.tolist()):
        way = [node]
        while way[-1]:
            way.append(int(tree.parents[way[-1]]))
        assert nodes[seen[row]].tolist() == sorted(way)
        assert depths[row] == len(way) - 1
