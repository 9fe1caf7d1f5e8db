"""Tables: the numbers of the papers' tables, in three formats; published numbers beside ours, never among them."""

import csv
import io
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from concord.errors import UserError
from concord.probes.result_files import read_summary, save_summary
from concord.report.grids import Cell, Grid, Head, to_csv, to_markdown
from concord.report.intervals import estimate
from concord.report.latex import to_latex
from concord.report.published_values import published, published_columns
from concord.report.report_folder import make_report
from concord.report.wording import construction_labels, construction_name, format_words, in_paper_order
from concord.runs.metrics_file import read
from pyarrow import parquet
from simulated_verdicts import judged
from synthetic_runs import asked, read_json, settings, write_evaluation, write_run
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
    assert "German, Mueller et al. 2020 Table 1 · LSTM, monolingual" in heads
    assert not any("English" in head for head in heads)
    assert [head.published for head in grid.heads] == sorted(head.published for head in grid.heads)
    assert "† published" in grid.note
    shown = dict(zip([head.flat for head in grid.heads], cells(grid, "across a subject relative"), strict=True))
    # An incomplete run, by its number of items: shown, and marked as what it is.
    assert shown["German, Mueller et al. 2020 Table 2 · mBERT"] == "0.73‡"
    assert "Table 2, mBERT, subj_rel, obj_rel_across: an incomplete run" in grid.note
    assert shown["German, Mueller et al. 2020 Table 1 · LSTM, monolingual"] == "0.94 ± 0.04"
    assert "published" not in grid_of(made, "subcases").note


def test_the_mean_of_a_paper_stands_beside_ours_only_where_it_is_over_the_same(study: Path) -> None:
    grid = grid_of(make_report([study]), "accuracy")
    means = dict(zip([head.flat for head in grid.heads], cells(grid, "mean"), strict=True))
    assert means["German, Mueller et al. 2020 Table 1 · LSTM, monolingual"] == "0.90"
    assert means["German, Mueller et al. 2020 Table 2 · mBERT"] == "–"


def test_the_published_numbers_are_data_with_a_source() -> None:
    every = published()
    assert len(every) == 1027  # of the 1,082 cells of the tables 55 are dashes
    assert {each.source.split()[0] for each in every} == {"Mueller", "Zaczynska", "Hilsenbek", "Pérez-Mayos", "Li"}
    keys = [
        (each.source, each.table, each.language, each.construction, each.model, each.training, each.condition) for each in every
    ]
    assert len({*zip(keys, (each.metric for each in every), strict=True)}) == len(keys)
    assert all(0 <= each.share <= 1 for each in every if each.metric in ("accuracy", "accuracy_percent"))
    (transformer,) = [
        c for c in published_columns("fr", ["object_past_participle"]) if c.tables == ("1",) and c.model == "Transformer"
    ]
    assert transformer.values["object_past_participle"].share == pytest.approx(0.935, abs=0.1)
    # Marvin and Linzen's own LSTM and n-grams are in none of these papers.
    assert not any(each.model in ("LSTM", "n-gram") and "Marvin" in each.source for each in every)
    assert published_columns("es", ["prep"]) == []


def test_a_published_column_is_shown_if_it_fills_half_of_the_rows_or_when_asked(tmp_path: Path) -> None:
    seven = ("simple_agrmt", "vp_coord", "long_vp_coord", "subj_rel", "obj_rel_within", "obj_rel_across", "prep")
    others = ("sent_comp", "simple_reflexives", "reflexives_across", "simple_npi", "npi_across", "obj_rel_no_comp_across")
    assert {column.title for column in published_columns("en", seven)} >= {
        "Mueller et al. 2020 Table 1",
        "Mueller et al. 2020 Table 3",
    }
    more = [*seven, *others, "obj_rel_no_comp_within", "reflexive_sent_comp"]
    assert not any(column.tables == ("1",) for column in published_columns("en", more))
    assert any(column.tables == ("1",) for column in published_columns("en", more, every=True))
    (humans,) = [column for column in published_columns("en", more) if column.model == "humans"]
    assert humans.title == "Hilsenbek 2022 Tables 3, 5, 7"  # one model, other constructions in each
    write_run(
        tmp_path / "run", asked("en", 4, constructions=("prep", "sent_comp", "simple_npi")), epochs=1, chosen=settings("lang=en")
    )
    assert not any("Table 2" in head.flat for head in grid_of(make_report([tmp_path]), "accuracy").heads)
    assert any("Table 2" in head.flat for head in grid_of(make_report([tmp_path], published=True), "accuracy").heads)


