"""Tables: the numbers of the papers' tables, in three formats; published numbers beside ours, never among them."""

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from concord.errors import UserError
from concord.report.grids import Cell, Grid, Head, to_csv, to_latex, to_markdown
from concord.report.published_values import published, published_columns
from concord.report.report_folder import make_report
from concord.report.wording import construction_name, format_words, in_paper_order
from concord.runs.metrics_file import read
from pyarrow import parquet
from synthetic_runs import asked, read_json, write_evaluation, write_run
from training_runs import TINY, train


def grid_of(made, name: str) -> Grid:
    return next(grid for grid in [*made.tables, *made.statistics] if grid.name == name)


def cells(grid: Grid, row: str) -> list[str]:
    return [cell.text for label, own in grid.rows if label == row for cell in own]


def test_the_main_table_has_mean_and_deviation_over_seeds_with_perplexity_on_top(study: Path) -> None:
    made = make_report([study])
    grid = grid_of(made, "accuracy")
    ours = [head.flat for head in grid.heads if not head.published]
    assert ours == ["German · lstm (3 seeds)", "German · transformer (2 seeds)", "Hebrew · lstm (3 seeds)"]
    assert [label for label, _ in grid.rows] == [
        "test perplexity",
        "simple agreement",
        "VP coordination",
        "long VP coordination",
        "across a subject relative",
        "within an object relative",
        "across an object relative",
        "across a prepositional phrase",
        "mean",
    ]
    condition = made.conditions[0]
    values = np.array([result.scores["prep"].accuracy for result in condition.results])
    assert cells(grid, "across a prepositional phrase")[0] == f"{values.mean():.2f} ± {values.std(ddof=1):.2f}"
    perplexities = np.array([result.perplexity for result in condition.results])
    assert cells(grid, "test perplexity")[0] == f"{perplexities.mean():,.2f} ± {perplexities.std(ddof=1):,.2f}"
    rows = list(csv.DictReader(io.StringIO(to_csv(grid))))
    (found,) = [
        row for row in rows if row["row"] == "mean" and row["column"] == "lstm (3 seeds)" and row["column group"] == "German"
    ]
    assert float(found["value"]) == pytest.approx(np.mean([result.mean for result in condition.results]))
    assert float(found["low"]) < float(found["value"]) < float(found["high"])


def test_published_numbers_stand_in_columns_of_their_own(study: Path) -> None:
    made = make_report([study])
    grid = grid_of(made, "accuracy")
    heads = [head.flat for head in grid.heads if head.published]
    assert "German, Mueller et al. 2020 Table 2 · mBERT" in heads
    assert not any("Marvin" in head for head in heads)  # English only
    assert [head.published for head in grid.heads] == sorted(head.published for head in grid.heads)
    assert "† published" in grid.note
    shown = dict(zip([head.flat for head in grid.heads], cells(grid, "across a subject relative"), strict=True))
    assert shown["German, Mueller et al. 2020 Table 2 · mBERT"] == "0.73"
    # The mean over our constructions knows nothing of them.
    assert set(cells(grid, "mean")[3:]) == {"–"}
    assert "published" not in grid_of(made, "subcases").note


def test_the_published_numbers_are_data_with_a_source() -> None:
    every = published()
    assert {each.source for each in every} == {
        "Mueller et al. 2020 Table 1",
        "Mueller et al. 2020 Table 2",
        "Marvin & Linzen 2018 Table 2",
    }
    assert all(0.4 <= each.value <= 1 for each in every if each.construction != "perplexity")
    keys = [(each.source, each.language, each.construction, each.model) for each in every]
    assert len(set(keys)) == len(keys)
    assert [key[1] for key in published_columns("en", ["sent_comp"], unchecked=True)] == ["LSTM", "humans"]
    assert published_columns("es", ["prep"]) == {}


@pytest.mark.parametrize("asked", [False, True])
def test_what_was_not_checked_is_shown_only_on_request_and_marked(study: Path, asked: bool) -> None:
    grid = grid_of(make_report([study], unchecked=asked), "accuracy")
    doubtful = [cell.text for _, own in grid.rows for cell in own if cell.text.endswith("?")]
    assert bool(doubtful) == asked
    assert ("? not yet checked" in grid.note) == asked
    shown = {cell.text for (_, own) in grid.rows for head, cell in zip(grid.heads, own, strict=True) if head.published}
    assert {"0.73", "0.93"} <= shown  # of mBERT, checked


