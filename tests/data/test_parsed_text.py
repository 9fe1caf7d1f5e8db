"""Parsed text: what an interruption leaves is gone on with, and the same text comes out."""

import pytest
from concord.data.parsed_text import ParsedChunk, make_parser, parse_text
from concord.errors import UserError
from concord.files import lock

TEXT = "\n".join(f"Ligne {n} ." for n in range(400)) + "\n"


class LineParser:
    """Every line a sentence of one word below the root; fails at a line where it is told to."""

    name = "lines-1"

    def __init__(self, fails_at=None):
        self.fails_at = fails_at

    def __call__(self, chunk):
        text = ""
        for number, line in enumerate(chunk.lines, start=chunk.first):
            if self.fails_at is not None and number >= self.fails_at:
                raise KeyboardInterrupt
            text += f"# parser = {self.name}\n1\t{line.replace(' ', '')}\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
        return ParsedChunk(text, len(chunk.lines), len(chunk.lines), len(chunk.lines))


@pytest.fixture
def text(tmp_path, monkeypatch):
    monkeypatch.setattr("concord.data.parsed_text.CHARACTERS", 200)
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    return tmp_path / "a.txt"


def test_an_interrupted_call_goes_on(text, tmp_path):
    told = []
    parse_text(text, LineParser(), tmp_path / "whole.conllu", workers=1, tell=told.append)
    assert told == sorted(told)
    assert told[-1] == 400
    with pytest.raises(KeyboardInterrupt):
        parse_text(text, LineParser(fails_at=150), tmp_path / "b.conllu", workers=1, tell=told.append)
    assert not (tmp_path / "b.conllu").exists()
    with (tmp_path / "b.conllu.part").open("a", encoding="utf-8") as stream:
        stream.write("half a line that was not counted")
    again = parse_text(text, LineParser(), tmp_path / "b.conllu", workers=1, tell=told.append)
    assert (tmp_path / "b.conllu").read_bytes() == (tmp_path / "whole.conllu").read_bytes()
    assert 0 < again.words_now < again.words == 400
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.txt", "b.conllu", "whole.conllu"]


def test_another_text_begins_anew_and_words_are_a_bound(text, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        parse_text(text, LineParser(fails_at=150), tmp_path / "b.conllu", workers=1, tell=lambda _: None)
    text.write_text(TEXT.replace("Ligne", "Autre"), encoding="utf-8")
    made = parse_text(text, LineParser(), tmp_path / "b.conllu", words=60, workers=1, tell=lambda _: None)
    assert 60 <= made.words < 100
    assert "Ligne" not in (tmp_path / "b.conllu").read_text(encoding="utf-8")


def test_two_processes_do_not_write_into_one_file(text, tmp_path):
    with lock(tmp_path / ".b.conllu.lock"), pytest.raises(UserError, match="another process is parsing into this file"):
        parse_text(text, LineParser(), tmp_path / "b.conllu", workers=1, tell=lambda _: None)


@pytest.mark.parametrize(
    ("name", "message"),
    [("fr_core_news_sm", "write spacy:MODEL"), ("spacy:../x", "write spacy:MODEL"), ("stanza:fr", "write spacy:MODEL")],
)
def test_wrong_parsers_are_told(name, message):
    with pytest.raises(UserError, match=message):
        make_parser(name)


def test_a_model_that_is_not_there_is_told():
    pytest.importorskip("spacy", reason="the extra parse is not installed")
    with pytest.raises(UserError, match="spacy:xx_no_such_model: this model is not installed; python -m spacy download"):
        make_parser("spacy:xx_no_such_model")


def test_spacy_gives_trees(tmp_path):
    pytest.importorskip("fr_core_news_sm", reason="this model of spaCy is not installed")
    from concord.data.trees import read_trees

    (tmp_path / "a.txt").write_text("Les livres que Jean a lus sont beaux. Il parle  du chat.\n\nOui.\n", encoding="utf-8")
    parser = make_parser("spacy:fr_core_news_sm")
    made = parse_text(tmp_path / "a.txt", parser, tmp_path / "a.conllu", workers=1, tell=lambda _: None)
    trees = [tree.require_heads() for tree in read_trees(tmp_path / "a.conllu")]
    assert (made.sentences, made.words) == (len(trees), sum(map(len, trees))) == (3, 16)
    assert {tree.comment("parser") for tree in trees} == {"spacy:fr_core_news_sm-3.8.0"}
    assert next(word for word in trees[1].words if word.form == "du").feats == "_"