def test_sets_of_several_collections_have_tables_of_their_own(tmp_path: Path) -> None:
    """A construction of one name is not the same in ours and in theirs."""
    for name, seed in (("ours", 0), ("theirs", 5)):
        whole = replace(asked("de", 24, seed=seed, constructions=("prep",)), name=name)
        write_run(tmp_path / name, whole, epochs=2)
    made = make_report([tmp_path])
    names = [grid.name for grid in [*made.tables, *made.statistics]]
    assert {"accuracy-ours", "accuracy-theirs", "sizes-ours", "sizes-theirs", "acquisition-ours"} <= set(names)
    assert len(set(names)) == len(names)
    for name in ("ours", "theirs"):
        ours = [head for head in grid_of(made, f"accuracy-{name}").heads if not head.published]
        assert [head.flat for head in ours] == [f"German · lstm · {name}"]


def test_rows_of_one_table_never_share_a_label() -> None:
    labels = construction_labels(["prep", "prep_anim", "prep_inanim", "simple_agrmt"])
    assert labels["prep"] == "across a prepositional phrase (prep)"
    assert labels["prep_anim"] == "across a prepositional phrase (prep_anim)"
    assert labels["simple_agrmt"] == "simple agreement"
    assert len(set(labels.values())) == 4


def test_means_over_different_constructions_are_marked(tmp_path: Path) -> None:
    write_run(tmp_path / "two", asked("de", 24, constructions=("prep", "subj_rel")), epochs=1)
    write_run(tmp_path / "one", asked("de", 24, constructions=("prep",)), epochs=1, skill=0.9)
    grid = grid_of(make_report([tmp_path]), "accuracy")
    ours = [text for text, head in zip(cells(grid, "mean"), grid.heads, strict=True) if not head.published]
    assert sorted(text.split(" ", 1)[1] for text in ours) == ["of 1", "of 2"]
    assert "over the number of constructions it states" in grid.note


def test_reference_lines_that_know_fewer_constructions_say_so(study: Path) -> None:
    grid = grid_of(make_report([study / "de-lstm-s1"]), "references")
    assert [head.name for head in grid.heads] == ["always singular", "last noun"]
    assert cells(grid, "long VP coordination")[1] == "–"  # it has nothing to say
    assert cells(grid, "mean")[0] == "0.50"
    assert cells(grid, "mean")[1].endswith("(6 of 7)")


def test_the_reference_lines_of_every_training_text_are_shown(tmp_path: Path) -> None:
    """Rules are the same wherever the items are; n-grams are counted in the text of each condition."""
    whole = asked("de", 24, constructions=("prep", "simple_agrmt"))
    for name, more in (("all", ()), ("less", ("data.withhold=[obj_rel]",))):
        folder = tmp_path / name
        write_run(folder, whole, epochs=1, chosen=settings("lang=de", *more, f"name={name}"))
        (final,) = (folder / "probes").glob("final-*")
        tables, about = read_summary(final)
        save_summary(final, tables | {"trigram": tables["always singular" if more else "last noun"]}, about)
    grid = grid_of(make_report([tmp_path]), "references")
    assert [head.flat for head in grid.heads] == [
        "German agreement · always singular",
        "German agreement · last noun",
        "German agreement, all · trigram",
        "German agreement, less · trigram",
    ]
    assert cells(grid, "simple agreement") == ["0.50", "1.00", "1.00", "0.50"]
    assert "its training text and items alone" in grid.note


