"""What a model has read of the challenge sets: exactly what was planted, however a text writes it."""

import random
from pathlib import Path

import pytest
from concord.data.corpus import Corpus, VocabularyRule, prepare
from concord.data.grammar import folder_of
from concord.data.pieces import PieceRule
from concord.data.sources import GrammarSource, TextSource, challenge_sentences
from concord.data.text import TokenizedText
from concord.probes.challenge_set import ChallengeSet, Span, Variant
from concord.probes.leakage import find_leakage, frequencies
from concord.probes.readers.grammar import expand_grammar

NOUNS = ["Gast", "Arzt", "Maler", "Bäcker"]
PLANTED = ["Der Gast lacht .", "der Arzt hinter den Malern schlafen !", "Der Bäcker ruft"]
OTHER = [
    "Er sagt , der Arzt lacht .",  # within another sentence
    "Der Gast lacht laut .",
    "Der Maler und der Gast hinter den Malern schlafen .",
    "Die Gäste lachen .",
    "Der Maler malt .",
]


def challenge() -> list[ChallengeSet]:
    sets = []
    for name, middle in (("simple", []), ("prep", ["hinter", "den", "Malern"])):
        made = ChallengeSet(name, "de", "test", "memory")
        for noun in NOUNS:
            for good, bad in (("lacht", "lachen"), ("schläft", "schlafen"), ("ruft", "rufen")):
                start = 2 + len(middle)
                spans = (Span("target", start, start + 1),)
                pair = [(role, ("der", noun, *middle, verb)) for role, verb in (("good", good), ("bad", bad))]
                made.add(1, {}, [Variant(role, role == "good", words, None, spans) for role, words in pair])
        sets.append(made)
    return sets


def corpus(folder: Path, train: list[str], rule=None) -> Corpus:
    for name, lines in (("train", train), ("valid", ["Der Gast schläft ."]), ("test", ["Der Maler lacht ."])):
        (folder / f"{name}.txt").write_text("\n".join(lines), encoding="utf-8")
    files = {name: folder / f"{name}.txt" for name in ("train", "valid", "test")}
    return prepare(TextSource(files, TokenizedText(), seed=0), rule or VocabularyRule(None), folder / "cache")


EVERY_WORD = ["schläft ruft rufen schlafen lachen lacht Maler Bäcker Arzt Gast der den hinter Malern . ! ?"]


@pytest.mark.parametrize("rule", [VocabularyRule(None), PieceRule(330), PieceRule(330, "bpe")])
def test_exactly_the_three_planted_sentences_are_reported(tmp_path, rule):
    lines = [*PLANTED, *OTHER * 30, *EVERY_WORD, PLANTED[0]]
    random.Random(0).shuffle(lines)
    found = find_leakage(challenge(), corpus(tmp_path, lines, rule))
    assert [(leak.construction, leak.words, leak.grammatical, leak.count) for leak in found.sentences] == [
        ("simple", "der Gast lacht", True, 2),
        ("simple", "der Bäcker ruft", True, 1),
        ("prep", "der Arzt hinter den Malern schlafen", False, 1),
    ]
    assert found.checked == {"sentences": 48, "n-grams": 30}
    assert found.unsearchable == {"sentences": 0, "n-grams": 0}
    assert found.line() == "3 of 48 challenge sentences, 4 of 30 challenge n-grams occur in the training text"


def test_critical_ngrams_are_the_target_and_two_words_before_it(tmp_path):
    found = find_leakage(challenge(), corpus(tmp_path, [*PLANTED, *OTHER, *EVERY_WORD]))
    named = {leak.words: leak.count for leak in found.ngrams}
    assert named == {"der Gast lacht": 2, "der Arzt lacht": 1, "der Bäcker ruft": 1, "den Malern schlafen": 2}


def test_what_cannot_be_told_is_counted(tmp_path):
    found = find_leakage(challenge(), corpus(tmp_path, [*PLANTED, *OTHER]))  # schläft and rufen are unknown
    assert found.unsearchable["sentences"] == 16
    assert len(found.sentences) == 3
    assert "(16 with unknown words)" in found.line()


@pytest.mark.parametrize("rule", [VocabularyRule(None), PieceRule(330)])
def test_form_coverage_are_counted_in_the_training_text_alone(tmp_path, rule):
    train = ["Der Gast lacht .", "lachen lacht lachend", "die Gäste lachen rufen", *EVERY_WORD]
    counted = frequencies(challenge(), corpus(tmp_path, train, rule))
    assert counted == {"lacht": 3, "lachen": 3, "schläft": 1, "schlafen": 1, "ruft": 1, "rufen": 2}


def test_a_search_over_many_blocks_of_sentences_misses_none(tmp_path, monkeypatch):
    monkeypatch.setattr("concord.probes.leakage.SENTENCES", 3)
    lines = [*OTHER * 4, PLANTED[0], *OTHER, PLANTED[1], *EVERY_WORD, PLANTED[2]]
    found = find_leakage(challenge(), corpus(tmp_path, lines))
    assert [leak.words for leak in found.sentences] == [
        "der Gast lacht",
        "der Bäcker ruft",
        "der Arzt hinter den Malern schlafen",
    ]


def test_details_are_written_a_row_each(tmp_path):
    found = find_leakage(challenge(), corpus(tmp_path, [*PLANTED, *OTHER, *EVERY_WORD]))
    found.save(tmp_path / "leakage.tsv")
    rows = (tmp_path / "leakage.tsv").read_text(encoding="utf-8").splitlines()
    assert rows[0].split("\t") == ["kind", "construction", "grammatical", "count", "words"]
    assert "sentence\tprep\tfalse\t1\tder Arzt hinter den Malern schlafen" in rows
    assert len(rows) == 1 + len(found.sentences) + len(found.ngrams)


def test_the_built_in_corpus_has_no_challenge_sentence_when_they_are_excluded(tmp_path):
    folder = folder_of("de")
    sets = [expand_grammar(folder, "simple_agrmt", "de"), expand_grammar(folder, "vp_coord", "de")]
    sizes = {"train": 3000, "valid": 10, "test": 10}
    for exclude, any_found in ((False, True), (True, False)):
        source = GrammarSource(folder, sizes, seed=0)
        if exclude:
            source = GrammarSource(folder, sizes, seed=0, exclude=challenge_sentences(folder, "split"))
        found = find_leakage(sets, prepare(source, VocabularyRule(None), tmp_path / "cache"))
        assert bool(found.sentences) is any_found
