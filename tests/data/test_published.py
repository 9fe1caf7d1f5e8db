"""A published corpus: fetched once, used as it is, and known by its content."""

import logging
from pathlib import Path

import numpy as np
import pytest
from concord.data.corpus import VocabularyRule, prepare
from concord.data.download import DownloadError, Patience
from concord.data.published_corpora import PublishedSource
from publisher import Publisher, published

QUICK = Patience(retries=1, pause=0.001, timeout=10)  # seconds that only a very busy machine needs
FILES = {
    "/fr_train.txt": b"le chien <unk> . <eos>\nles chiens aboient . <eos>\n" * 8,
    "/fr_valid.txt": b"le chien aboie .\n",
    "/fr_test.txt": b"les chiens <unk> .\n",
    "/fr_vocab.txt": b"le\nles\nchien\nchiens\naboie\naboient\n.\n<unk>\n<eos>\n",
}


def source(server: Publisher, folder: Path, **settings) -> PublishedSource:
    return PublishedSource(f"{server.address}/fr_", folder / "downloads", patience=QUICK, **settings)


def test_the_text_is_used_as_it_is(tmp_path, caplog):
    caplog.set_level(logging.WARNING)  # whatever level the tests before have left
    with published(dict(FILES)) as server:
        corpus = prepare(source(server, tmp_path), VocabularyRule(None, ("train", "valid")), tmp_path / "cache")
        text = corpus.vocabulary.decode(np.asarray(corpus.train.ids).tolist())
        assert " ".join(text[:10]) == "le chien <unk> . <eos> les chiens aboient . <eos>"
        assert corpus.train.unknown == 8
        assert "aboie" in corpus.vocabulary
        asked = len(server.requests)
        assert asked == 4
        prepare(source(server, tmp_path), VocabularyRule(None, ("train", "valid")), tmp_path / "cache")
        assert len(server.requests) == asked
    assert not caplog.records


def test_without_network_what_has_been_fetched_is_enough(tmp_path):
    with published(dict(FILES)) as server:
        made = source(server, tmp_path)
        prepare(made, VocabularyRule(None), tmp_path / "cache")
    offline = PublishedSource(made.address, made.folder, offline=True)
    prepare(offline, VocabularyRule(20), tmp_path / "cache")  # another corpus of the same files
    for file in made.folder.glob("*.txt"):
        file.unlink()
    prepare(offline, VocabularyRule(20), tmp_path / "cache")  # what is prepared needs no files
    with pytest.raises(DownloadError, match="the network is switched off; put the file at"):
        prepare(offline, VocabularyRule(30), tmp_path / "cache")


def test_files_that_were_changed_since_are_not_used(tmp_path):
    with published(dict(FILES)) as server:
        made = source(server, tmp_path)
        prepare(made, VocabularyRule(None), tmp_path / "cache")
        made.file("valid").write_bytes(FILES["/fr_test.txt"][::-1] + b" x")
        with pytest.raises(DownloadError, match="valid.txt: .* remove it, and it will be fetched again"):
            prepare(made, VocabularyRule(20), tmp_path / "cache")
        made.file("valid").unlink()
        prepare(made, VocabularyRule(20), tmp_path / "cache")


def test_words_that_the_published_list_does_not_have_are_told(tmp_path, caplog):
    with published(FILES | {"/fr_vocab.txt": b"le\n<unk>\n"}) as server:
        prepare(source(server, tmp_path), VocabularyRule(None), tmp_path / "cache")
    assert "6 words of the text are not in" in caplog.text


def test_a_missing_file_names_its_address(tmp_path):
    with published({}) as server, pytest.raises(DownloadError, match="fr_train.txt: the server answers 404"):
        source(server, tmp_path).key()
