"""Batches: every token once an epoch, whatever the number of ranks, and an order that a seed fixes."""

import numpy as np
import pytest
from concord.data.batches import NO_TARGET, BatchPlan, EvaluationLoader, Loader, Shape
from concord.data.corpus import Split
from hypothesis import given
from hypothesis import strategies as st


def split(lengths: list[int], seed: int = 0) -> Split:
    """Sentences of the given lengths, <eos> included; every word is a number of its own."""
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    ids = np.arange(2, offsets[-1] + 2).astype(np.uint16)
    ids[offsets[1:] - 1] = 0
    return Split(ids, offsets, 0)


def targets(loader) -> list[int]:
    return sorted(t for batch in loader for t in batch.targets[batch.targets != NO_TARGET].tolist())


SHAPES = [Shape(4), Shape(3, window=5), Shape(5, first_epoch=2), Shape(None, tokens=12)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("world", [1, 2, 3])
def test_every_token_is_predicted_once_an_epoch(shape, world):
    text = split([3, 1, 7, 4, 4, 2, 9, 5, 3, 3, 6])
    loaders = [Loader(text, shape, seed=1, plan=BatchPlan(rank, world)) for rank in range(world)]
    for _epoch in range(2):
        lengths = {len(loader) for loader in loaders}
        assert len(lengths) == 1
        epochs = [list(loader) for loader in loaders]
        assert {len(batches) for batches in epochs} == lengths
        seen = sorted(t for batches in epochs for b in batches for t in b.targets[b.targets != NO_TARGET].tolist())
        assert seen == sorted(text.ids.tolist())
        assert sum(batch.words for batch in epochs[0]) == text.words


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("world", [1, 2])
def test_of_pieces_only_those_that_begin_a_word_are_words(shape, world):
    text = split([3, 1, 7, 4, 4, 2, 9, 5, 3, 3, 6])
    begins = [number % 3 == 0 for number in range(60)]  # <eos> among them, which is no word
    loader = Loader(text, shape, seed=1, plan=BatchPlan(0, world), begins=begins)
    assert sum(batch.words for batch in loader) == sum(number % 3 == 0 for number in text.ids.tolist() if number)


@given(st.lists(st.integers(1, 12), min_size=1, max_size=40), st.integers(1, 7), st.one_of(st.none(), st.integers(1, 9)))
def test_every_token_once_for_any_text(lengths, size, window):
    loader = Loader(split(lengths), Shape(size, window), seed=3, plan=BatchPlan())
    announced = len(loader)
    assert targets(loader) == sorted(split(lengths).ids.tolist())
    assert announced == loader.batches_in(0)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=60), st.integers(1, 50), st.integers(1, 3))
def test_batches_by_tokens_hold_no_more_than_these_unless_a_sentence_does(lengths, tokens, world):
    loaders = [Loader(split(lengths), Shape(None, tokens=tokens), seed=3, plan=BatchPlan(rank, world)) for rank in range(world)]
    for announced, parts in ((loader.batches_in(0), list(loader)) for loader in loaders):
        assert announced == len(parts)
        for batch in parts:
            assert batch.inputs.numel() <= tokens or len(batch.inputs) == 1
    seen = sorted(t for loader in loaders for t in targets(loader))  # the second epoch
    assert seen == sorted(split(lengths).ids.tolist())


def test_little_of_prose_is_padding_and_epochs_stay_shuffled():
    """Sentence lengths as novels have them: mostly short, a few of hundreds of words."""
    random = np.random.Generator(np.random.PCG64(0))
    lengths = np.clip(random.lognormal(3.0, 0.8, 6000), 2, 900).astype(int)
    text = Split(np.arange(lengths.sum()) % 60_000, np.concatenate([[0], np.cumsum(lengths)]), 0)
    loader = Loader(text, Shape(None, tokens=700), seed=1, plan=BatchPlan())
    first, second = (list(loader) for _ in range(2))
    cells, words = (sum(n) for n in zip(*((b.targets.numel(), int((b.targets != NO_TARGET).sum())) for b in first), strict=True))
    assert words == text.tokens
    assert 1 - words / cells < 0.05
    assert 700 * 0.85 < words / len(first) <= 700
    widths = [[batch.inputs.shape[1] for batch in epoch[:50]] for epoch in (first, second)]
    assert widths[0] != widths[1]
    assert len({*widths[0]}) > 15  # not all short ones first


def test_a_batch_is_cut_in_one_way():
    with pytest.raises(AssertionError, match="by sentences or by tokens"):
        Shape(4, tokens=100)


