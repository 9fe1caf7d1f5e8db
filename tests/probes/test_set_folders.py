"""Sets as folders of other tools: what is written is what those tools were seen to read (`make compat`)."""

import json
from pathlib import Path

import pytest
import yaml
from concord.commands.sets import main
from concord.probes.challenge_set import SetError
from concord.probes.collection import ItemSelection, collect
from concord.probes.set_folders import export_tasks
from pyarrow import parquet


def test_a_group_of_tasks_for_the_evaluation_harness(tmp_path, capsys):
    assert main(["export", "de", "simple_agrmt", "prep", "--limit", "8", "--to", "lm_eval", "--out", str(tmp_path)]) == 0
    group = yaml.safe_load((tmp_path / "_concord_de.yaml").read_text(encoding="utf-8"))
    assert sorted(group["task"]) == ["concord_de_prep", "concord_de_simple_agrmt"]
    task = yaml.safe_load((tmp_path / "concord_de_prep.yaml").read_text(encoding="utf-8"))
    with Path(task["dataset_kwargs"]["data_files"]["test"]).open(encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    assert len(rows) == 8
    assert all(row[task["doc_to_choice"]][task["doc_to_target"]] == row["sentence_good"] for row in rows)
    assert all(row["choices"][1:] == [row["sentence_bad"]] for row in rows)
    assert rows[0]["subject_number"] in ("singular", "plural")
    assert "concord_de_prep.yaml" in capsys.readouterr().out


def test_a_data_set_of_the_hub_with_its_card(tmp_path):
    assert main(["export", "de", "prep", "--limit", "8", "--to", "hf", "--out", str(tmp_path)]) == 0
    rows = parquet.read_table(tmp_path / "data/prep.parquet").to_pylist()
    head = yaml.safe_load((tmp_path / "README.md").read_text(encoding="utf-8").split("---")[1])
    assert head["configs"] == [{"config_name": "prep", "data_files": "data/prep.parquet"}]
    # And it is one of the tables that we read ourselves.
    (again,) = collect(tmp_path / "data", "de", None, tmp_path / "cache", ItemSelection())
    assert [item["good"].words for item in again.challenge_set] == [tuple(row["sentence_good"].split()) for row in rows]


def test_sets_without_a_good_sentence_are_refused(tmp_path):
    (tmp_path / "x.txt").write_text("True\ta b\n", encoding="utf-8")
    (each,) = collect(tmp_path / "x.txt", "de", None, tmp_path / "cache", ItemSelection())
    with pytest.raises(SetError, match="one good sentence and then bad ones are needed"):
        export_tasks([each.challenge_set], tmp_path / "out")
