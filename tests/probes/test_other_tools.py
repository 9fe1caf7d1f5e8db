"""The protocols of other tools: what they divide by, and what a tie is worth to them."""

import numpy as np
import pytest
from concord.probes.accuracy import tabulate
from concord.probes.collection import ItemSelection, collect
from concord.probes.contract import make_contract
from concord.probes.contract_statement import contract_statement
from concord.probes.probe import build_probe
from concord.probes.scorers import Reading, WordScores
from concord.probes.verdicts import judge

# Good and bad sentences of unequal length; every word costs one nat, and a second pair is tied.
TABLE = "good,bad\nDe kat slaapt nu niet.,De kat slapen.\nJan ziet ons.,Jan zien ons.\nPiet eet.,Piet eten.\n"


def asked(tmp_path, protocol, **rules):
    (tmp_path / "pairs.csv").write_text(TABLE, encoding="utf-8")
    contract = make_contract(protocol, rules)
    return build_probe("own", "nl", collect(tmp_path / "pairs.csv", "nl", None, tmp_path / "c", ItemSelection(contract=contract)))


def constant(probe, pieces=None):
    lengths = [len(sentence.words.split()) for sentence in probe.sentences]
    firsts = np.concatenate([[0], np.cumsum(lengths)])
    counted = None if pieces is None else np.full(firsts[-1], pieces, np.int32)
    return WordScores(firsts, np.full(firsts[-1], -1.0, np.float32), np.zeros(firsts[-1], bool), counted)


@pytest.mark.parametrize("by", ["none", "tokens", "characters", "bytes"])
def test_sums_are_divided_by_what_the_rule_says(tmp_path, by):
    probe = asked(tmp_path, "default", normalize=by, capitalize=False)
    found = judge(probe, constant(probe))
    texts = [("De kat slaapt nu niet.", "De kat slapen."), ("Jan ziet ons.", "Jan zien ons."), ("Piet eet.", "Piet eten.")]
    words = [(6, 4), (4, 4), (3, 3)]  # the full stop is a word
    for row, (pair, counts) in enumerate(zip(texts, words, strict=True)):
        by_name = {
            "none": (1, 1),
            "tokens": counts,
            "characters": [len(t) for t in pair],
            "bytes": [len(t.encode()) for t in pair],
        }
        left, right = (-n / d for n, d in zip(counts, by_name[by], strict=True))
        assert found.margin[row] == pytest.approx(left - right)
    label = "default" if by == "none" else f"default+normalize={by}"
    assert probe.contract.label == label
    assert (f"divided by the number of {by}" in contract_statement(probe, Reading(("<eos>",)))) == (by != "none")


def test_tokens_are_the_pieces_of_the_model_where_it_has_some(tmp_path):
    probe = asked(tmp_path, "minicons")
    assert judge(probe, constant(probe)).margin[0] == 0.0  # a nat a word, whatever the length
    assert judge(probe, constant(probe, pieces=2)).clauses.left[0] == pytest.approx(-0.5)


def test_what_a_tie_is_worth_to_other_tools(tmp_path):
    worth = {}
    for protocol in ("lm_eval", "minicons", "babylm", "default"):
        probe = asked(tmp_path, protocol)
        table = tabulate(probe, judge(probe, constant(probe)))
        worth[protocol] = judge(probe, constant(probe)).verdict[1:].tolist()
        assert table.rows[0].all.ties >= 2
    assert worth["lm_eval"] == [1.0, 1.0]
    assert worth["minicons"] == [0.0, 0.0]
    assert worth["default"] == [0.5, 0.5]
    assert set(worth["babylm"]) <= {0.0, 1.0}
    probe = asked(tmp_path, "babylm")
    assert worth["babylm"] == judge(probe, constant(probe)).verdict[1:].tolist()  # the same each time


def test_a_coin_is_fair():
    from concord.data.grammar import folder_of
    from concord.probes.readers.grammar import expand_grammar

    made = expand_grammar(folder_of("de"), "simple_agrmt", "de")
    heads = [int(made.uid(index), 16) & 1 for index in range(len(made))]
    assert 0.35 < sum(heads) / len(heads) < 0.65


def test_a_rule_that_came_later_renames_no_run_unless_it_is_given(root):
    from concord.settings.run import read_run_settings
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf

    with initialize_config_dir(str(root / "conf"), version_base="1.3"):
        values = OmegaConf.to_container(compose("train", []), resolve=True)
    assert values["probes"]["rules"].pop("normalize") is None
    before = read_run_settings(values).run_name()
    values["probes"]["rules"]["normalize"] = None
    assert read_run_settings(values).run_name() == before
    values["probes"]["rules"]["normalize"] = "tokens"
    assert read_run_settings(values).run_name() != before
