"""Which sentences make a corpus: splits by words, nested samples, nothing twice."""

import re

import numpy as np
import pytest
from concord.data.corpus import VocabularyRule, corpus_name, prepare
from concord.data.selection import EVERYTHING, UNDECIDED, Selection
from concord.data.sources import JoinedSource, TextSource
from concord.data.text import TokenizedText
from concord.errors import UserError
from hypothesis import given
from hypothesis import strategies as st


def orders(selection: Selection, lengths, splits=None, languages=None):
    lengths = np.array(lengths)
    n = len(lengths)
    splits = np.full(n, UNDECIDED, np.uint8) if splits is None else np.array(splits, np.uint8)
    languages = np.zeros(n, np.uint8) if languages is None else np.array(languages, np.uint8)
    return selection.orders(lengths, splits, languages, np.ones(n, dtype=bool))


def test_everything_is_taken_as_it_comes():
    found = orders(EVERYTHING, [3] * 6, splits=[0, 1, 0, 2, 0, 1])
    assert {name: order.tolist() for name, order in found.items()} == {"train": [0, 2, 4], "valid": [1, 5], "test": [3]}


@given(st.lists(st.integers(1, 30), min_size=30, max_size=200), st.integers(0, 9), st.booleans())
def test_eight_to_one_to_one_by_words(lengths, seed, shuffle):
    found = orders(Selection(shuffle=shuffle, seed=seed), lengths)
    assert sorted(np.concatenate(list(found.values())).tolist()) == list(range(len(lengths)))
    words = np.array(lengths)
    for name in ("valid", "test"):
        assert sum(lengths) / 10 - 60 <= words[found[name]].sum() <= sum(lengths) / 10 + 60


@given(st.lists(st.integers(1, 30), min_size=40, max_size=200), st.integers(0, 9), st.booleans())
def test_a_smaller_sample_is_the_beginning_of_a_larger_one(lengths, seed, shuffle):
    small, large, all_ = (orders(Selection(shuffle=shuffle, max_tokens=size, seed=seed), lengths) for size in (100, 300, 10**6))
    words = np.array(lengths)
    assert small["train"].tolist() == large["train"][: len(small["train"])].tolist()
    assert large["train"].tolist() == all_["train"][: len(large["train"])].tolist()
    assert words[small["train"]].sum() <= 100
    for name in ("valid", "test"):
        assert small[name].tolist() == large[name].tolist() == all_[name].tolist()


def test_sizes_are_in_words_and_of_each_language():
    selection = Selection(shuffle=True, sizes={"train": 80, "valid": 10, "test": 10})
    languages = [0] * 500 + [1] * 500
    found = orders(selection, [2] * 1000, languages=languages)
    for name, size in (("train", 40), ("valid", 5), ("test", 5)):
        assert np.bincount(np.array(languages)[found[name]]).tolist() == [size, size]
    assert len(set(np.array(languages)[found["train"]][:10].tolist())) == 2  # shuffled together


def test_too_little_text_is_shared_out_as_asked():
    found = orders(Selection(sizes={"train": 800, "valid": 100, "test": 100}), [1] * 100)
    assert {name: len(order) for name, order in found.items()} == {"train": 80, "valid": 10, "test": 10}


def test_a_selection_of_everything_does_not_change_a_corpus_name(tmp_path):
    (tmp_path / "a.txt").write_text("a b .\n" * 20, encoding="utf-8")
    source = TextSource({"all": tmp_path / "a.txt"}, TokenizedText(), seed=3)
    rule = VocabularyRule(None)
    assert corpus_name(source, rule) == corpus_name(source, rule, Selection(seed=3))
    assert corpus_name(source, rule) != corpus_name(source, rule, Selection(max_tokens=10))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"max_tokens": 0}, "data.max_tokens=0: must be a whole number above 0, or null for all"),
        ({"unknown": 5}, "data.unknown=5: must be a share from 0 to 1, or null to keep all sentences"),
        ({"sizes": {"train": 1, "dev": 2}}, "data.tokens.dev=2: must be a whole number above 0 for each of train, valid, test"),
    ],
)
def test_wrong_selections_are_refused(wrong, message):
    with pytest.raises(UserError, match=re.escape(message)):
        Selection(**wrong)


def sentences(corpus, split):
    text = " ".join(corpus.vocabulary.decode(np.asarray(split.ids).tolist()))
    return text.removesuffix(" <eos>").split(" <eos> ")


def test_sentences_with_many_unknown_words_are_left_out_and_counted(tmp_path):
    usual = ["der Hund sieht den Esel ."] * 60
    rare = [f"der Hund frisst selten{i} ." for i in range(10)]
    (tmp_path / "a.txt").write_text("\n".join(usual + rare), encoding="utf-8")
    source = TextSource({"all": tmp_path / "a.txt"}, TokenizedText(), seed=0)
    corpus = prepare(source, VocabularyRule(None), tmp_path / "cache", Selection(unknown=0.1, frequent=7))
    assert corpus.report == {"sentences with more than 10% unknown words": 10}
    assert corpus.read["sentences"] == 70
    assert {s for split in corpus.splits().values() for s in sentences(corpus, split)} == {"der Hund sieht den Esel ."}


def test_languages_are_shuffled_together_and_known_apart(tmp_path):
    for code, text in (("de", "der Hund bellt .\n"), ("fr", "le chien aboie .\n")):
        (tmp_path / f"{code}.txt").write_text(text * 200, encoding="utf-8")
    sources = {code: TextSource({"all": tmp_path / f"{code}.txt"}, TokenizedText(), seed=0) for code in ("de", "fr")}
    corpus = prepare(JoinedSource(sources), VocabularyRule(None), tmp_path / "cache", Selection(shuffle=True))
    assert corpus.languages == ("de", "fr")
    assert set(corpus.vocabulary.words[2:]) == {".", *"der Hund bellt le chien aboie".split()}  # noqa: SIM905
    order = [s.split()[0] for s in sentences(corpus, corpus.train)]
    assert sorted(order) == ["der"] * 160 + ["le"] * 160
    assert len(set(order[:20])) == 2
    apart = corpus.by_language(corpus.valid)
    assert set(sentences(corpus, apart["de"])) == {"der Hund bellt ."}
    assert set(sentences(corpus, apart["fr"])) == {"le chien aboie ."}
    assert sum(len(split) for split in apart.values()) == len(corpus.valid) == 40
    few = corpus.first(10)
    assert sum(len(split) for split in few.by_language(few.valid).values()) == 10