def test_subcases_sizes_references_and_contracts_are_tables_too(study: Path, capitalised: Path) -> None:
    made = make_report([study, capitalised])
    row = "across a prepositional phrase: sg subject, pl attractor"
    values = [result.scores["prep"].parts["sp"][0] for result in made.conditions[0].results]
    assert cells(grid_of(made, "subcases"), row)[0].startswith(f"{np.mean(values):.2f} ± ")
    assert cells(grid_of(made, "sizes"), "simple agreement")[:3] == ["24", "100%", "0"]
    assert cells(grid_of(made, "references"), "across a subject relative")[:2] == ["0.50", "0.50"]
    contracts = grid_of(made, "contracts")
    assert [head.flat for head in contracts.heads] == [
        "German, lstm · default (2 seeds)",  # of three, those that were also asked the other way
        "German, lstm · default+capitalize (2 seeds)",
    ]
    assert "default+capitalize: each sentence alone" in contracts.note


def test_models_and_scorers_make_a_table(scored: Path) -> None:
    made = make_report([scored])
    grid = grid_of(made, "scorers")
    assert [head.name for head in grid.heads] == ["pll", "sentence_ce"]
    assert [label for label, _ in grid.rows] == ["English, bert-a", "English, bert-b"]
    means = {result.name: f"{result.mean:.2f}" for result in made.findings.results}
    assert [[cell.text for cell in own] for _, own in grid.rows] == [
        [means["bert-a/pll"], means["bert-a/sentence_ce"]],
        [means["bert-b/pll"], means["bert-b/sentence_ce"]],
    ]
    assert [condition.name for condition in made.conditions][:2] == ["bert-a, pll", "bert-a, sentence_ce"]


def test_simulated_evaluations_are_written_as_real_ones_are(scored: Path, tmp_path: Path) -> None:
    """The reports of these tests rest on it."""
    real = scored / "bert-a"
    made = write_evaluation(tmp_path / "made", asked("en", 4, constructions=("simple_agrmt", "prep")), ["a/pll", "a/sentence_ce"])
    theirs, ours = (read_json(folder / "summary.json") for folder in (real, made))
    assert set(ours) == set(theirs)
    assert set(ours["models"]["a/pll"]) == set(theirs["models"]["bert-a/pll"])
    columns = [parquet.read_schema(next(folder.glob("items-*pll.parquet"))).names for folder in (real, made)]
    assert columns[0] == columns[1]


@pytest.mark.slow
def test_simulated_runs_are_written_as_real_ones_are(tmp_path: Path) -> None:
    train(tmp_path, *TINY, "name=real", "probes.sample=8")
    real = tmp_path / "runs/real/probes"
    made = write_run(tmp_path / "made", asked("de", 12), epochs=1) / "probes"
    theirs, ours = (read_json(folder / "final-de-agreement/summary.json") for folder in (real, made))
    assert set(ours) == set(theirs)
    for file in ("final-de-agreement/items.parquet", "de-agreement-step00000000.parquet"):
        schemas = [parquet.read_schema(folder / file) for folder in (real, made)]
        assert [n for n in schemas[0].names if not n.endswith("_frequency")] == schemas[1].names
        assert set(json.loads(schemas[0].metadata[b"concord"])) == set(json.loads(schemas[1].metadata[b"concord"]))
    rows = [read(folder.parent / "metrics.csv") for folder in (real, made)]
    assert {name for row in rows[1] for name in row} <= {name for row in rows[0] for name in row}


def test_any_feature_can_be_a_row_or_a_column(study: Path) -> None:
    made = make_report([study / "de-lstm-s1"], crossings=[("construction", "attractor_number"), ("subject_number,distance", "")])
    by_attractor, by_distance = made.tables[-2:]
    assert [head.name for head in by_attractor.heads] == ["attractor_number=plural", "attractor_number=singular"]
    (result,) = made.findings.results
    n = sum(dict(cell.numbers)["n"] for label, own in by_attractor.rows if label.endswith("phrase") for cell in own)
    assert n == result.scores["prep"].n
    assert [head.flat for head in by_distance.heads] == ["all"]
    distances = [
        int(label.rpartition("distance=")[2]) for label, _ in by_distance.rows if label.startswith("subject_number=plural")
    ]
    assert distances == sorted(distances)
    assert by_distance.rows[0][0].startswith("subject_number=")
    assert ", distance=" in by_distance.rows[0][0]
    with pytest.raises(UserError, match="no finished run with items has all of these features; there are: construction"):
        _ = make_report([study], crossings=[("tense", "")]).tables


