"""Originals and controls in the report: tables, paired tests, the regression, withheld against control, the best runs."""

import numpy as np
import pytest
from concord.commands.sets import main as sets
from concord.errors import UserError
from concord.places import cache_folder, installed_folder
from concord.probes.collection import ItemSelection, collect
from concord.probes.contract import make_contract
from concord.probes.groupings import read_groupings
from concord.probes.probe import build_probe
from concord.report import control_tables
from concord.report.comparison import mcnemar_p
from concord.report.conditions import group_by_condition
from concord.report.control_tables import logistic_regression, paired_tests
from concord.report.gathering import gather_results
from concord.report.judgements import final_judgements
from concord.report.report_folder import make_report
from pyarrow import parquet
from synthetic_runs import asked, settings, write_run

SAMPLE = installed_folder("patterns") / "fr" / "sample.conllu"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("controls")
    assert sets(["extract", "fr/obj_participle", str(SAMPLE), "--lang", "fr", "--out", str(folder / "sets")]) == 0
    selection = ItemSelection(contract=make_contract("default", {}))
    found = collect(folder / "sets", "fr", "own", cache_folder("sets"), selection)
    grouping = read_groupings({"heuristics": {"by": "n_heuristics"}}, "here")
    probe = build_probe("treebank", "fr", found, grouping)
    for seed in (1, 2, 3):
        write_run(
            folder / "runs" / f"s{seed}",
            probe,
            seed,
            epochs=2,
            skill=0.3 + seed / 10,
            chosen=settings("lang=fr", "probes=treebank"),
        )
    return folder / "runs"


def grid_of(made, name):
    return next(grid for grid in made.tables if grid.name == name)


def test_the_tables_of_the_paper(runs):
    made = make_report([runs])
    groups = grid_of(made, "by-heuristic-groups")
    assert [label for label, _ in groups.rows] == [str(n) for n in range(5)]
    ours, theirs = groups.heads[:4], groups.heads[4:]
    assert [head.name for head in ours] == ["original", "permuted", "nonce", "mirror"]
    assert [head.name for head in theirs] == [
        f"{model}, {kind}" for model in ("LSTM", "Transformer") for kind in ("original", "permuted", "nonce")
    ]
    assert all(head.published for head in theirs)
    assert dict(groups.rows)["0"][4].text == "0.35 ± 0.07"
    number = dict(grid_of(made, "by-number").rows)["plural"]
    assert [cell.text for cell in number[4:7]] == ["0.52 ± 0.05", "0.50 ± 0.07", "0.43 ± 0.04"]
    table = parquet.read_table(runs / "s1/probes/final-fr-treebank/items.parquet").to_pylist()
    own = [row["verdict"] for row in table if row["control"] == "original" and row["n_heuristics"] == 4]
    cell = dict(groups.rows)["4"][0]
    assert dict(cell.numbers)["n"] == len(own)
    assert {grid.name for grid in made.tables} >= {
        "by-number",
        "by-distance",
        "by-inverted",
        "heuristics",
        "controls",
        "regression",
    }


def test_an_original_and_its_controls_are_items_of_their_own(runs):
    """They share their uid: each set has the accuracy of its own verdicts."""
    table = parquet.read_table(runs / "s1/probes/final-fr-treebank/items.parquet").to_pylist()
    verdicts: dict[str, list[float]] = {}
    for row in table:
        verdicts.setdefault(row["construction"], []).append(row["verdict"])
    found = final_judgements(gather_results([runs / "s1"]).results)
    assert len(verdicts) == 4
    for name, own in verdicts.items():
        assert found.of(name).n.sum() == len(own)
        assert found.of(name).accuracy == pytest.approx([np.mean(own)])
    made = make_report([runs / "s1"])
    rows = {label: cells[0].text for label, cells in grid_of(made, "accuracy").rows}
    assert rows["obj participle"] == f"{np.mean(verdicts['obj_participle']):.2f}"


def test_the_heuristics_sum_to_their_mean_number(runs):
    rows = dict(grid_of(make_report([runs]), "heuristics").rows)
    for at in range(4):
        shares = [dict(rows[name][at].numbers)["value"] for name in ("h1", "h2", "h3", "h4")]
        assert sum(shares) == pytest.approx(dict(rows["mean n_heuristics"][at].numbers)["value"])


