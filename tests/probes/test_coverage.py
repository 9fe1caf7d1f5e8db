"""Which items the published rules keep, by hand-made cases and a tokenizer that was trained on them."""

import functools
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from concord.probes.challenge_set import ChallengeSet
from concord.probes.coverage import FormCoverage, RuleCoverage, form_coverage, item_sentences, rule_coverage
from concord.probes.disagreement import Disagreement, disagreements
from concord.probes.pairs import pair
from concord.probes.readers import reader
from concord.probes.scorers.pretrained.scores import unequal
from concord.probes.scorers.pretrained.word_pieces import target_pieces, tokenise
from pretrained_models import cut

SHARED = Path(__file__).resolve().parents[3] / "shared/reference"
PAIRS = [
    ("the author laughs", "the author laugh"),  # a piece each
    ("the author swims", "the author swim"),  # several pieces each, of different number
    ("the author is old", "the author are old"),  # is: a piece; are: several
    ("the author is old and", "the author are olds and"),  # two words differ
    ("the author laughs", "the author 好"),  # unknown
]


def made(*pairs):
    """Pieces as told in the pairs: (good, bad)."""
    sets = ChallengeSet("made", "en", "test", "made.tsv")
    for number, (good, bad) in enumerate(pairs):
        sets.add(number, {}, pair(tuple(good.split()), tuple(bad.split())))
    return sets


def count_by(numbers):
    """A tokenizer of hand-made numbers: 0 stands for unknown."""

    def count(sentences):
        words = [s.words.split(" ")[slice(*s.target)] for s in sentences]
        sums = [sum(max(numbers[w], 1) for w in each) for each in words]
        return [(number, all(numbers[w] for w in each), number) for number, each in zip(sums, words, strict=True)]

    return count


def test_each_rule_keeps_what_its_paper_keeps():
    numbers = {"laughs": 1, "laugh": 1, "swims": 3, "swim": 2, "is": 1, "are": 2, "old": 1, "olds": 2, "好": 0}
    assert rule_coverage(made(*PAIRS), count_by(numbers)) == RuleCoverage(
        "made", items=5, one_word=4, known=4, one_piece=1, equal_pieces=2
    )
    assert form_coverage([made(*PAIRS)], count_by(numbers)) == FormCoverage(
        "en", ["are", "is", "laugh", "laughs", "swim", "swims", "好"], ["are", "swim", "swims", "好"]
    )


def test_a_form_counts_once_however_many_sets_it_is_in():
    again = form_coverage([made(*PAIRS[:2]), made(*PAIRS[:2])], count_by({"laughs": 1, "laugh": 1, "swims": 3, "swim": 2}))
    assert again == FormCoverage("en", ["laugh", "laughs", "swim", "swims"], ["swim", "swims"])


@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "gpt2"])
def test_real_tokenizers_count_pieces_where_the_target_stands(family):
    tokenizer = cut(family)
    count = functools.partial(target_pieces, tokenizer)
    row = rule_coverage(made(*PAIRS), count)
    assert (row.items, row.one_word) == (5, 4)
    assert row.known == (5 if family == "gpt2" else 4)  # bytes know everything
    found = form_coverage([made(*PAIRS)], count)
    for form in found.forms:
        pieces = tokenizer.tokenize(f"the {form}")
        assert (form in found.multi_piece) == (len(pieces) - len(tokenizer.tokenize("the")) != 1 or tokenizer.unk_token in pieces)


@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "gpt2"])
def test_the_word_alone_decides_which_pairs_have_equal_numbers_of_pieces(family):
    tokenizer = cut(family)
    items = list(item_sentences(made(*PAIRS)))
    alone = [[tokenizer.tokenize(" ".join(s.words.split(" ")[slice(*s.target)])) for s in item] for item in items]
    equal = [len({len(pieces) for pieces in item}) == 1 for item in alone]
    assert rule_coverage(made(*PAIRS), functools.partial(target_pieces, tokenizer)).equal_pieces == sum(equal)
    sentences = [sentence for item in items for sentence in item]
    marks = unequal(tokenizer)(tokenise(tokenizer, sentences, "written", marks=False), sentences)
    assert [not mark.any() for mark in marks[::2]] == equal
    # Where pieces hold the space before them, a word by itself is cut otherwise than in a sentence, and the rule may differ.
    standing = [[number for number, *_ in target_pieces(tokenizer, item)] for item in items]
    assert ([len(set(item)) == 1 for item in standing] != equal) == (family == "gpt2")


