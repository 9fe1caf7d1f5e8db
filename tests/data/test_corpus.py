"""Corpora on disk: built once, shared, rebuilt when anything changes, refused when damaged."""

import multiprocessing
import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from concord.data.corpus import CorpusError, VocabularyRule, prepare, read_corpus
from concord.data.grammar import folder_of
from concord.data.selection import Selection
from concord.data.sources import GrammarSource, JoinedSource, TextSource, challenge_sentences
from concord.data.text import TokenizedText
from concord.errors import UserError
from concord.runs.continuing import corpus_recipe
from training_runs import settings

TEXT = "\n".join(f"der Hund {word} den Esel ." for word in "sieht hört jagt liebt kennt ruft".split() * 20)  # noqa: SIM905


def text_source(folder: Path, text: str = TEXT) -> TextSource:
    file = folder / "text.txt"
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")
    return TextSource({"all": file}, TokenizedText(), seed=0)


def test_every_sentence_is_there_once_and_ends_in_eos(tmp_path):
    corpus = prepare(text_source(tmp_path), VocabularyRule(None), tmp_path / "cache")
    words = []
    for split in corpus.splits().values():
        for start, end in zip(split.offsets, split.offsets[1:], strict=False):
            sentence = corpus.vocabulary.decode(split.ids[start:end].tolist())
            assert sentence[-1] == "<eos>"
            words.append(" ".join(sentence[:-1]))
    assert sorted(words) == sorted(TEXT.splitlines())
    assert [len(s) for s in corpus.splits().values()] == [96, 12, 12]
    assert corpus.train.words == 96 * 6
    assert corpus.train.tokens == 96 * 7


def test_rare_words_become_unk_and_are_counted(tmp_path):
    corpus = prepare(text_source(tmp_path), VocabularyRule(6), tmp_path / "cache")
    assert set(corpus.vocabulary.words) == {"<eos>", "<unk>", ".", "Esel", "Hund", "den", "der"}
    assert corpus.train.unknown == 96


def test_the_second_time_nothing_is_built(tmp_path):
    first = prepare(text_source(tmp_path), VocabularyRule(None), tmp_path / "cache")
    stamp = (first.folder / "about.json").stat().st_mtime_ns
    second = prepare(text_source(tmp_path), VocabularyRule(None), tmp_path / "cache")
    assert second.folder == first.folder
    assert (second.folder / "about.json").stat().st_mtime_ns == stamp


def test_anything_that_changes_makes_a_new_corpus(tmp_path):
    folders = {prepare(text_source(tmp_path), VocabularyRule(size), tmp_path / "cache").folder for size in (None, 5, 7)}
    folders.add(prepare(text_source(tmp_path, TEXT + "\nnoch einer ."), VocabularyRule(None), tmp_path / "cache").folder)
    assert len(folders) == 4


@pytest.mark.parametrize("name", ["train.ids.npy", "vocabulary.txt", "valid.offsets.npy", "about.json"])
def test_a_damaged_corpus_is_an_error_with_the_remedy(tmp_path, name):
    folder = prepare(text_source(tmp_path), VocabularyRule(None), tmp_path / "cache").folder
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 0xFF
    (folder / name).write_bytes(bytes(content))
    with pytest.raises(CorpusError, match="is damaged .* delete it, and it will be rebuilt: rm -r"):
        prepare(text_source(tmp_path), VocabularyRule(None), tmp_path / "cache")


def test_no_flipped_bit_in_what_is_said_of_a_corpus_is_believed(tmp_path):
    folder = prepare(text_source(tmp_path), VocabularyRule(None), tmp_path / "cache").folder
    intact = (folder / "about.json").read_bytes()
    draw = random.Random(0)
    for _ in range(200):
        damaged = bytearray(intact)
        damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
        (folder / "about.json").write_bytes(damaged)
        with pytest.raises(CorpusError, match="is damaged .* delete it, and it will be rebuilt: rm -r"):
            read_corpus(folder)
    (folder / "about.json").write_bytes(intact)
    (folder / "about.sum").unlink()  # as the first versions left it
    read_corpus(folder)


def _prepare(folder: Path) -> None:
    prepare(text_source(folder), VocabularyRule(None), folder / "cache")


def test_processes_that_ask_at_once_share_one(tmp_path):
    text_source(tmp_path)
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_prepare, args=(tmp_path,)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert len([f for f in (tmp_path / "cache").iterdir() if f.is_dir()]) == 1


class SlowSource(TextSource):
    def blocks(self, workers=None):
        for block in super().blocks(workers):
            yield block
            time.sleep(60)


def _prepare_slowly(folder: Path) -> None:
    plain = text_source(folder)
    prepare(SlowSource(plain.files, plain.reader, plain.seed), VocabularyRule(None), folder / "cache")


