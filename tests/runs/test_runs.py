"""`concord runs list`."""

import json
import re

import pytest
from concord.commands.runs import main
from concord.runs.run_folder import RunFolder
from concord.runs.run_state import History, runs_below, state
from concord.runs.stopping import Interrupted
from concord.settings import read_run_settings
from concord.settings.setting_words import describe_setting
from concord.settings.watched import WatchedSettings
from omegaconf import OmegaConf
from rich.console import Console
from synthetic_runs import settings

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


def test_training_that_is_watched_has_not_failed_because_it_goes_on(tmp_path):
    folder = RunFolder(tmp_path / "watched")
    folder.enter(WatchedSettings("a loop", "gpt2", "words").yaml(), {})
    assert state(folder)[0] == "unfinished"


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
        "debug": None,
        "differs": {},
    }


def test_the_table_says_the_same(runs, capsys):
    assert main(["list", str(runs)]) == 0
    said = capsys.readouterr().out
    (row,) = (line for line in said.splitlines() if line.strip().startswith("done "))
    assert row.split() == ["done", "done", "3", "3/4", "10.50", "70.0%"]
    assert "de, lstm" in [line.strip() for line in said.splitlines()]
    assert "failed broken: the loss is nan" in said
    assert "5 runs: 1 done, 1 stopped, 3 failed" in said


@pytest.fixture
def sweep(tmp_path):
    """Two rates with two seeds each, a Transformer, and a debug run, with the settings that the program composes."""
    chosen = {
        "slow-1": ["model.optimizer.lr=0.0005", "seed=1"],
        "slow-2": ["model.optimizer.lr=0.0005", "seed=2"],
        "fast-1": ["model.optimizer.lr=0.002", "model.tied=false", "seed=1"],
        "fast-2": ["model.optimizer.lr=0.002", "model.tied=false", "seed=2"],
        "a-transformer": ["model=transformer"],
        "tried": ["debug=fast"],
    }
    for name, overrides in chosen.items():
        RunFolder(tmp_path / "runs" / name).enter(OmegaConf.to_yaml(OmegaConf.create(settings(*overrides))), {})
    return tmp_path / "runs"


def test_runs_stand_under_the_settings_that_tell_them_apart(sweep, capsys):
    assert main(["list", str(sweep)]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    first = [
        words[0] for words in lines if words and words[0] in ("de,", "slow-1", "slow-2", "fast-1", "fast-2", "a-transformer")
    ]
    assert first == ["de,", "a-transformer", "de,", "fast-1", "fast-2", "de,", "slow-1", "slow-2"]
    headings = [" ".join(words) for words in lines if words and words[0] == "de,"]
    assert headings == ["de, transformer", "de, lstm, learning rate 0.002, not tied", "de, lstm, learning rate 0.0005, tied"]


def test_debug_runs_are_left_out_and_counted_unless_asked_for(sweep, capsys):
    main(["list", str(sweep)])
    said = capsys.readouterr().out
    assert "tried" not in said
    assert "1 debug run left out; --all includes it" in said
    main(["list", str(sweep), "--json"])
    shown = json.loads(capsys.readouterr().out)
    assert [run["differs"].get("model.optimizer.lr") for run in shown] == [None, 0.002, 0.002, 0.0005, 0.0005]
    main(["list", str(sweep), "--all"])
    said = capsys.readouterr().out
    assert "de, lstm, debug=fast" in said
    assert "left out" not in said


@pytest.mark.parametrize("choice", ["fast", "overfit", "profile"])
def test_debug_runs_are_marked_and_keep_the_names_they_had(choice):
    made = settings(f"debug={choice}")
    assert made["debugging"] == choice
    unmarked = {name: value for name, value in made.items() if name != "debugging"}
    assert read_run_settings(made).run_name() == read_run_settings(unmarked).run_name()


def test_the_list_fits_eighty_columns(sweep, capsys, monkeypatch):
    long = "a-name-that-somebody-gave-to-a-run-without-thinking-of-those-who-would-have-to-read-it"
    (sweep / "slow-1").rename(sweep / long)
    monkeypatch.setattr("concord.terminal.console", Console(width=80, force_terminal=True, highlight=False, markup=False))
    main(["list", str(sweep)])
    said = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    lines = said.splitlines()
    rows = lines[: next(n for n, line in enumerate(lines) if line.startswith("failed"))]
    assert max(map(len, rows)) <= 80
    assert "…" not in said
    assert long in "".join(re.split(r"\s{2,}", line.strip())[0] for line in rows)


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
    assert ": no such folder" in capsys.readouterr().err


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


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("data.max_tokens", 3_000_000, "training tokens 3,000,000"),
        ("data.max_tokens", None, "all training tokens"),
        ("model.network.hidden", 200, "hidden size 200"),
        ("model.optimizer.lr", 0.001, "learning rate 0.001"),
        ("model.tied", False, "not tied"),
        ("data.withhold", ["obj_rel", "prep"], "without obj_rel, prep"),
    ],
)
def test_settings_are_told_in_words(key, value, told):
    assert describe_setting(key, value) == told