@pytest.mark.parametrize(
    ("protocol", "ddof", "said"),
    [("default", 1, "the sample’s, n − 1"), ("clams", 0, "the population’s, n"), ("experiment", 0, "the population’s, n")],
)
def test_the_standard_deviation_says_which_it_is(tmp_path: Path, protocol: str, ddof: int, said: str) -> None:
    """Mueller et al. (2020) print the population's in their Table 5, and so do reports on runs of their set-up."""
    chosen, rules = None, ()
    if protocol == "experiment":
        chosen = settings("lang=de", "experiment=clams2020")
        protocol, rules = chosen["probes"]["protocol"], (("unknown", chosen["probes"]["rules"]["unknown"]),)
    whole = asked("de", 24, protocol, rules, constructions=("prep",))
    for seed in (1, 2, 3):
        write_run(tmp_path / f"r{seed}", whole, seed, epochs=1, chosen=chosen)
    made = make_report([tmp_path])
    grid = grid_of(made, "accuracy")
    values = np.array([result.scores["prep"].accuracy for result in made.conditions[0].results])
    assert cells(grid, "across a prepositional phrase")[0] == f"{values.mean():.2f} ± {values.std(ddof=ddof):.2f}"
    assert said in grid.note


def test_the_mean_of_one_construction_is_as_uncertain_as_the_construction(tmp_path: Path) -> None:
    for seed in (1, 2):
        write_run(tmp_path / f"r{seed}", asked("de", 24, constructions=("simple_agrmt",)), seed, epochs=1, skill=9)
    made = make_report([tmp_path])
    (condition,) = made.conditions
    member, mean = (made.estimates.of(condition, name) for name in ("simple_agrmt", "mean"))
    assert member.mean == 1.0
    assert (mean.low, mean.high) == (member.low, member.high)
    assert mean.low < 0.95


def test_nothing_right_has_no_negative_interval() -> None:
    found = estimate([judged(np.zeros((50, 3)))])
    assert f"{found.low:.2f}–{found.high:.2f}" == "0.00–0.07"


