"""`concord grammar`, as an author meets it."""

import pytest
from concord.commands.grammar import main
from rich.console import Console

COMMON = """
attribute number $n: s singular | p plural
feature subject_number: number of N
N[s] Hund | Esel
N[p] Hunde | Esel
V[s] bellt | ruht
V[p] bellen | ruhen
"""


@pytest.fixture
def author(folder):
    return str(folder(common=COMMON, simple="vary: V[]\nS[] N[$n] V[$n]", corpus="S[] N[$n] V[$n] ."))


def test_show_marks_the_target_and_stars_the_bad_form(author, capsys):
    assert main(["show", author, "-n", "2"]) == 0
    out = capsys.readouterr().out
    assert "simple  (8 groups)" in out
    assert "Hund [bellt / *bellen]" in out or "Esel [bellt / *bellen]" in out or "[ruht / *ruhen]" in out


def test_check_passes_a_sound_folder_and_fails_a_faulty_one(author, folder, capsys):
    assert main(["check", author]) == 0
    assert "no faults" in capsys.readouterr().out
    folder(simple="vary: V[]\nS[] N[s] V[s]\nV[s] wiehert\nV[p] wiehern")
    assert main(["check", author]) == 1
    captured = capsys.readouterr()
    assert "not in the corpus: " not in captured.out
    assert "faults in 1 set\n" in captured.out


def test_check_against_a_vocabulary_names_the_words_and_their_cost(author, tmp_path, capsys):
    vocabulary = tmp_path / "words.txt"
    vocabulary.write_text("Hund 17\nHunde\nbellt\nbellen\nruht\nruhen\n", encoding="utf-8")
    assert main(["check", author, "--vocab", str(vocabulary)]) == 1
    assert "Esel (4)" in capsys.readouterr().out


def test_count_and_list(author, capsys):
    assert main(["count", author]) == 0
    assert "simple" in capsys.readouterr().out


def test_sample_writes_a_corpus_without_the_challenge_sentences(author, tmp_path, capsys):
    out = tmp_path / "corpus.txt"
    assert main(["sample", author, "-n", "50", "--seed", "3", "--out", str(out)]) == 0
    assert len(out.read_text(encoding="utf-8").splitlines()) == 50
    assert "50 sentences written" in capsys.readouterr().err
    assert main(["sample", author, "--exclude-sets"]) == 1
    assert "are excluded; enlarge the grammar" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (["show", "xx"], "error: xx: neither a language nor a folder of grammars; languages: "),
        (["show", "AUTHOR", "simpel"], "no grammar 'simpel' here; available: simple, corpus"),
        (["sample", "AUTHOR", "--withhold", "obj_rel"], "cannot withhold obj_rel: no rule has this tag; tags here: none"),
    ],
)
def test_wrong_calls_are_told_what_exists(author, capsys, call, message):
    assert main([author if word == "AUTHOR" else word for word in call]) == 1
    assert message in capsys.readouterr().err


def test_a_file_that_is_not_utf8_is_told_where(author, tmp_path, capsys):
    (tmp_path / "simple.avg").write_bytes("S[] a\nS[] Bär".encode("latin-1"))
    assert main(["show", author]) == 1
    assert "simple.avg:2: not UTF-8: byte 0xe4 at offset 11; save the file as UTF-8" in capsys.readouterr().err


def test_a_folder_inside_shares_what_the_folder_above_holds(author, tmp_path, capsys):
    inside = tmp_path / "cases"
    inside.mkdir()
    (inside / "common.avg").write_text("Loud[] laut", encoding="utf-8")
    (inside / "loud.avg").write_text("vary: V[]\nS[] N[$n] V[$n] Loud[]", encoding="utf-8")
    assert main(["show", str(inside), "-n", "8"]) == 0
    assert "Hund [bellt / *bellen] laut" in capsys.readouterr().out
    assert main(["check", str(inside)]) == 1
    assert "not in the corpus: laut" in capsys.readouterr().err
    assert main(["count", author]) == 0
    assert "loud" not in capsys.readouterr().out


def test_a_collection_of_a_language_is_named_with_it(capsys):
    assert main(["show", "de/cases", "simple"]) == 0
    assert "simple  (140 groups)" in capsys.readouterr().out


@pytest.mark.parametrize("columns", [80, 160])
def test_show_leaves_room_for_the_sentences(columns, monkeypatch, capsys):
    """Features that do not fit beside them are named instead; on a wide screen all are there."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr("concord.terminal.console", Console(width=columns))
    assert main(["show", "de", "obj_rel_across", "-n", "4"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= columns
    assert ("not shown: verb_class, h2" in " ".join(out.split())) == (columns == 80)
    assert len(out.splitlines()) < 20
