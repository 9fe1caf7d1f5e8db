"""Dependency trees: nothing of the file is lost, and what is wrong with it is told with the line."""

import lzma

import conllu
import pytest
from concord.data.trees import TreeError, parse_features, parse_trees, read_trees
from hypothesis import given
from hypothesis import strategies as st

BANK = """# newdoc id = one
# sent_id = 1
# text = Il parle du chat.
1\tIl\til\tPRON\t_\tNumber=Sing|Person=3\t2\tnsubj\t_\t_
2\tparle\tparler\tVERB\t_\tMood=Ind|Number=Sing\t0\troot\t_\t_
3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_
3\tde\tde\tADP\t_\t_\t5\tcase\t_\t_
4\tle\tle\tDET\t_\tNumber=Sing\t5\tdet\t_\t_
5\tchat\tchat\tNOUN\t_\tGender=Masc|Number=Sing\t2\tobl\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

0.1\tavant\t_\t_\t_\t_\t_\t_\t2:x\t_
1\tOui\toui\tINTJ\t_\t_\t0\troot\t0:root\t_
1.1\tfantôme\t_\tVERB\t_\t_\t_\t_\t0:root\tA=b=c
"""


def word(number=1, head=0, form="a"):
    return f"{number}\t{form}\t_\tX\t_\t_\t{head}\tdep\t_\t_"


def test_a_file_is_written_as_it_was_read(tmp_path):
    with lzma.open(tmp_path / "a.conllu.xz", "wt", encoding="utf-8") as stream:
        stream.write(BANK)
    trees = list(read_trees(tmp_path / "a.conllu.xz"))
    assert "\n\n".join("\n".join(tree.lines()) for tree in trees) + "\n" == BANK
    assert [tree.line for tree in trees] == [4, 12]
    assert [tree.name for tree in trees] == ["1", f"{tmp_path}/a.conllu.xz:12"]
    assert [(token.form, token.space_after) for token in trees[0].written()] == [
        *(("Il", True), ("parle", True), ("du", True), ("chat", False), (".", True)),
    ]
    assert [token.form for token in trees[0].analysed()] == ["Il", "parle", "de", "le", "chat", "."]
    assert trees[0].children()[5] == [3, 4]


def test_the_package_conllu_reads_the_same():
    theirs = conllu.parse(BANK)
    for tree, other in zip(parse_trees(BANK.splitlines(), "a"), theirs, strict=True):
        words = [token for token in other if isinstance(token["id"], int)]
        assert [(w.number, w.form, w.lemma, w.upos, w.head, w.relation, dict(w.features)) for w in tree.words] == [
            (t["id"], t["form"], t["lemma"], t["upos"], t["head"], t["deprel"], t["feats"] or {}) for t in words
        ]
        assert [(token.first, token.last, token.form) for token in tree.multiwords] == [
            (t["id"][0], t["id"][2], t["form"]) for t in other if isinstance(t["id"], tuple) and t["id"][1] == "-"
        ]
        assert {key: tree.comment(key) for key in other.metadata} == other.metadata


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (word(2), r"a:1: found word 2 where word 1 was expected"),
        (word() + "\n" + word(), r"a:2: found word 1 where word 2 was expected"),
        (word(head=7), r"a:1: sentence a:1: word 1 has the head 7, of 1 words"),
        (word(head="x"), r"a:1: the head 'x' is not a word number; it must be a number, 0 for the root"),
        (word(form=" "), r"a:1: a word without a form"),
        ("2-3\ta" + "\t_" * 8 + "\n" + word(), r"a:1: the token 2-3 covers no words that follow it"),
        ("1-3\ta" + "\t_" * 8 + "\n" + word(), r"a:1: sentence a:1: the token 1-3 covers more than its 1 words"),
        ("1-2\ta" + "\t_" * 8 + "\n\n", r"a:2: a sentence without words"),
        ("1-2\t " + "\t_" * 8, r"a:1: a token without a form"),
        ("\n".join(word(n) for n in range(1, 10_002)), r"a:10001: a sentence of more than 10,000 words"),
    ],
)
def test_faults_are_told_with_the_line(text, message):
    with pytest.raises(TreeError, match=message):
        list(parse_trees(text.split("\n"), "a"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (word(1, 2) + "\n" + word(2, 1), "word 1 is below itself; this is not a tree"),
        (word(1, 1), "word 1 is below itself"),
        (word(1, "_"), r"word 1 has no head; is the text parsed\?"),
    ],
)
def test_what_is_no_tree_is_refused_where_trees_are_needed(text, message):
    (tree,) = parse_trees(text.split("\n"), "a")
    with pytest.raises(TreeError, match=message):
        tree.require_heads()


@given(st.lists(st.integers(0, 6), min_size=1, max_size=6))
def test_a_tree_is_what_leads_to_the_root_from_everywhere(heads):
    heads = [min(head, len(heads)) for head in heads]
    (tree,) = parse_trees([word(n, head) for n, head in enumerate(heads, start=1)], "a")

    def reaches_root(at):
        for _ in range(len(heads) + 1):
            if at == 0:
                return True
            at = heads[at - 1]
        return False

    if all(reaches_root(n) for n in range(1, len(heads) + 1)):
        tree.require_heads()
    else:
        with pytest.raises(TreeError):
            tree.require_heads()


def test_features_by_name():
    assert parse_features("_") == {}
    assert parse_features("A=b|C=d,e|F|=x") == {"A": "b", "C": "d,e", "F": ""}