def test_scorers_are_compared_item_by_item_where_both_cover_them():
    nan = np.nan
    verdicts = {
        "pll": np.array([1.0, 0.0, 1.0, 0.5, 1.0, nan]),
        "masked_target": np.array([1.0, 1.0, 0.0, 1.0, nan, nan]),
        "causal": np.array([1.0, 0.0, 1.0, 0.5, 1.0, 1.0]),
    }
    rows = disagreements(verdicts)
    assert rows == [
        Disagreement("pll", "masked_target", n=4, differ=3, only_one=1, only_other=2),
        Disagreement("pll", "causal", n=5, differ=0, only_one=0, only_other=0),
        Disagreement("masked_target", "causal", n=4, differ=3, only_one=2, only_other=1),
    ]
    assert rows[0].share == 0.75
    assert np.isnan(disagreements({"a": np.array([nan]), "b": np.array([1.0])})[0].share)
    with pytest.raises(ValueError, match="the same items"):
        disagreements({"a": np.zeros(2), "b": np.zeros(3)})


# Pieces of the words that the published French sets test, as bert-base-multilingual-cased and xlm-roberta-base cut them
# (benchmarks/pretrained.py coverage counts them with the real ones).
PIECES = {
    "mBERT": (
        {
            "a": 1,
            "admire": 2,
            "admirent": 3,
            "aime": 1,
            "aiment": 2,
            "connaissent": 3,
            "connaît": 1,
            "déménage": 3,
            "déménagent": 3,
        }
        | {
            "déteste": 3,
            "détestent": 3,
            "est": 1,
            "ont": 1,
            "parle": 1,
            "parlent": 2,
            "préfère": 2,
            "préfèrent": 3,
            "retourne": 1,
        }
        | {"retournent": 2, "sont": 1, "écrit": 1, "écrivent": 3, "évite": 2, "évitent": 2}
    ),
    "XLM-R": (
        {
            "a": 1,
            "admire": 2,
            "admirent": 2,
            "aime": 1,
            "aiment": 2,
            "connaissent": 2,
            "connaît": 1,
            "déménage": 1,
            "déménagent": 2,
        }
        | {
            "déteste": 2,
            "détestent": 3,
            "est": 1,
            "ont": 1,
            "parle": 1,
            "parlent": 2,
            "préfère": 1,
            "préfèrent": 2,
            "retourne": 2,
        }
        | {"retournent": 2, "sont": 1, "écrit": 1, "écrivent": 3, "évite": 2, "évitent": 2}
    ),
}


@pytest.fixture(scope="module")
def french():
    """The published sets, read once."""
    return [made for file in sorted((SHARED / "clams_fr/evalset").iterdir()) for made in reader("clams").read(file, "fr")]


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason="the published sets are not on this machine")
@pytest.mark.parametrize(("model", "several"), [("mBERT", 15), ("XLM-R", 14)])
def test_the_published_counts_of_french(french, model, several):
    """Mueller et al. 2020, Table 7 (items that are kept); Hilsenbek 2022, Table 1 (15 and 14 of 24 forms are several pieces)."""
    # Where two words differ the item is lost anyway, so that the pieces of those words do not matter.
    count = count_by(defaultdict(lambda: 1, PIECES[model]))
    rows = {made.construction: rule_coverage(made, count) for made in french}
    published = {"simple_agrmt": 40, "vp_coord": 140, "subj_rel": 1600, "obj_rel_across_anim": 1600, "prep_anim": 2000}
    assert {name: rows[name].one_piece for name in published} == published
    found = form_coverage(french, count)
    assert (len(found.multi_piece), len(found.forms)) == (several, 24)
    assert sum(row.items - row.one_word for row in rows.values()) == 16_140