def test_subcases_sizes_references_and_contracts_are_tables_too(study: Path, capitalised: Path) -> None:
    made = make_report([study, capitalised])
    row = "across a prepositional phrase: sg subject, pl attractor"
    values = [result.scores["prep"].parts["sp"].accuracy for result in made.conditions[0].results]
    assert cells(grid_of(made, "subcases"), row)[0].startswith(f"{np.mean(values):.2f} ± ")
    assert cells(grid_of(made, "sizes"), "simple agreement")[:3] == ["24", "100%", "0"]
    assert cells(grid_of(made, "references"), "across a subject relative")[:2] == ["0.50", "0.50"]
    contracts = grid_of(made, "contracts")
    assert [head.flat for head in contracts.heads] == [
        "German, lstm · default (2 seeds)",  # of three, those that were also asked the other way
        "German, lstm · default+capitalize (2 seeds)",
        "German, lstm · default+capitalize − default",
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
    train(tmp_path, *TINY, "name=real", "probes.limit=24", "probes.sample=12")
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
    with pytest.raises(UserError, match="^--rows tense: no finished run with items has all of these features; available: con"):
        _ = make_report([study], crossings=[("tense", "")]).tables


def test_a_baseline_is_compared_with_every_other_model_of_its_items(study: Path) -> None:
    made = make_report([study], baseline=f"{study}/de-lstm-s1")
    grid = grid_of(made, "compared")
    assert len(grid.rows) == 4 * 7  # two other seeds and two transformers; nothing Hebrew
    assert all(label.startswith("de-") for label, _ in grid.rows)
    raw, corrected = ([dict(own[i].numbers)["value"] for _, own in grid.rows] for i in (6, 7))
    assert {own[3].text for _, own in grid.rows} == {"24"}  # n
    assert all(q >= p for p, q in zip(raw, corrected, strict=True))
    assert grid_of(made, "recipes").rows[0][0] == "transformer: simple agreement"
    with pytest.raises(UserError, match="--baseline nobody: no such run in this report; available: de-lstm-s1"):
        _ = make_report([study], baseline="nobody").statistics


def test_what_a_baseline_does_not_cover_is_told(study: Path, tmp_path: Path) -> None:
    shutil.copytree(study, tmp_path / "runs")
    write_run(tmp_path / "runs/running", asked("de", 24), 9, finished=False)
    write_run(tmp_path / "runs/others", asked("de", 12), 10, epochs=2)
    write_run(tmp_path / "runs/capital", asked("de", 24, rules=(("capitalize", True),)), 11, epochs=2)
    write_run(tmp_path / "runs/lost", asked("de", 24), 12, epochs=2)
    (tmp_path / "runs/lost/probes/final-de-agreement/items.parquet").unlink()
    made = make_report([tmp_path / "runs"], baseline="de-lstm-s1")
    told = [note.removeprefix("not compared with the baseline de-lstm-s1: ") for note in made.not_compared]
    assert len(told) == 5
    assert "Hebrew, lstm, agreement: the baseline was not evaluated in Hebrew" in told
    assert any(note.endswith(": this run is not finished, so only its sample of items is known") for note in told)
    assert any(note.endswith(": the items differ") for note in told)
    assert any(note.endswith("different scoring rules (default+capitalize; the baseline: default)") for note in told)
    assert any(note.endswith("(lost): the per-item verdicts are missing") for note in told)
    assert set(made.not_compared) <= set(made.notes())
    assert "the baseline was not evaluated in Hebrew" in made.html()
    assert make_report([tmp_path / "runs"]).not_compared == []
    assert make_report([*tmp_path.glob("runs/de-*")], baseline="de-lstm-s1").not_compared == []


def test_a_baseline_of_two_folders_of_one_name_is_asked_for(study: Path, tmp_path: Path) -> None:
    for place, seed in (("a", 1), ("b", 2)):
        write_run(tmp_path / place / "run", asked("de", 24), seed, epochs=2)
    with pytest.raises(UserError, match="--baseline run: matches 2 models; name one of them: .*a/run"):
        _ = make_report([tmp_path], baseline="run").statistics
    grid = grid_of(make_report([tmp_path], baseline=f"{tmp_path}/b/run"), "compared")
    assert len(grid.rows) == 7


def test_a_baseline_that_nothing_can_be_compared_with_is_told(study: Path) -> None:
    with pytest.raises(
        UserError, match="no other model in the report was evaluated on the same items .the baseline: German; the others: Heb"
    ):
        _ = make_report([study / "he-lstm-s1", study / "he-lstm-s2"], baseline=str(study / "de-lstm-s1")).statistics


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


def test_latex_says_its_packages_and_fits_the_page() -> None:
    def grid(columns: int, rows: int) -> Grid:
        heads = tuple(Head("", f"column {number}") for number in range(columns))
        cells = (Cell("0.50 ± 0.10"),) * columns
        return Grid("x", "X", "note", "row", heads, tuple((f"row {number}", cells) for number in range(rows)))

    small, turned, long, split = (to_latex(grid(*size)) for size in ((3, 3), (9, 3), (3, 60), (25, 3)))
    assert small.startswith("% needs \\usepackage{booktabs}\n\\begin{table}")
    assert turned.startswith("% needs \\usepackage{booktabs} \\usepackage{pdflscape}\n\\begin{landscape}")
    assert r"\begin{longtable}{lrrr}" in long
    assert r"\usepackage{longtable}" in long
    assert r"\endhead" in long
    assert [f"({n} of 3)" in split for n in (1, 2, 3)] == [True] * 3
    assert split.count("row 2 & ") == 3
    for made in (small, turned, long, split):
        assert made.count(r"\begin{") == made.count(r"\end{")
