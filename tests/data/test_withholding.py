"""Withholding in real text: what is found, what is left, and a control of equal size."""

from collections import Counter

import numpy as np
import pytest
from concord.data.conllu import TreebankText
from concord.data.corpus import prepare
from concord.data.selection import Selection
from concord.data.sources import TextSource
from concord.data.trees import read_trees
from concord.data.vocabulary import VocabularyRule
from concord.data.withholding import Withholding
from concord.errors import UserError
from concord.places import installed_folder

SAMPLE = installed_folder("patterns") / "fr" / "sample.conllu"


def corpus(tmp_path, withhold=(), control=False, files=None, max_tokens=None):
    withholding = Withholding(withhold, "fr", control) if withhold else None
    source = TextSource(files or {"train": SAMPLE, "valid": SAMPLE, "test": SAMPLE}, TreebankText("surface", withholding), 0)
    return prepare(source, VocabularyRule(None), tmp_path / "cache", Selection(max_tokens=max_tokens, withhold_control=control))


def sentences(split, vocabulary):
    words = list(vocabulary.words)
    return [
        " ".join(words[i] for i in split.ids[start : end - 1])
        for start, end in zip(split.offsets[:-1], split.offsets[1:], strict=True)
    ]


def scan(kept):
    return [" ".join(token.form for token in tree.written()) for tree in read_trees(SAMPLE) if kept(tree)]


@pytest.mark.parametrize(
    ("names", "has"),
    [
        (["acl:relcl"], lambda tree: any(word.relation == "acl:relcl" for word in tree.words)),
        (["aux*"], lambda tree: any(word.relation.split(":")[0] == "aux" for word in tree.words)),
        (["nsubj:pass", "nummod"], lambda tree: any(word.relation in ("nsubj:pass", "nummod") for word in tree.words)),
    ],
)
def test_train_has_no_sentence_of_the_kind_and_all_others(tmp_path, names, has):
    made = corpus(tmp_path, names)
    assert sentences(made.train, made.vocabulary) == scan(lambda tree: not has(tree))
    whole = corpus(tmp_path)
    assert len(made.valid) == len(whole.valid) == 62  # so that perplexities compare
    assert made.report.get("sentences withheld from train", 0) == sum(map(has, read_trees(SAMPLE)))


def test_what_is_withheld_is_not_counted_as_too_much_as_well(tmp_path):
    made = corpus(tmp_path, ["nsubj:pass"], max_tokens=200)
    whole = corpus(tmp_path)
    beyond, withheld = (made.report[f"sentences {what}"] for what in ("beyond the size asked for", "withheld from train"))
    assert len(made.train) + beyond + withheld == len(whole.train)
    assert beyond > 0
    assert withheld == 5


def test_the_control_is_of_equal_size(tmp_path):
    without, control, whole = corpus(tmp_path, ["nsubj:pass"]), corpus(tmp_path, ["nsubj:pass"], True), corpus(tmp_path)
    assert len(without.train) == len(control.train) == len(whole.train) - 5
    assert abs(without.train.words - control.train.words) <= 5
    passive = set(scan(lambda tree: any(word.relation == "nsubj:pass" for word in tree.words)))
    kept = set(sentences(control.train, control.vocabulary))
    assert passive <= kept
    assert not passive & set(sentences(without.train, without.vocabulary))
    assert control.report["other sentences taken out of train (control)"] == 5
    assert len({without.folder, control.folder, whole.folder}) == 3


def test_each_length_loses_as_many_in_the_control():
    lengths = np.array([5, 5, 5, 7, 7, 9, 9, 9], dtype=np.uint32)
    withheld = np.array([1, 0, 0, 1, 0, 0, 0, 1], dtype=bool)
    splits = np.zeros(8, np.uint8)
    facts = (lengths, splits, np.zeros(8, np.uint8), np.ones(8, bool), withheld)
    without = Selection().orders(*facts)["train"]
    control = Selection(withhold_control=True).orders(*facts)["train"]
    assert Counter(lengths[without].tolist()) == Counter(lengths[control].tolist())
    assert set(control.tolist()) >= {0, 3, 7}


def test_no_control_where_too_little_is_left(tmp_path):
    with pytest.raises(UserError, match="fewer sentences are left than are withheld"):
        corpus(tmp_path, ["nsubj*"], control=True)


def test_what_no_sentence_has_is_told(tmp_path):
    with pytest.raises(UserError, match=r"data.withhold=\[acl:relc\]: no sentence of the treebank has any of these"):
        corpus(tmp_path, ["acl:relc"])


@pytest.mark.parametrize("name", ["acl_relcl", "fr/obj_particple", "Nsubj"])
def test_a_misspelt_name_is_told(name):
    with pytest.raises(UserError, match=r"data.withhold=\[.*\]: neither a relation .* nor a pattern; patterns: en/sv_number"):
        Withholding([name], "fr")


def test_a_pattern_withholds_its_sentences():
    withholding = Withholding(["fr/obj_participle"], "fr")
    assert sum(bool(withholding(tree)) for tree in read_trees(SAMPLE)) == 34
