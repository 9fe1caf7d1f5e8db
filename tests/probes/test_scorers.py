"""Scores: what the tree computes is what the model says of each sentence alone."""

import itertools
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from concord.data.batches import NO_TARGET
from concord.data.grammar import folder_of
from concord.data.pieces import PieceRule
from concord.data.vocabulary import Counts, Vocabulary
from concord.errors import UserError
from concord.lm.kneser_ney import KneserNey
from concord.lm.loss import summed_nll
from concord.lm.model import Architecture, LanguageModel, initialise_model
from concord.probes.probe_preparation import scorer_maker
from concord.probes.readers.grammar import expand_grammar
from concord.probes.scorers import ProbeSentence, WordScores
from concord.probes.scorers.incremental import IncrementalScorer, plant_forest
from concord.probes.scorers.ngrams import NgramScorer, score_by_ngrams
from training_runs import NETWORKS

WORDS = 30
UNK = 1
SENTENCES = [
    ProbeSentence(" ".join(str(chance.randrange(2, 5 if place < 3 else 40)) for place in range(chance.randrange(1, 9))))
    for chance in [random.Random(0)]
    for _ in range(200)
]


class Numbers:
    """Words are numbers; those above 30 are two pieces, 39 is unknown."""

    words: list[str] = []  # noqa: RUF012 - nobody asks
    eos, unk = 0, UNK

    def __init__(self, size: int = WORDS) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size

    def encode_word(self, word: str) -> list[int]:
        number = int(word)
        return [UNK] if number == 39 else [number] if number < WORDS else [number - WORDS + 2, 5]


NUMBERS = Numbers()
encode = NUMBERS.encode_word


def model(network: str) -> LanguageModel:
    return initialise_model(Architecture(WORDS, 8, tied=True, dropout=0.2, init=0.5, network=NETWORKS[network]), seed=3)


def one_by_one(read: LanguageModel, sentence: ProbeSentence, tokenizer: Any = NUMBERS) -> list[float]:
    """The obvious way: the whole sentence through the network, without anything shared."""
    read.eval()
    pieces = [tokenizer.encode_word(word) for word in sentence.words.split()]
    ids = [0, *itertools.chain(*pieces)]
    with torch.no_grad():
        logprobs, _ = read(torch.tensor([ids]))
    each = iter(float(logprobs[0, place, ids[place + 1]]) for place in range(len(ids) - 1))
    return [sum(itertools.islice(each, len(word))) for word in pieces]


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("budget", [3, 40, 10_000])
def test_the_tree_gives_what_single_sentences_give(network: str, budget: int) -> None:
    read = model(network)
    scorer = IncrementalScorer("m", read, NUMBERS)
    forest = plant_forest(SENTENCES, NUMBERS, budget)
    scores = scorer.scores(forest, scorer.logprobs(forest))
    for number, sentence in enumerate(SENTENCES):
        assert scores[number] == pytest.approx(one_by_one(read, sentence), abs=1e-4)
    words = [word for sentence in SENTENCES for word in sentence.words.split()]
    assert scores.unknown.tolist() == [word == "39" for word in words]


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize(("rows", "words"), [(5, 7), (1, 1), (1000, WORDS - 1)])
def test_the_same_in_parts_of_any_size(network: str, rows: int, words: int, monkeypatch: pytest.MonkeyPatch) -> None:
    read = model(network)
    whole = IncrementalScorer("m", read, NUMBERS).score(SENTENCES)
    monkeypatch.setattr("concord.probes.scorers.incremental.ROWS", rows)
    monkeypatch.setattr("concord.lm.loss.WORDS", words)
    parts = IncrementalScorer("m", read, NUMBERS).score(SENTENCES)
    np.testing.assert_allclose(parts.logprobs, whole.logprobs, atol=1e-5)


@pytest.mark.parametrize("network", NETWORKS)
def test_the_same_with_pieces_that_were_learnt_from_a_text(network: str, tmp_path: Path) -> None:
    made = expand_grammar(folder_of("de"), "prep", "de", "joined")
    words, numbers = zip(*Counter(word for text in made.sentences[::50] for word in text.split()).items(), strict=True)
    counts = Counts(tmp_path)
    counts.add(list(words), np.array(numbers))
    pieces = PieceRule(330).learn(counts)
    sentences = [ProbeSentence(text) for text in made.sentences[:80]]
    assert any(len(pieces.encode_word(word)) > 1 for each in sentences for word in each.words.split())
    read = initialise_model(Architecture(len(pieces), 8, tied=True, dropout=0.2, init=0.5, network=NETWORKS[network]), seed=3)
    scores = IncrementalScorer("m", read, pieces).score(sentences)
    for number, sentence in enumerate(sentences):
        assert scores[number] == pytest.approx(one_by_one(read, sentence, pieces), abs=1e-4)


