"""Pieces of words: the same for a word wherever it stands, nothing unknown, and all of it in a checkpoint."""

import json
from collections import Counter

import numpy as np
import pytest
from concord.data.corpus import VocabularyRule, prepare, restore_tokenizer
from concord.data.pieces import PieceRule, Pieces
from concord.data.sources import TextSource
from concord.data.text import TokenizedText
from concord.data.vocabulary import Counts, Vocabulary
from concord.errors import UserError
from hypothesis import given
from hypothesis import strategies as st

STEMS = "seh hör jag lieb kenn ruf lach wein sing tanz lauf renn such find halt bau".split()  # noqa: SIM905
LINES = [f"der {a}er {b}t den {b}enden {a}enden ." for a in STEMS for b in STEMS]


def pieces(folder, kind="unigram", size=340) -> Pieces:
    counted = Counter(" ".join(LINES).split())
    counts = Counts(folder)
    counts.add(list(counted), np.array(list(counted.values())))
    return PieceRule(size, kind).learn(counts)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Pieces:
    return pieces(tmp_path_factory.mktemp("pieces"))


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_a_sentence_is_its_words_one_after_the_other(tmp_path, kind):
    tokenizer = pieces(tmp_path, kind)
    words = LINES[7].split()
    assert tokenizer.encode(words) == [piece for word in words for piece in tokenizer.encode_word(word)]
    assert any(len(tokenizer.encode_word(word)) > 1 for word in words)
    assert tokenizer.decode(tokenizer.encode(words)) == words
    assert len(tokenizer) == len(tokenizer.words) <= 340


def test_the_special_ones_have_their_places(made):
    assert (made.words[0], made.words[1], made.eos, made.unk) == ("<eos>", "<unk>", 0, 1)
    assert made.encode(["<eos>", "<unk>"]) == [0, 1]
    assert "<unk>" not in made
    assert "ungesehen" in made


@given(st.lists(st.text(min_size=1, max_size=6).filter(lambda s: s == "".join(s.split()) and s), max_size=6))
def test_any_text_round_trips_and_its_words_can_be_counted(made, words):
    sound = [w.encode("utf-8", "replace").decode().replace("▁", "_").replace("\x00", "") or "x" for w in words]
    ids = made.encode(sound)
    assert made.unk not in ids
    assert made.decode(ids) == sound
    assert sum(np.array(made.begins())[ids]) == len(sound)


def test_the_same_words_make_the_same_pieces(tmp_path, made):
    (tmp_path / "again").mkdir()
    assert pieces(tmp_path / "again").digest() == made.digest()
    assert pieces(tmp_path, size=300).digest() != made.digest()


@pytest.mark.parametrize("tokenizer", [Vocabulary(["<eos>", "<unk>", "a"]), None])
def test_a_tokenizer_is_made_again_from_plain_values(made, tokenizer):
    tokenizer = tokenizer or made
    again = restore_tokenizer(json.loads(json.dumps(tokenizer.plain())))
    assert type(again) is type(tokenizer)
    assert again.digest() == tokenizer.digest()
    assert again.encode(["der", "a"]) == tokenizer.encode(["der", "a"])


def test_a_corpus_of_pieces_is_encoded_as_its_words_are(tmp_path):
    (tmp_path / "a.txt").write_text("\n".join(LINES), encoding="utf-8")
    source = TextSource({"all": tmp_path / "a.txt"}, TokenizedText(), seed=0)
    words = prepare(source, VocabularyRule(None), tmp_path / "cache")
    corpus = prepare(source, PieceRule(340), tmp_path / "cache")
    tokenizer = corpus.vocabulary
    assert isinstance(tokenizer, Pieces)
    for name, split in corpus.splits().items():
        known = words.splits()[name]
        text = words.vocabulary.decode(np.asarray(known.ids).tolist())
        assert split.ids.tolist() == tokenizer.encode(text)
        assert split.spelled == known.words
        assert split.unknown == 0
        assert len(split) == len(known)
    few = corpus.first(3)
    assert few.train.spelled == words.first(3).train.words


def test_pieces_are_learnt_from_the_training_split_alone(tmp_path):
    for name, lines in (("train", LINES), ("valid", ["Ypsilon Zylinder ."] * 99), ("test", ["Qualle ."])):
        (tmp_path / f"{name}.txt").write_text("\n".join(lines), encoding="utf-8")
    files = {name: tmp_path / f"{name}.txt" for name in ("train", "valid", "test")}
    corpus = prepare(TextSource(files, TokenizedText(), seed=0), PieceRule(340), tmp_path / "cache")
    assert not any(set(piece) & set("YZQ") for piece in corpus.vocabulary.words if not piece.startswith("<"))
    assert corpus.valid.unknown == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((340, "wordpiece"), "tokenizer.kind=wordpiece: no such kind; available: unigram, bpe"),
        ((200,), r"tokenizer.vocabulary_size=200: must be a whole number above 258 \(256 are bytes\)"),
        ((None,), "tokenizer.vocabulary_size=None: must be a whole number above 258"),
    ],
)
def test_wrong_settings_are_refused(arguments, message):
    with pytest.raises(UserError, match=message):
        PieceRule(*arguments)


def test_too_few_pieces_for_the_letters_of_a_text_are_told_so(tmp_path):
    with pytest.raises(UserError, match="tokenizer.vocabulary_size=262: sentencepiece reports: .* try another size"):
        pieces(tmp_path, size=262)