def test_a_baseline_is_compared_with_every_other_model_of_its_items(study: Path) -> None:
    made = make_report([study], baseline=f"{study}/de-lstm-s1")
    grid = grid_of(made, "compared")
    assert len(grid.rows) == 4 * 7  # two other seeds and two transformers; nothing Hebrew
    assert all(label.startswith("de-") for label, _ in grid.rows)
    raw, corrected = ([dict(own[i].numbers)["value"] for _, own in grid.rows] for i in (5, 6))
    assert all(q >= p for p, q in zip(raw, corrected, strict=True))
    assert grid_of(made, "recipes").rows[0][0] == "transformer: simple agreement"
    with pytest.raises(UserError, match="--baseline nobody: this run is not among those of the report; there are: de-lstm-s1"):
        _ = make_report([study], baseline="nobody").statistics


def test_a_baseline_of_two_folders_of_one_name_is_asked_for(study: Path, tmp_path: Path) -> None:
    for place, seed in (("a", 1), ("b", 2)):
        write_run(tmp_path / place / "run", asked("de", 24), seed, epochs=2)
    with pytest.raises(UserError, match="--baseline run: this could be any of 2 models; name one of them: .*a/run"):
        _ = make_report([tmp_path], baseline="run").statistics
    grid = grid_of(make_report([tmp_path], baseline=f"{tmp_path}/b/run"), "compared")
    assert len(grid.rows) == 7


def test_a_baseline_may_lie_outside_the_folders(study: Path) -> None:
    made = make_report([study / "de-transformer-s1"], baseline=str(study / "de-lstm-s1"))
    assert len(made.findings.results) == 2
    assert len(grid_of(made, "compared").rows) == 7


def test_order_and_acquisition_are_told_over_seeds_and_languages(study: Path) -> None:
    made = make_report([study])
    grid = grid_of(made, "acquisition")
    assert [head.flat for head in grid.heads][:2] == ["German, lstm · words to 75\u00a0%", "German, lstm · words to 90\u00a0%"]
    assert re.search(r"\d k|not reached", cells(grid, "simple agreement")[0])
    labels = [label for label, _ in grid_of(made, "order").rows]
    assert "seeds of German, transformer" in labels
    assert "German, lstm and Hebrew, lstm" in labels


def test_markdown_and_latex_are_well_formed() -> None:
    heads = (Head("German", "a|b"), Head("German", "50 % & more"), Head("", "c_d", published=True))
    row = (Cell("0.50 ± 0.10"), Cell("–"), Cell("< 0.001 *"))
    grid = Grid("x", "A title", "p < 0.05, τ", "row", heads, (("first_row", row),))
    text = to_markdown(grid)
    assert "| row | German · a\\|b | German · 50 % & more | c_d † |" in text
    assert "| first_row | 0.50 ± 0.10 | – | < 0.001 * |" in text
    tex = to_latex(grid)
    assert r" & \multicolumn{2}{c}{German} & \multicolumn{1}{c}{} \\" in tex
    assert r"first\_row & 0.50 $\pm$ 0.10 & -- & \textless{} 0.001 * \\" in tex
    assert r"50 \% \& more" in tex
    assert tex.count("{") == tex.count("}")
    assert r"\cmidrule(lr){2-3}" in tex
    assert r"c\_d $\dagger$" in tex  # published columns are marked here too
    odd = to_latex(Grid("x", r"a\b {c} ~ ^", "−1 ≥ ½ …", "row", heads, (("mean", row),)))
    assert r"a\textbackslash{}b \{c\} \textasciitilde{} \textasciicircum{}. $-$1 $\geq$ $\frac12$ \dots{}" in odd
    assert "\\midrule\n\\midrule\nmean" in odd


def test_names_are_for_readers() -> None:
    assert construction_name("obj_rel_across_anim") == "across an object relative"
    assert construction_name("prep_inanim") == "across a prepositional phrase (inanimate)"
    assert construction_name("SVPP") == "SVPP"
    assert in_paper_order(["zzz", "prep", "simple_agrmt"]) == ["simple_agrmt", "prep", "zzz"]
    assert [format_words(n) for n in (950, 12_300, 2_500_000, float("inf"))] == ["950", "12.3 k", "2.5 M", "…"]