def test_a_process_killed_while_building_leaves_nothing_in_the_way(tmp_path):
    text_source(tmp_path)
    process = multiprocessing.get_context("fork").Process(target=_prepare_slowly, args=(tmp_path,))
    process.start()
    while not list((tmp_path / "cache").glob("*.building-*")):
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    corpus = prepare(text_source(tmp_path), VocabularyRule(None), tmp_path / "cache")
    assert len(corpus.train) == 96
    assert not list((tmp_path / "cache").glob("*.building-*"))


def test_too_small_a_text_is_told_so(tmp_path):
    with pytest.raises(CorpusError, match=r"the valid part of the corpus has no sentences \(1 was read in all\)"):
        prepare(text_source(tmp_path, "ein Satz ."), VocabularyRule(None), tmp_path / "cache")


def test_the_built_in_corpus_leaves_challenge_sentences_out(tmp_path):
    folder = folder_of("de")
    sizes = {"train": 3000, "valid": 100, "test": 100}
    exclude = challenge_sentences(folder, "split")
    corpus = prepare(GrammarSource(folder, sizes, seed=0, exclude=exclude), VocabularyRule(None), tmp_path / "cache")
    challenge = exclude.sentences()
    assert {"der Arzt lacht", "ich beeile mich"} <= set(challenge)  # of the agreement sets, and of a collection beside them
    for split in corpus.splits().values():
        text = " ".join(corpus.vocabulary.decode(np.asarray(split.ids).tolist()))
        assert not {sentence.removesuffix(" .") for sentence in text.split(" <eos> ")} & challenge
    assert corpus.report["challenge sentences"] > 10


def test_a_corpus_that_the_disk_cannot_hold_is_refused_before_it_is_drawn(tmp_path):
    recipe = corpus_recipe(settings("data.sentences.train=1000000000000"))
    with pytest.raises(UserError, match=r"data=grammar: this corpus takes at least 20,000.* GB, but .* free; make it smaller"):
        recipe.prepare(tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


# -------------------------------------------------------- several languages


# German is six times as long, so that its words are the frequent ones of both together; `.` and `in` are in both.
TWO = {
    "de": "\n".join(f"der Hund {word} den Esel in Ruhe ." for word in ["sieht", "hört", "jagt"] * 40),
    "fr": "\n".join(f"le chien {word} la mer in fine ." for word in ["voit"] * 12 + ["aime"] * 8),
}


WHOLE, JOINT, APART = VocabularyRule(None), VocabularyRule(6), VocabularyRule(6, per_language=True)


def test_each_language_has_its_own_most_frequent_words(tmp_path):
    sources = {}
    for code, text in TWO.items():
        (tmp_path / f"{code}.txt").write_text(text, encoding="utf-8")
        sources[code] = TextSource({"all": tmp_path / f"{code}.txt"}, TokenizedText(), seed=0)
    made = {rule: prepare(JoinedSource(sources), rule, tmp_path / "cache", Selection(True)) for rule in (WHOLE, JOINT, APART)}
    whole, together, apart = made.values()
    # An independent count of what each language is trained on.
    expected = ["<eos>", "<unk>"]
    for number in range(2):
        counts = Counter(whole.vocabulary.decode(whole.train.of_language(number).ids.tolist()))
        del counts["<eos>"]
        ranked = sorted(counts, key=lambda word: (-counts[word], word))
        expected += [word for word in ranked[: APART.size - 1] if word not in expected]  # <eos> is one of the six
    assert apart.vocabulary.words == expected
    assert apart.read["types in train (de)"] == 10
    assert apart.read["types in train (fr)"] == 9
    assert not {"chien", "fine"} & {*together.vocabulary.words}  # one list of both is German
    assert {"chien", "fine"} <= {*apart.vocabulary.words}


def test_the_published_set_up_cuts_a_vocabulary_for_each_language():
    """And runs of one language are called as they were before."""
    several = corpus_recipe(settings("experiment=clams2020", "lang=multi")).tokenizer_rule()
    assert several == VocabularyRule(50_000, ("train", "valid"), per_language=True)
    one = settings("experiment=clams2020", "lang=fr")
    assert corpus_recipe(one).tokenizer_rule() == VocabularyRule(50_000, ("train", "valid"))
    before = ["experiment=clams2020", "probes.protocol=default", "probes.rules.unknown=null"]  # as the set-up was then
    assert settings(*before, "lang=fr").run_name() == "fr-lstm-clams-s1-8d4a80b8"
    together = settings(*before, "lang=multi", "tokenizer.vocabulary_per_language=false")
    assert together.run_name() == "multi-lstm-clams-s1-56afab42"
    assert settings(*before, "lang=multi").run_name() != together.run_name()
