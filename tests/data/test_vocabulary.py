import pytest
from concord.data.vocabulary import Vocabulary


def test_the_most_frequent_tokens_eos_among_them_plus_unk():
    vocabulary = Vocabulary.from_counts(["<eos>", "<unk>", "b", "a", "c", "d"], [9, 0, 5, 5, 7, 1], size=4)
    assert vocabulary.words == ["<eos>", "<unk>", "c", "a", "b"]
    assert len(Vocabulary.from_counts(["<eos>", "<unk>", *map(str, range(60_000))], [1] * 60_002, size=50_000)) == 50_001


def test_unknown_words_are_unk():
    vocabulary = Vocabulary(["<eos>", "<unk>", "der", "Hund"])
    assert vocabulary.encode(["der", "Esel"]) == [2, 1]
    assert vocabulary.decode([2, 1]) == ["der", "<unk>"]


def test_a_vocabulary_is_named_by_its_words_and_their_order():
    one, two = Vocabulary(["<eos>", "<unk>", "a", "b"]), Vocabulary(["<eos>", "<unk>", "b", "a"])
    assert one.digest() != two.digest()


@pytest.mark.parametrize(
    ("words", "message"), [(["a"], "must begin with <eos> and <unk>"), (["<eos>", "<unk>", "a", "a"], "this one has 'a' twice")]
)
def test_wrong_vocabularies_are_refused(words, message):
    with pytest.raises(ValueError, match=message):
        Vocabulary(words)