@pytest.mark.parametrize("network", NETWORKS)
def test_the_sum_over_a_sentence_is_the_training_loss_on_it(network: str) -> None:
    read = model(network)
    scores = IncrementalScorer("m", read, NUMBERS).score(SENTENCES[:20])
    for number, sentence in enumerate(SENTENCES[:20]):
        ids = [0, *itertools.chain(*(encode(word) for word in sentence.words.split()))]
        contexts, _ = read.eval().contexts(torch.tensor([ids]))
        nll, _ = summed_nll(contexts, torch.tensor([[*ids[1:], NO_TARGET]]), read.decoder)
        assert -scores[number].sum() == pytest.approx(nll.item(), abs=1e-4)


def test_shares_of_several_processes_add_up_to_the_same_bits() -> None:
    scorer = IncrementalScorer("m", model("lstm"), NUMBERS)
    forest = plant_forest(SENTENCES, NUMBERS, 50)
    assert len(forest.blocks) > 3
    whole = scorer.logprobs(forest)
    shares = [scorer.logprobs(forest, rank, 3) for rank in range(3)]
    assert np.array_equal(sum(shares), whole)
    assert all((share == 0).any() for share in shares)


def test_scoring_leaves_mode_and_random_numbers_alone() -> None:
    read = model("lstm").train()
    before = torch.get_rng_state()
    IncrementalScorer("m", read, NUMBERS).score(SENTENCES)
    assert read.training
    assert torch.equal(torch.get_rng_state(), before)
    assert all(parameter.grad is None for parameter in read.parameters())


@pytest.mark.parametrize("network", NETWORKS)
def test_a_warm_start_is_a_text_that_goes_on(network: str) -> None:
    read, warm = model(network), [7, 8, 0, 9, 4, 0]
    scorer = scorer_maker("m", NUMBERS, warm)(read, "warm")
    found = scorer.score([ProbeSentence("2 3 4")])
    with torch.no_grad():
        logprobs, _ = read.eval()(torch.tensor([[0, *warm, 2, 3, 4]]))
    assert found[0] == pytest.approx([float(logprobs[0, 6 + i, w]) for i, w in enumerate((2, 3, 4))], abs=1e-4)


CORPUS = np.array([2, 3, 5, 0, 2, 3, 5, 0, 2, 4, 5, 0], np.uint16), np.array([0, 4, 8, 12])  # a b . a b . a c .
LETTERS = Vocabulary(["<eos>", "<unk>", "a", "b", "c", "."])


def test_every_order_scores_its_own_words() -> None:
    scores = score_by_ngrams(KneserNey(*CORPUS, 6), LETTERS, [ProbeSentence("a b ."), ProbeSentence("b zzz")])
    assert [*scores] == ["unigram", "bigram", "trigram", "4-gram", "5-gram"]
    ids = np.array([2, 3, 5, 3, 1]), np.array([0, 3, 5])
    for name, expected in zip(scores, KneserNey(*CORPUS, 6).logprobs(*ids), strict=True):
        assert scores[name].logprobs == pytest.approx(expected, abs=1e-6)
        assert scores[name].unknown.tolist() == [False] * 4 + [True]
    alone = NgramScorer(3, KneserNey(*CORPUS, 6), LETTERS).score([ProbeSentence("a b ."), ProbeSentence("b zzz")])
    assert np.array_equal(alone.logprobs, scores["trigram"].logprobs)


def test_unigrams_do_not_look_back() -> None:
    scores = score_by_ngrams(KneserNey(*CORPUS, 6), LETTERS, [ProbeSentence("a b"), ProbeSentence("b a")])["unigram"]
    assert scores[0].tolist() == scores[1].tolist()[::-1]


def test_the_pieces_of_a_word_are_added_up() -> None:
    class Halves(Vocabulary):
        def encode_word(self, word: str) -> list[int]:
            return [self.encode([letter])[0] for letter in word]

    together = score_by_ngrams(KneserNey(*CORPUS, 6), Halves(LETTERS.words), [ProbeSentence("ab .")])["trigram"]
    apart = score_by_ngrams(KneserNey(*CORPUS, 6), LETTERS, [ProbeSentence("a b .")])["trigram"]
    assert together.logprobs == pytest.approx([apart.logprobs[:2].sum(), apart.logprobs[2]], abs=1e-6)


def test_scores_that_are_no_numbers_are_refused():
    unknown = np.zeros(2, bool)
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(UserError, match="1 of 2 scores are not finite; the model's weights are damaged"):
            WordScores(np.array([0, 2]), np.array([-1.0, bad], np.float32), unknown).require_finite()
