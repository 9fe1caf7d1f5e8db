"""`concord runs list`."""

import json

import pytest
from concord.commands.runs import main
from concord.runs.run_folder import RunFolder
from concord.runs.run_state import History, runs_below, state
from concord.runs.signals import Interrupted

CONFIG = "lang: {code: de}\nmodel: {name: lstm}\ndata: {name: grammar}\nseed: 3\ntrainer: {max_epochs: 4}\n"
# Probed before the first epoch and between the second and the third, too.
METRICS = "step,train/loss,valid/perplexity,probe/de/agreement/mean/accuracy\n"
METRICS += "0,,,0.5\n1,5,,\n2,,20.5,0.6\n3,,10.5,0.7\n4,,,0.9\n5,,12.5,\n"


@pytest.fixture
def runs(tmp_path):
    for name in ("done", "running", "stopped", "broken", "killed"):
        folder = RunFolder(tmp_path / "runs" / name)
        folder.enter(CONFIG, {})
        folder.metrics.write_text(METRICS)
    RunFolder(tmp_path / "runs/done").finish({"test/perplexity": 9.5, "best epoch": 2})
    for name, error in (("stopped", Interrupted(15)), ("broken", ValueError("the loss is nan\nat length"))):
        with pytest.raises(type(error)), RunFolder(tmp_path / "runs" / name).noted():
            raise error
    return tmp_path / "runs"


def test_every_run_is_listed_with_its_state_and_numbers(runs, capsys):
    with RunFolder(runs / "running").locked():
        assert main(["list", str(runs), "--json"]) == 0
    found = {run["name"]: run for run in json.loads(capsys.readouterr().out)}
    states = {name: run["state"] for name, run in found.items()}
    assert states == {"done": "done", "running": "running", "stopped": "stopped", "broken": "failed", "killed": "failed"}
    assert found["stopped"]["why"] == "SIGTERM"
    assert found["broken"]["why"] == "the loss is nan"
    done = {key: value for key, value in found["done"].items() if key not in ("name", "folder", "why")}
    assert done == {
        "state": "done",
        "language": "de",
        "model": "lstm",
        "data": "grammar",
        "seed": 3,
        "epoch": 3,
        "epochs": 4,
        "valid/perplexity": 10.5,
        "test/perplexity": 9.5,
        "agreement": 0.7,
    }


def test_the_table_says_the_same(runs, capsys):
    assert main(["list", str(runs)]) == 0
    said = capsys.readouterr().out
    (row,) = (line for line in said.splitlines() if line.strip().startswith("done "))
    assert row.split() == ["done", "done", "de", "lstm", "3", "3/4", "10.50", "70.0%"]
    assert "failed broken: the loss is nan" in said
    assert "5 runs: 1 done, 1 stopped, 3 failed" in said


def test_agreement_of_several_languages_is_their_mean(tmp_path, capsys):
    folder = RunFolder(tmp_path / "multi")
    folder.enter(CONFIG.replace("{code: de}", "{code: multi, languages: [de, fr]}"), {})
    folder.finish({"probe/de/agreement/mean/accuracy": 0.7, "probe/fr/agreement/mean/accuracy": 0.9})
    main(["list", str(tmp_path), "--json"])
    (run,) = json.loads(capsys.readouterr().out)
    assert (run["language"], run["agreement"]) == ("multi", pytest.approx(0.8))


def test_runs_are_found_in_folders_of_folders_and_not_inside_runs(runs):
    inner = runs / "done/wandb/offline-run-1/files"
    inner.mkdir(parents=True)
    (inner / "config.yaml").touch()
    (inner / "provenance.json").touch()
    assert [run.path.name for run in runs_below(runs.parent)] == ["broken", "done", "killed", "running", "stopped"]


def test_no_folder_is_told(tmp_path, capsys):
    assert main(["list", str(tmp_path / "no")]) == 1
    assert "there is no such folder" in capsys.readouterr().err


def test_several_metrics_are_of_one_model(runs):
    history = History(RunFolder(runs / "done"))
    assert history.by_epoch("probe/de/agreement/mean/accuracy") == [0.6, 0.7, None]
    assert history.of_best("probe/de/agreement/mean/accuracy") == 0.7
    assert History(RunFolder(runs / "killed")).of_best("probe/de/agreement/mean/accuracy") == 0.9


def test_a_half_written_or_missing_file_is_no_trouble(tmp_path):
    folder = RunFolder(tmp_path / "x")
    assert History(folder).by_epoch("valid/perplexity") == []
    folder.enter("", {})
    folder.metrics.write_text("step,valid/perplexity\n1,20.5\n2,1e")
    assert History(folder).by_epoch("valid/perplexity") == [20.5]
    assert state(folder)[0] == "failed"


def test_asking_for_the_state_does_not_disturb_a_start(tmp_path):
    folder = RunFolder(tmp_path / "x")
    folder.enter("", {})
    with folder.locked():
        assert folder.in_use()
    assert not folder.in_use()
    with folder.locked():
        pass