def test_a_sentence_starts_after_eos_and_ends_in_it():
    batch = next(iter(Loader(split([4]), Shape(2), seed=0, plan=BatchPlan())))
    assert batch.inputs.tolist() == [[0, 2, 3, 4]]
    assert batch.targets.tolist() == [[2, 3, 4, 0]]
    assert batch.fresh


def test_windows_of_a_stream_follow_each_other():
    text = split([3, 4, 5, 2, 6])
    batches = list(Loader(text, Shape(2, window=3), seed=0, plan=BatchPlan()))
    assert [batch.fresh for batch in batches] == [True] + [False] * (len(batches) - 1)
    columns = np.concatenate([batch.targets.numpy() for batch in batches], axis=1)
    inputs = np.concatenate([batch.inputs.numpy() for batch in batches], axis=1)
    stream, before = columns.flatten(), inputs.flatten()
    real = stream != NO_TARGET
    assert before[0] == 0
    assert (before[1:][real[1:]] == stream[:-1][real[1:]]).all()


@pytest.mark.parametrize("window", [None, 4])
def test_ranks_read_what_one_process_would_read(window):
    """Two ranks with batches of 3 see, together and in order, what one process with batches of 6 sees."""
    text = split([3, 1, 7, 4, 4, 2, 9, 5, 3, 3, 6, 2, 2])
    whole = list(Loader(text, Shape(6, window), seed=5, plan=BatchPlan()))
    parts = [list(Loader(text, Shape(3, window), seed=5, plan=BatchPlan(rank, 2))) for rank in (0, 1)]
    for batch, *shares in zip(whole, *parts, strict=True):
        tokens = [sorted(b.targets[b.targets != NO_TARGET].tolist()) for b in (batch, *shares)]
        assert tokens[0] == sorted(tokens[1] + tokens[2])
        # The mean over the step: shares are divided by the number of ranks.
        assert batch.share == pytest.approx(shares[0].share / 2)
        assert batch.words == shares[0].words


def test_shares_make_the_mean_over_all_tokens_of_a_step():
    loader = Loader(split([3, 1, 7, 4, 4, 2, 9]), Shape(2), seed=0, plan=BatchPlan(accumulate=3))
    batches = list(loader)
    tokens = [int((b.targets != NO_TARGET).sum()) for b in batches]
    for first in range(0, len(batches), 3):
        step = range(first, min(first + 3, len(batches)))
        # Lightning divides each batch's loss by 3.
        assert sum(tokens[i] * batches[i].share / 3 for i in step) == pytest.approx(1)


def test_epochs_and_seeds_differ_and_repeat():
    text = split([2] * 50)

    def epochs(seed):
        loader = Loader(text, Shape(5), seed=seed, plan=BatchPlan())
        return [[b.targets.tolist() for b in loader] for _ in range(2)]

    one = epochs(1)
    assert one == epochs(1)
    assert one[0] != one[1]
    assert one != epochs(2)


@pytest.mark.parametrize("position", [0, 1, 6, 10])
@pytest.mark.parametrize("shape", [Shape(3), Shape(3, 3), Shape(None, tokens=12)])
def test_a_loader_goes_on_where_it_was(position, shape):
    text = split([4] * 30)

    def batches(loader):
        return [b.targets.tolist() for b in loader]

    whole = Loader(text, shape, seed=1, plan=BatchPlan())
    first, second = batches(whole), batches(whole)
    stopped = Loader(text, shape, seed=1, plan=BatchPlan())
    iterator = iter(stopped)
    for _ in range(position):
        next(iterator)
    place = stopped.place()
    resumed = Loader(text, shape, seed=1, plan=BatchPlan())
    if position:
        resumed.go_to(place)
    left = batches(resumed)
    if position < len(first):
        assert left == first[position:]
        assert batches(resumed) == second
    else:
        assert left == second


@given(st.lists(st.integers(1, 40), min_size=1, max_size=60), st.integers(1, 50), st.integers(1, 3))
def test_evaluation_holds_no_more_tokens_on_any_rank_unless_a_sentence_does(lengths, tokens, world):
    for rank in range(world):
        for batch in EvaluationLoader(split(lengths), tokens, BatchPlan(rank, world)):
            assert batch.inputs.numel() <= tokens or len(batch.inputs) == 1


@pytest.mark.parametrize("world", [1, 2])
def test_evaluation_takes_every_sentence_once(world):
    text = split([3, 1, 7, 4, 4, 2, 9, 5, 3, 3, 6])
    loaders = [EvaluationLoader(text, 12, BatchPlan(rank, world)) for rank in range(world)]
    assert sorted(t for loader in loaders for t in targets(loader)) == sorted(text.ids.tolist())
    assert all(batch.targets.numel() <= 12 for loader in loaders for batch in loader)
    assert len({len(loader) for loader in loaders}) == 1
