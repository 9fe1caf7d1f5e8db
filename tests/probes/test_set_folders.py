"""Sets as folders of other tools: what is written is what those tools were seen to read (`make compat`)."""

import json
import os
import subprocess
import sys

import pytest
import yaml
from concord.commands.sets import main
from concord.probes.challenge_set import SetError
from concord.probes.collection import ItemSelection, collect
from concord.probes.set_folders import export_tasks
from pyarrow import parquet


class TaskFile(yaml.SafeLoader):
    """YAML as lm_eval reads it."""


TaskFile.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


def test_a_group_of_tasks_for_the_evaluation_harness(tmp_path, capsys):
    assert main(["export", "de", "simple_agrmt", "prep", "--limit", "8", "--to", "lm_eval", "--out", str(tmp_path)]) == 0
    group = yaml.safe_load((tmp_path / "_concord_de.yaml").read_text(encoding="utf-8"))
    assert sorted(group["task"]) == ["concord_de_prep", "concord_de_simple_agrmt"]
    moved = (tmp_path / "elsewhere").resolve()
    moved.mkdir()
    for each in ("concord_de_prep.yaml", "concord_data.py", "data"):
        (tmp_path / each).rename(moved / each)
    task = yaml.load((moved / "concord_de_prep.yaml").read_text(encoding="utf-8"), TaskFile)
    assert task["custom_dataset"] == "concord_data.load"
    assert str(tmp_path) not in (moved / "concord_de_prep.yaml").read_text(encoding="utf-8")
    # As lm_eval does: the module beside the YAML, from wherever it is started.
    program = f"import sys; sys.path.insert(0, {str(moved)!r}); import concord_data, json\n"
    program += (
        f"found = concord_data.load(**{task['metadata'] | task['dataset_kwargs']!r})\nprint(json.dumps(list(found['test'])))"
    )
    environment = os.environ | {"HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([sys.executable, "-c", program], cwd="/", env=environment, capture_output=True, text=True, check=True)
    rows = json.loads(done.stdout.splitlines()[-1])
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
    with pytest.raises(SetError, match="needs one good sentence followed by bad ones; export these sets as jsonl"):
        export_tasks([each.challenge_set], tmp_path / "out")
