"""Raw and tokenised text files, whole and broken."""

import gzip
import lzma
from pathlib import Path

import pytest
import yaml
from concord.data.sources import Shares, TextSource
from concord.data.text import RawText, TextError, TokenizedText, check_files, files_of, lines, sentences
from concord.data.tokens import TokenRule

CONF = Path(__file__).resolve().parents[2] / "conf/lang"


def rule(lang: str) -> TokenRule:
    settings = yaml.safe_load((CONF / f"{lang}.yaml").read_text(encoding="utf-8"))
    return TokenRule(settings["tokens"], settings["replace"])


@pytest.mark.parametrize(
    ("lang", "text", "tokens"),
    [
        ("de", "Der Arzt (48) geht's langsam an …", "Der Arzt ( 48 ) geht's langsam an …"),
        ("de", "3,5 Mio. E-Mails -- „gut“!", "3,5 Mio . E-Mails -- „ gut “ !"),
        ("en", "I don't know, it’s the author's 1,000.50 dollars...", "I do n't know , it 's the author 's 1,000.50 dollars ..."),
        ("fr", "Aujourd’hui l'auteur dit qu’il s'en va.", "Aujourd'hui l' auteur dit qu' il s' en va ."),
        ("es", "¿Qué? ¡Al fin del año!", "¿ Qué ? ¡ Al fin del año !"),
        ("ru", "Всё из-за дождя́, 3,5 года — и др.", "Все из-за дождя , 3,5 года — и др ."),
        ("he", 'צה"ל וצ׳ארלי בבית־ספר.', "צה\"ל וצ'ארלי בבית ־ ספר ."),
        ("fr", "e\u0301te\u0301", "été"),
    ],
)
def test_the_documented_rule_of_each_language(lang, text, tokens):
    assert rule(lang)(text) == tokens.split()


def test_raw_prose_becomes_sentences(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("Er kam. Dr. Meier ging!\n\nWarum?\n", encoding="utf-8")
    found = [" ".join(tokens) for tokens in sentences(file, RawText("de", rule("de")))]
    assert found == ["Er kam .", "Dr . Meier ging !", "Warum ?"]


@pytest.mark.parametrize("opener", [(open, ".txt"), (gzip.open, ".gz"), (lzma.open, ".xz")])
def test_compressed_files_are_read_by_their_ending(tmp_path, opener):
    write, ending = opener
    file = tmp_path / f"a{ending}"
    with write(file, "wt", encoding="utf-8") as stream:
        stream.write("ein Satz .\nnoch einer .\n")
    assert list(sentences(file, TokenizedText())) == [["ein", "Satz", "."], ["noch", "einer", "."]]


def test_an_eos_in_tokenised_text_ends_a_sentence_and_is_not_a_word():
    assert list(TokenizedText()("a b . <eos> c . <eos>")) == [["a", "b", "."], ["c", "."]]


def test_not_utf8_gives_line_and_offset(tmp_path):
    file = tmp_path / "a.txt"
    file.write_bytes("gut\nschön\n".encode("latin-1"))
    with pytest.raises(TextError, match=r"a.txt:2: not UTF-8: byte 0xf6 at offset 7; convert the file"):
        list(lines(file))


def test_a_cut_off_archive_is_said_to_be_one(tmp_path):
    file = tmp_path / "a.xz"
    file.write_bytes(lzma.compress(b"some text\n" * 1000)[:-20])
    with pytest.raises(TextError, match="cannot be decompressed"):
        list(lines(file))


@pytest.mark.parametrize("text", ["vitamine C\u00a0.", "Plan B\u00a0. Then", "U.S.A\u3000. x", "A \u00a0 . B\u202f\u00a0. C"])
@pytest.mark.parametrize("lang", ["en", "fr", "de", "ru"])
def test_white_space_before_a_full_stop_is_no_trap(lang, text):
    cut = [token for sentence in RawText(lang, rule(lang))(text) for token in sentence]
    assert "".join(cut) == "".join(text.split())


def test_a_line_that_cannot_be_split_is_named(monkeypatch):
    class PanicException(BaseException):
        pass

    def panics(language, line):
        raise PanicException

    monkeypatch.setattr("concord.data.text.sentencex.segment", panics)
    with pytest.raises(TextError, match="sentencex cannot split the line 'So it goes'"):
        list(RawText("en", rule("en"))("So it goes"))


def test_files_may_be_at_home_and_must_be_readable(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert files_of("~/a.txt") == (tmp_path / "a.txt",)
    (tmp_path / "a.txt.zst").write_bytes(b"x")
    with pytest.raises(TextError, match=r"a.txt.zst: .zst files cannot be read; unpack it, or give .txt"):
        check_files([tmp_path / "a.txt.zst"])


def test_a_file_may_be_called_as_a_glob_is_written(tmp_path):
    for name in ("novels [1].txt", "novels 1.txt"):
        (tmp_path / name).write_text("x\n", encoding="utf-8")
    assert files_of(f"{tmp_path}/novels [1].txt") == (tmp_path / "novels [1].txt",)
    assert files_of(f"{tmp_path}/novels [12].txt") == (tmp_path / "novels 1.txt",)


def test_missing_and_empty_corpora_are_errors(tmp_path):
    missing = TextSource({"all": tmp_path / "no.txt"}, TokenizedText(), seed=0)
    with pytest.raises(TextError, match=r"no.txt: no such file; give data.path= text files \("):
        missing.key()
    (tmp_path / "empty.txt").write_text("\n \n", encoding="utf-8")
    with pytest.raises(TextError, match=r"empty.txt: no sentence found; the corpus is empty"):
        list(TextSource({"all": tmp_path / "empty.txt"}, TokenizedText(), seed=0).blocks())


def test_of_every_ten_sentences_eight_are_for_training():
    shares = Shares(seed=1)
    tens = [[next(shares) for _ in range(10)] for _ in range(50)]
    assert all(sorted(ten) == ["test", *["train"] * 8, "valid"] for ten in tens)
    assert len({tuple(ten) for ten in tens}) > 20
