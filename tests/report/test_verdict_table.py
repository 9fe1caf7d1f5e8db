"""Every verdict in one table, against the tables that were written beside the verdicts."""

import json
import re
from pathlib import Path

import concord
import pandas as pd
import pyarrow as pa
import pytest
from concord.commands.results import main
from concord.probes.result_files import read_summary
from concord.report import verdict_table
from pyarrow import parquet
from synthetic_runs import ROOT, asked, write_run

PAGE = (ROOT / "docs/results.md").read_text(encoding="utf-8")


def verdicts_of(folders: list[Path], file: Path, *options: str) -> pd.DataFrame:
    assert main([*map(str, folders), "--out", str(file), *options]) == 0
    return pd.read_parquet(file) if file.suffix == ".parquet" else pd.read_csv(file, low_memory=False)


def test_the_mean_of_verdicts_is_the_accuracy_that_was_saved(study: Path, capitalised: Path, tmp_path: Path) -> None:
    table = verdicts_of([study, capitalised], tmp_path / "all.parquet")
    compared = 0
    for folder, name, frame in (
        *((file.parent, "model", table[(table.run == file.parts[-4]) & (table.kind == "run") & (table.moment == "final")])
          for file in study.glob("*/probes/final-*/summary.json")),
        *((file.parent, None, table[(table.kind == "evaluation") & (table.folder == str(file.parent))])
          for file in capitalised.glob("*/summary.json")),
    ):  # fmt: skip
        saved, _ = read_summary(folder)
        for row in saved[name or next(iter(saved))].rows:
            own = frame[frame.construction == row.construction]
            assert own.verdict.mean() == pytest.approx(row.all.accuracy, abs=1e-12)
            assert (own.covered.sum(), own.tie.sum()) == (row.all.n, row.all.ties)
            compared += 1
    assert compared > 50


def test_no_row_is_lost_and_none_is_there_twice(study: Path, tmp_path: Path) -> None:
    table = verdicts_of([study], tmp_path / "all.parquet")
    files = [*study.glob("*/probes/*-step*.parquet"), *study.glob("*/probes/final-*/items.parquet")]
    assert len(table) == sum(parquet.read_metadata(file).num_rows for file in files)
    assert not table.duplicated(["run", "language", "set", "moment", "uid", "contrast", "construction"]).any()
    assert table.groupby("run").seed.nunique().eq(1).all()


def test_moments_on_the_way_have_the_features_and_sentences_of_their_items(study: Path, tmp_path: Path) -> None:
    table = verdicts_of([study / "de-lstm-s1"], tmp_path / "one.parquet", "--sentences")
    items = pd.read_parquet(next(study.glob("de-lstm-s1/probes/final-*/items.parquet")))
    numbers = {row.uid: (row.subject_number, " ".join(row.good), " ".join(row.bad)) for row in items.itertuples()}
    on_the_way = table[table.moment == "step 50"]
    assert len(on_the_way) > 50
    for row in on_the_way.itertuples():
        assert (row.subject_number, row.good, row.bad) == numbers[row.uid]
    assert (on_the_way.seen == 100_001).all()
    assert (on_the_way.margin == on_the_way.good_score - on_the_way.bad_score).all()


def test_contrasts_without_names_keep_their_own_sentences(tmp_path: Path) -> None:
    lines = [
        {"construction": "c", "variants": [{"role": "good", "grammatical": True, "sentence": f"the {noun} runs ."}]
         + [{"role": form, "grammatical": False, "sentence": f"the {noun} {form} ."} for form in ("run", "running")]}
        for noun in ("dog", "cat")
    ]  # fmt: skip
    file = tmp_path / "sets.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    model = concord.model(lambda texts: [[-float(len(word)) for word in text.split()] for text in texts], "by length")
    concord.probe(model, concord.sets(file, language="en")).save(tmp_path / "results/length")
    table = verdicts_of([tmp_path / "results"], tmp_path / "all.parquet", "--sentences")
    assert sorted(table.bad) == sorted(f"the {noun} {form} ." for noun in ("dog", "cat") for form in ("run", "running"))
    assert (table.bad_score == [-float(len(bad.replace(" ", ""))) for bad in table.bad]).all()


def test_csv_says_the_same_as_parquet(study: Path, tmp_path: Path) -> None:
    wide = verdicts_of([study / "de-lstm-s1", study / "he-lstm-s2"], tmp_path / "two.parquet", "--final")
    for name in ("two.csv", "two.csv.gz"):
        text = verdicts_of([study / "de-lstm-s1", study / "he-lstm-s2"], tmp_path / name, "--final")
        assert list(text.columns) == list(wide.columns)
        assert text.contrast.isna().all()  # an item's only contrast has no name, which is empty in CSV
        pd.testing.assert_frame_equal(text.drop(columns="contrast"), wide.drop(columns="contrast"), check_dtype=False)


