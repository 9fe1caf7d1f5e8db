"""The protocols of other tools: what they divide by, and what a tie is worth to them."""

import json

import numpy as np
import pytest
from concord.errors import UserError
from concord.places import cache_folder
from concord.probes.accuracy import tabulate
from concord.probes.collection import ItemSelection, collect, locate
from concord.probes.contract import make_contract
from concord.probes.contract_statement import contract_statement
from concord.probes.prediction_files import save_predictions
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


def tossed(seed, **rules):
    """A set of many items, all of them tied."""
    selection = ItemSelection(constructions=("simple_agrmt",), contract=make_contract("babylm", rules, seed=seed))
    probe = build_probe(
        "agreement", "de", collect(locate("grammars/{lang}", "de"), "de", "grammar", cache_folder("sets"), selection)
    )
    return probe, judge(probe, constant(probe)).verdict


def test_a_coin_is_fair_and_its_seed_is_said():
    probe, first = tossed(0)
    assert set(first) == {0.0, 1.0}
    assert abs(first.mean() - 0.5) < 4 * 0.5 / len(first) ** 0.5
    assert (tossed(0)[1] == first).all()
    other, second = tossed(3)
    assert 0.3 < (first == second).mean() < 0.7
    for made, seed in ((probe, 0), (other, 3)):
        assert f"a tie is decided by a coin toss (seed {seed})" in contract_statement(made, Reading(("<eos>",)))
        assert made.contract.plain()["seed"] == seed
    assert (probe.contract.label, other.contract.label) == ("babylm", "babylm+seed=3")
    assert make_contract("default", {}, seed=3).label == "default"  # no coin, no seed


def test_what_is_not_a_number_is_the_lowest_score_under_babylm_and_an_error_elsewhere(tmp_path, caplog):
    for protocol in ("default", "lm_eval", "minicons", "clams", "babylm"):
        probe = asked(tmp_path, protocol)
        good, bad = probe.contrasts.pairs.sentences.T
        for sides, expected in (((good[0],), 0.0), ((bad[0],), 1.0)):
            scores = constant(probe)
            for sentence in sides:
                scores.logprobs[scores.firsts[sentence] + 1] = np.nan
            if protocol != "babylm":
                with pytest.raises(
                    UserError, match="scores are not finite; the model's weights are damaged, or its training diverged"
                ):
                    judge(probe, scores)
                continue
            found = judge(probe, scores)
            assert (found.verdict[0], found.tie[0]) == (expected, False)
            assert "1 of 3 comparisons have a side that is not a number: it counts as −∞" in caplog.text
            assert tabulate(probe, found).rows[0].all.uncovered == 0
            caplog.clear()
    both = constant(probe)
    both.logprobs[both.firsts[[good[0], bad[0]]]] = (np.nan, -np.inf)
    assert judge(probe, both).tie[0]  # −∞ on both sides
    assert "a score that is not a number counts as −∞" in contract_statement(probe, Reading(("<eos>",)))
    both.logprobs[0] = np.inf
    with pytest.raises(UserError, match="1 of 24 scores are not finite"):
        judge(probe, both)


def test_predictions_are_the_preferred_sentences_as_their_source_writes_them(tmp_path, caplog):
    probe = asked(tmp_path, "babylm")
    scores = constant(probe)
    good = probe.contrasts.pairs.sentences[:, 0]
    scores.logprobs[scores.firsts[good[1]]] = -3.0  # the second pair is judged wrong, the first too: it is longer
    verdicts = judge(probe, scores)
    verdicts.covered[2] = False
    save_predictions(tmp_path / "predictions.json", probe, verdicts)
    said = json.loads((tmp_path / "predictions.json").read_text(encoding="utf-8"))
    first = {"id": "pairs_0", "pred": "De kat slapen."}
    assert said == {"pairs": {"predictions": [first, {"id": "pairs_1", "pred": "Jan zien ons."}]}}
    assert "predictions.json: 1 of 3 contrasts have no prediction" in caplog.text
    save_predictions(tmp_path / "others.json", asked(tmp_path, "default"), verdicts)
    assert not (tmp_path / "others.json").exists()


def test_surprisal_needs_numbers_under_every_protocol():
    import concord

    broken = concord.model(lambda sentences: [[-1.0, np.nan] for _ in sentences], language="en")
    for use in (broken.score, broken.surprisals):
        with pytest.raises(UserError, match="1 of 2 scores are not finite"):
            use(["she sleeps"])


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
