"""`python train.py -m`, as a user meets it."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from concord.commands.runs import main as runs
from concord.runs.run_folder import RunFolder
from hydra import compose, initialize_config_dir
from training_runs import ROOT, TINY, clean, command, same_weights, train

# A corpus that is made in a blink.
CORPUS = ["data.exclude_challenge=false", *(f"data.sentences.{split}=600" for split in ("train", "valid", "test"))]
PROBED = [*TINY, *CORPUS, "model.embedding=8", "trainer.max_epochs=2"]
SMALL = [*(setting for setting in PROBED if not setting.startswith("probes")), "probes=none"]


def started(folder: Path, *overrides: str) -> subprocess.Popen:
    return subprocess.Popen(
        command(folder, *overrides, "-m"),
        cwd=ROOT,
        env=clean(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def jobs_started(said: str) -> list[str]:
    return re.findall(r"^[\d:]+ start +(\S+)", said, re.MULTILINE)


def pid_of(job: str, folder: Path) -> int:
    """The process that trains a job of a sweep below this folder."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_text().split("\0")
        except OSError:
            continue
        if job in words and any(str(folder) in word for word in words):
            return int(process.name)
    raise AssertionError(f"no process trains {job}")


def until(what, seconds: float = 900) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.mark.slow
def test_six_jobs_of_which_one_fails_and_one_is_killed(tmp_path):
    """The other four finish; run again, only the two are run; then nothing is left to do. Settings are those of the start."""
    shutil.copytree(ROOT / "conf", tmp_path / "conf")
    sweep = [
        *SMALL,
        "seed=1,2,3,4,5,6",
        "name='x-${seed}'",
        "hydra.launcher.n_jobs=2",
        f"--config-path={tmp_path}/conf",
    ]
    obstacle = tmp_path / "runs/x-2"
    obstacle.parent.mkdir()
    obstacle.touch()  # a file where the run's folder should be
    process = started(tmp_path, *sweep)
    until(lambda: list(tmp_path.glob("runs/sweeps/*/job-1.log")))
    shutil.move(tmp_path / "conf", tmp_path / "elsewhere")  # edited, or as here gone
    until((tmp_path / "runs/x-5/config.yaml").exists)
    os.kill(pid_of("job-5", tmp_path), signal.SIGKILL)
    said, _ = process.communicate(timeout=900)
    assert process.returncode == 1, said
    assert "4 of 6 done, 0 running, 2 failed" in said
    assert "failed  seed=5: killed by SIGKILL; see " in said
    assert sorted(file.parent.name for file in tmp_path.glob("runs/*/DONE")) == ["x-1", "x-3", "x-4", "x-6"]
    obstacle.unlink()
    shutil.move(tmp_path / "elsewhere", tmp_path / "conf")
    again = train(tmp_path, *sweep, "-m")
    assert jobs_started(again.stdout) == ["seed=2", "seed=5"]
    assert "6 of 6 done, 0 running, 0 failed" in again.stdout
    nothing = train(tmp_path, *sweep, "-m")
    assert jobs_started(nothing.stdout) == []
    other = train(tmp_path, *SMALL, "seed=1,2", "name='y-${seed}'", "hydra.launcher.n_jobs=2", "-m", check=False)
    assert jobs_started(other.stdout) == ["seed=1", "seed=2"]


@pytest.mark.slow
def test_ddp_inside_a_sweep(tmp_path):
    """Two jobs of two processes: no job is started twice, each has one folder."""
    done = train(tmp_path, *SMALL, "trainer=ddp_cpu", "seed=1,2", "-m")
    assert "2 of 2 done, 0 running, 0 failed" in done.stdout
    folders = [file.parent for file in tmp_path.glob("runs/*/config.yaml")]
    assert len(folders) == 2
    for folder in folders:
        assert len(json.loads((folder / "provenance.json").read_text())["starts"]) == 1
        assert (folder / "DONE").exists()
    assert len(list(tmp_path.glob("runs/sweeps/*"))) == 1


@pytest.mark.slow
def test_a_stopped_sweep_goes_on_to_the_same_weights(tmp_path, capsys):
    same = [*SMALL, "data.limit=600", "trainer.max_epochs=4", "hydra.launcher.n_jobs=2"]
    process = started(tmp_path / "cut", *same, "seed=1,2,3")
    until(lambda: len(list(tmp_path.glob("cut/runs/*/metrics.csv"))) == 2)
    os.kill(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=900)
    assert process.returncode == 130, said
    assert "stopping 2 jobs; they save first" in said
    runs(["list", str(tmp_path / "cut/runs"), "--json"])
    assert {run["state"] for run in json.loads(capsys.readouterr().out)} == {"stopped"}
    again = train(tmp_path / "cut", *same, "seed=1,2,3", "-m")
    assert "3 of 3 done" in again.stdout
    train(tmp_path / "whole", *same, "seed=1")
    (whole,) = tmp_path.glob("whole/runs/*/checkpoints/last.ckpt")
    assert same_weights(whole, tmp_path / "cut/runs" / whole.parent.parent.name / "checkpoints/last.ckpt")


