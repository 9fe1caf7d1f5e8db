"""Treebanks: their own sentences and tokens."""

import gzip

import pytest
from concord.data.conllu import TreebankText
from concord.data.text import TextError, sentences
from concord.errors import UserError

BANK = """# sent_id = 1
# text = Il parle du chat.
1\tIl\til\tPRON\t_\t_\t2\tnsubj\t_\t_
2\tparle\tparler\tVERB\t_\t_\t0\troot\t_\t_
3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_
3\tde\tde\tADP\t_\t_\t5\tcase\t_\t_
4\tle\tle\tDET\t_\t_\t5\tdet\t_\t_
5\tchat\tchat\tNOUN\t_\t_\t2\tobl\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

# sent_id = 2
1\t10 000\t10 000\tNUM\t_\t_\t0\troot\t_\t_
1.1\tfantôme\t_\tVERB\t_\t_\t_\t_\t_\t_
2\tfois\tfois\tNOUN\t_\t_\t1\tobl\t_\t_
"""


@pytest.mark.parametrize(
    ("words", "expected"),
    [("surface", ["Il parle du chat .", "10 000 fois"]), ("syntactic", ["Il parle de le chat .", "10 000 fois"])],
)
def test_written_tokens_or_analysed_words(tmp_path, words, expected):
    with gzip.open(tmp_path / "a.conllu.gz", "wt", encoding="utf-8") as stream:
        stream.write(BANK)
    assert [" ".join(tokens) for tokens in sentences(tmp_path / "a.conllu.gz", TreebankText(words))] == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# x\nDas ist Text.\n", r"a.conllu:2: 1 columns, CoNLL-U has 10, separated by tabs; is this a .conllu file\?"),
        ("x" + "\t_" * 9, r"a.conllu:1: 'x' is not a word number"),
        ("²4" + "\t_" * 9, r"a.conllu:1: '²4' is not a word number"),
        ("1-²" + "\t_" * 9, r"a.conllu:1: '1-²' is not a word number"),
        ("1-" + "\t_" * 9, r"a.conllu:1: '1-' is not a word number"),
        ("9" * 5000 + "\t_" * 9, r"a.conllu:1: '9+' is not a word number"),
    ],
)
def test_other_files_are_told_so_with_the_place(tmp_path, text, message):
    (tmp_path / "a.conllu").write_text(text, encoding="utf-8")
    with pytest.raises(TextError, match=message):
        list(sentences(tmp_path / "a.conllu", TreebankText()))


def test_a_wrong_choice_is_refused():
    with pytest.raises(UserError, match="data.words=both: must be surface or syntactic"):
        TreebankText("both")