def test_controls_are_paired_with_their_originals_by_name(runs):
    found = [each for each in paired_tests(group_by_condition(gather_results([runs]).results)) if each.model == "s1"]
    table = parquet.read_table(runs / "s1/probes/final-fr-treebank/items.parquet").to_pylist()
    verdicts = {(row["control"], row["uid"]): row["verdict"] for row in table}
    assert [each.control for each in found] == ["permuted", "nonce", "mirror"]
    for each in found:
        pairs = [
            (verdicts["original", uid], verdict)
            for (kind, uid), verdict in verdicts.items()
            if kind == each.control and "~" not in uid
        ]
        better, worse = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
        assert (each.n, each.better, each.worse) == (len(pairs), better, worse)
        assert each.p == mcnemar_p(better, worse)


def test_the_regression_is_that_of_statsmodels():
    from statsmodels.api import Logit, add_constant

    rng = np.random.default_rng(3)
    x = rng.normal(size=(400, 3))
    y = (rng.random(400) < 1 / (1 + np.exp(-(0.4 + x @ [1.0, -0.5, 0.0])))).astype(float)
    found = logistic_regression(x, y, ["a", "b", "c"])
    theirs = Logit(y, add_constant(x)).fit(disp=False)
    assert found.names == ("constant", "a", "b", "c")
    np.testing.assert_allclose(found.coefficients, theirs.params, atol=1e-6)
    np.testing.assert_allclose(found.errors, theirs.bse, atol=1e-6)
    assert logistic_regression(np.column_stack([x[:, 0], x[:, 0]]), y, ["a", "a"]) is None
    assert logistic_regression(y[:, None], y, ["y"]) is None


def test_the_best_runs_by_validation_perplexity(runs):
    made = make_report([runs], best=(2, "valid/perplexity"))
    values = {r.name: min(v for _, v in r.perplexities) for r in gather_results([runs]).results}
    best = sorted(values, key=values.get)[:2]
    assert sorted(r.name for r in made.findings.results) == sorted(best)
    assert any("not among the 2 best by valid/perplexity" in each.why for each in made.findings.left_out)
    with pytest.raises(
        UserError, match="--by accuracy: runs cannot be ranked by this; choose one of: valid/perplexity, test/perplexity"
    ):
        make_report([runs], best=(2, "accuracy"))


def test_withheld_beside_its_control(tmp_path):
    probe = asked("fr", 8)
    base = ("lang=fr", "data=conllu", "data.path=[x.conllu]", "data.withhold=['acl:relcl']")
    write_run(tmp_path / "without", probe, 1, epochs=1, skill=0.1, chosen=settings(*base))
    write_run(tmp_path / "control", probe, 1, epochs=1, skill=1.5, chosen=settings(*base, "data.withhold_control=true"))
    made = make_report([tmp_path])
    grid = grid_of(made, "withholding")
    scores = {r.name: r.scores for r in made.findings.results}
    for label, cells in grid.rows:
        name = label.rpartition(": ")[2]
        values = [dict(cell.numbers)["value"] for cell in cells[:3]]
        assert values[:2] == [scores["without"][name].accuracy, scores["control"][name].accuracy]
        assert values[2] == pytest.approx(values[0] - values[1])
    assert len(grid.rows) == 7
    assert "without acl:relcl" in grid.rows[0][0]


def test_agreement_alone_has_no_such_tables(tmp_path):
    write_run(tmp_path / "a", asked("fr", 8), 1, epochs=1)
    assert not {"by-heuristic-groups", "controls", "withholding"} & {grid.name for grid in make_report([tmp_path]).tables}


def test_a_feature_that_no_covered_item_has_makes_no_table(runs, monkeypatch):
    """As in a small run, whose vocabulary does not cover the few items that have it."""
    shown = ("nowhere", "nowhere", "Accuracy by what no item has")
    monkeypatch.setattr(control_tables, "TABLES", (*control_tables.TABLES, shown))
    monkeypatch.setattr(control_tables, "_has", lambda result, name: result.items is not None)
    names = {grid.name for grid in make_report([runs]).tables}
    assert "by-number" in names
    assert "by-nowhere" not in names