@pytest.mark.slow
def test_a_search_that_is_killed_after_three_trials_of_eight(tmp_path):
    """It ends with eight, none of them repeated, and shows the Pareto front."""
    search = [
        *(setting for setting in PROBED if "dropout" not in setting),
        "hparams_search=optuna",
        "hydra.sweeper.n_trials=8",
        "hydra.launcher.n_jobs=2",
    ]
    process = started(tmp_path, *search)
    done = 0
    while done < 3:
        line = process.stdout.readline()
        assert line, "the search ended"
        done += " done " in line and "trial" in line
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    again = train(tmp_path, *search, "-m")
    assert "8 jobs, 3 already done" in again.stdout
    assert re.search(r"(\d) of 8 done, 0 running, 0 failed", again.stdout)
    (table,) = tmp_path.glob("runs/sweeps/search-de-lstm-grammar-*/trials.csv")
    rows = [line.split(",") for line in table.read_text().splitlines()]
    assert len(rows) == 1 + 8
    assert {row[1] for row in rows[1:]} <= {"done", "pruned"}
    assert len({row[-1] for row in rows[1:]}) == 8
    assert all(len(json.loads(file.read_text())["starts"]) <= 2 for file in tmp_path.glob("runs/*/provenance.json"))
    assert "Pareto front" in again.stdout
    more = train(tmp_path, *search, "-m")
    assert jobs_started(more.stdout) == []


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["lang=[de,fr]", "seed=1,2"], "lang=[de,fr]: only the last of these would be used"),
        (["seed=1,2", "name=mine"], "two jobs of the sweep would share this run (seed=1; seed=2)"),
        (["seed=1,2", "hydra.launcher.n_jobs=0"], "hydra.launcher.n_jobs=0: must be a whole number of at least 1, or null"),
        (["seed=1,2", "trainer=ddp_cpu", "hydra/launcher=basic"], "BasicLauncher runs the jobs of a sweep in its own process"),
        (["hparams_search=optuna", "hydra/launcher=basic"], "use hydra/launcher=processes or submitit_slurm"),
    ],
)
def test_wrong_sweeps_are_refused_at_once(tmp_path, overrides, message):
    done = train(tmp_path, *SMALL, *overrides, "-m", check=False)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("runs/*/config.yaml"))


def settings(*overrides):
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        return compose("train", list(overrides), return_hydra_config=True)


def test_the_published_settings_are_points_and_not_a_grid():
    def points(name: str) -> list[tuple]:
        composed = settings(f"hparams_search=li2021_{name}")
        assert composed.model.embedding == 768
        for point in composed.hydra.sweeper.points:
            assert point["model.dropout"] == point["model.network.dropout"]
        return [(p.get("data.batch_size"), p["model.optimizer.lr"], p["model.dropout"]) for p in composed.hydra.sweeper.points]

    dropouts = (0, 0.1, 0.2, 0.3)
    tried = {(batch, rate, drop) for batch, rate in ((32, 1e-3), (32, 1e-4), (64, 1e-4)) for drop in dropouts}
    assert len(points("lstm")) == len(tried) == 12
    assert set(points("lstm")) == tried
    assert sorted(points("transformer")) == [(None, rate, drop) for rate in (0.01, 0.02) for drop in (0, 0.1, 0.2)]


def test_points_are_combined_with_the_command_line():
    from concord.commands.hydra_program import register_plugins

    register_plugins()
    from concord.runs.sweeps.sweepers import PointSweeper
    from hydra.core.override_parser.overrides_parser import OverridesParser

    sweeper = PointSweeper([{"a": 1, "b": None}, {"a": 2, "b": True}], None, {})
    (jobs,) = sweeper.split_arguments(OverridesParser.create().parse_overrides(["seed=1,2", "lang=de"]), None)
    assert jobs == [
        ["a=1", "b=null", "seed=1", "lang=de"],
        ["a=2", "b=true", "seed=1", "lang=de"],
        ["a=1", "b=null", "seed=2", "lang=de"],
        ["a=2", "b=true", "seed=2", "lang=de"],
    ]


def test_the_plugins_are_found_and_load_nothing_heavy():
    probe = (
        "import sys\nimport concord.commands.hydra_program as program\nprogram.register_plugins()\n"
        "from hydra.core.plugins import Plugins\nfrom hydra.plugins.launcher import Launcher\n"
        "from hydra.plugins.sweeper import Sweeper\n"
        "print([c.__name__ for t in (Launcher, Sweeper) for c in Plugins.instance().discover(t)])\n"
        "print([m for m in ('torch', 'optuna', 'submitit', 'pytorch_lightning') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    found, heavy = done.stdout.splitlines()
    assert {"ProcessLauncher", "SlurmLauncher", "PointSweeper", "OptunaSweeper"} <= set(re.findall(r"\w+", found))
    assert heavy == "[]"


def test_the_wandb_sweep_file_gives_commands_that_train_understands():
    """Put together as W&B's agent does."""
    from concord.runs.fit import METRICS
    from wandb.sdk.launch.sweeps.utils import create_sweep_command, create_sweep_command_args

    file = yaml.safe_load((ROOT / "docs/wandb_sweep.yaml").read_text(encoding="utf-8"))
    chosen = {
        name: {"value": how.get("value", how.get("min", how.get("values", [0])[0]))} for name, how in file["parameters"].items()
    }
    assert create_sweep_command(file["command"])[-3:] == ["concord", "train", "${args_no_hyphens}"]
    assert (ROOT / file["program"]).exists()
    composed = settings(*create_sweep_command_args({"args": chosen})["args_no_hyphens"])
    assert composed.model.optimizer.lr == file["parameters"]["model.optimizer.lr"]["min"]
    assert file["metric"]["name"] in METRICS


def test_a_step_of_a_wandb_sweep_is_the_run_that_its_agent_has_named(tmp_path, monkeypatch):
    assert RunFolder(tmp_path / "alone").enter("", {})["wandb_id"] != "abc123"
    monkeypatch.setenv("WANDB_SWEEP_ID", "s1")
    monkeypatch.setenv("WANDB_RUN_ID", "abc123")
    assert RunFolder(tmp_path / "step").enter("", {})["wandb_id"] == "abc123"