def test_what_was_not_scored_has_no_verdict(own_sets: Path, study: Path, tmp_path: Path) -> None:
    """And contrasts that are no pairs have a margin and their own chance; an unfinished run has the features of its sample."""
    write_run(tmp_path / "runs/going-on", asked("de", 24), finished=False)
    table = verdicts_of([own_sets, tmp_path / "runs"], tmp_path / "own.parquet")
    triples = table[table.construction == "triple"]
    assert triples.good_score.isna().all()
    assert triples.margin.notna().all()
    assert set(table[table.construction == "four"].chance.round(3)) == {0.2}
    assert set(triples.mood) == {"calm", "wild"}
    going_on = table[table.run == "going-on"]
    assert len(going_on) > 100
    assert going_on.subject_number.notna().any()  # from the sample, which a run keeps from its first probe on
    assert going_on.good_frequency.isna().all()
    assert not [name for name in table if name.startswith("rule_")]
    assert set(going_on.moment) >= {"step 0", "step 300"}
    judged = pa.table({"verdict": [0.0, 1.0], "covered": [False, True]})
    assert verdict_table._judged(judged, "verdict").to_pylist() == [None, 1.0]


def test_a_feature_keeps_one_type_over_all_files_and_takes_no_column_of_ours(study: Path, tmp_path: Path) -> None:
    runs = tmp_path / "copies"
    for run, value in (("de-lstm-s1", 7), ("de-lstm-s2", "=1+1")):
        folder = runs / run
        folder.mkdir(parents=True)
        for name in ("config.yaml", "metrics.csv", "provenance.json", "DONE"):
            (folder / name).write_bytes((study / run / name).read_bytes())
        source = next((study / run).glob("probes/final-*"))
        final = folder / "probes" / source.name
        final.mkdir(parents=True)
        (final / "summary.json").write_bytes((source / "summary.json").read_bytes())
        table = parquet.read_table(source / "items.parquet")
        stated = {key: text for key, text in table.schema.metadata.items() if key == b"concord"}
        table = table.append_column("seed", pa.array([value] * len(table))).replace_schema_metadata(stated)
        parquet.write_table(table, final / "items.parquet")
    table = verdicts_of([runs], tmp_path / "mixed.parquet")
    assert set(table.seed) == {1, 2}
    assert set(table.item_seed) == {"7", "=1+1"}
    assert set(verdicts_of([runs], tmp_path / "mixed.csv").item_seed) == {"7", "'=1+1"}


def test_memory_holds_a_batch_of_rows_at_a_time(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = verdicts_of([study], tmp_path / "whole.parquet")
    monkeypatch.setattr(verdict_table, "ROWS", 100)
    pieces = verdicts_of([study], tmp_path / "pieces.parquet")
    groups = parquet.read_metadata(tmp_path / "pieces.parquet")
    assert max(groups.row_group(number).num_rows for number in range(groups.num_row_groups)) == 100
    pd.testing.assert_frame_equal(whole, pieces)


def test_wrong_calls_are_told_before_any_work(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(study), "--out", str(tmp_path / "table.xlsx")]) == 1
    assert "table.xlsx: the file name determines the format; end it in .parquet, .csv or .csv.gz" in capsys.readouterr().err
    assert main([str(tmp_path / "nowhere"), "--out", str(tmp_path / "t.csv")]) == 1
    assert ": no such folder" in capsys.readouterr().err
    write_run(tmp_path / "runs/going-on", asked("de", 24), finished=False)
    assert main([str(tmp_path / "runs"), "--out", str(tmp_path / "t.csv"), "--final"]) == 1
    assert "no verdicts found in these folders; drop --final to include unfinished runs" in capsys.readouterr().err
    assert not list(tmp_path.glob("*t.csv*"))


def test_the_page_names_every_column_and_no_other() -> None:
    table = PAGE.split("## Columns\n")[1].split("\n\n")[0]
    named = [name for line in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", line.split("|")[1])]
    ours = [*verdict_table.OWNER, *verdict_table.JUDGED, *verdict_table.ITEM, *verdict_table.SENTENCES]
    assert named == ours


def test_the_lines_of_the_page_run_in_pandas(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    verdicts_of([study], Path("verdicts.parquet"))
    lines = PAGE.split("```python\n")[1].split("```")[0]
    larger = PAGE.split("Larger than memory: `")[1].split("`.")[0]
    found: dict[str, pd.DataFrame] = {}
    exec(f"{lines}\nsmall = {larger}", found)
    saved, _ = read_summary(next(study.glob("de-lstm-s2/probes/final-*")))
    prep = next(row for row in saved["model"].rows if row.construction == "prep").all
    assert found["accuracy"]["de", "agreement", "lstm", "prep", 2] == pytest.approx(prep.accuracy)
    assert len(found["attractors"].columns) == 2
    assert found["curves"].index.get_level_values("seen").max() > 500_000
    assert len(found["small"]) == len(found["final"])
    assert list(found["small"].columns) == ["run", "construction", "verdict"]
