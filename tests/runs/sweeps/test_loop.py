"""The sweep itself, with a program that does in a blink what train.py does in minutes."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import yaml
from concord.errors import UserError
from concord.runs.run_folder import RunFolder
from concord.runs.stopping import Interrupted
from concord.runs.sweeps.board import Board, Row, reason
from concord.runs.sweeps.job import Job, freeze, labels, make_job, must_differ, short_names
from concord.runs.sweeps.launch import launch_jobs
from concord.runs.sweeps.loop import JobList, Sweep
from concord.runs.sweeps.processes import Processes, share
from training_runs import settings as compose_settings

# Does what its seed says, and notes that it was started.
PROGRAM = """
import os, signal, sys, time, yaml
from concord.runs.run_folder import RunFolder
from pathlib import Path
at = sys.argv.index("--config-path")
settings = yaml.safe_load((Path(sys.argv[at + 1]) / (sys.argv[at + 3] + ".yaml")).read_text())
folder = RunFolder(Path(settings["paths"]["runs"]) / settings["name"])
with folder.locked():
    folder.enter(yaml.safe_dump({k: v for k, v in settings.items() if k not in ("defaults", "hydra")}), {})
    with (folder.path / "starts").open("a") as file:
        file.write(" ".join(sys.argv[5:]) + os.environ["OMP_NUM_THREADS"] + "\\n")
    trouble = Path(settings["paths"]["runs"]) / f"trouble-{settings['seed']}"
    if trouble.exists():
        what = trouble.read_text()
        if what == "fail":
            print("error: on purpose"); sys.exit(1)
        if what == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if what == "wait":
            signal.signal(signal.SIGTERM, lambda *_: ((folder.checkpoints / "last.ckpt").touch(), os._exit(143)))
            (folder.path / "ready").touch()
            time.sleep(60)
    folder.finish({})
"""


@pytest.fixture
def program(tmp_path):
    """What Python is told to run instead of train.py."""
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    return (str(file),)


def settings(tmp_path: Path, seed: int, **more):
    given = {"name": f"s{seed}", "paths.runs": tmp_path / "runs", "trainer.max_epochs": 2} | more
    return compose_settings(f"seed={seed}", *(f"{name}={value}" for name, value in given.items()))


class Launcher:
    def __init__(self, tmp_path: Path, n_jobs: int = 2) -> None:
        self.folder = tmp_path / "sweeps" / str(time.monotonic_ns())
        self.n_jobs = n_jobs

    def place(self, total: int, processes: int) -> Processes:
        return Processes(self.n_jobs, total, processes)


def sweep(tmp_path: Path, program, seeds, **more) -> None:
    jobs = [settings(tmp_path, seed, **more) for seed in seeds]
    launch_jobs(jobs, [[f"seed={seed}", "lang=de"] for seed in seeds], 0, Launcher(tmp_path), program)


def starts(tmp_path: Path) -> dict[str, int]:
    return {file.parent.name: len(file.read_text().splitlines()) for file in sorted(tmp_path.glob("runs/*/starts"))}


def test_one_crash_is_one_failed_row_and_only_what_is_missing_is_run_again(tmp_path, program, capsys):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/trouble-2").write_text("fail")
    (tmp_path / "runs/trouble-5").write_text("kill")
    with pytest.raises(SystemExit) as stop:
        sweep(tmp_path, program, range(1, 7))
    assert stop.value.code == 1
    said = capsys.readouterr().out
    assert "4 of 6 done, 0 running, 2 failed" in said
    assert "failed  seed=2: error: on purpose; see " in said
    assert "failed  seed=5: killed by SIGKILL; see " in said
    for file in (tmp_path / "runs").glob("trouble-*"):
        file.unlink()
    sweep(tmp_path, program, range(1, 7))
    assert starts(tmp_path) == {"s1": 1, "s2": 2, "s3": 1, "s4": 1, "s5": 2, "s6": 1}
    assert "6 jobs, 4 already done" in capsys.readouterr().out
    sweep(tmp_path, program, range(1, 7))
    assert sum(starts(tmp_path).values()) == 8
    said = capsys.readouterr().out
    assert "6 jobs, 6 already done" in said
    assert "6 of 6 done, 0 running, 0 failed" in said


def test_a_run_of_other_settings_or_another_text_is_not_taken_for_done(tmp_path, program):
    sweep(tmp_path, program, [1])
    sweep(tmp_path, program, [1], **{"model.embedding": 50})
    assert starts(tmp_path) == {"s1": 2}  # it is up to the program to say what is wrong


def test_overwriting_runs_everything_again(tmp_path, program):
    sweep(tmp_path, program, [1, 2])
    sweep(tmp_path, program, [1, 2], overwrite="true")
    assert starts(tmp_path) == {"s1": 2, "s2": 2}


def frozen_job(chosen, config: Path, program) -> Job:
    job = make_job(chosen, f"seed={chosen.seed}", config, program)
    freeze(job, chosen)
    return job


def running_sweep(tmp_path, program, seeds):
    """In a process of its own, to which signals can be sent."""
    jobs = [frozen_job(settings(tmp_path, seed), tmp_path / f"sweeps/job-{seed}.yaml", program) for seed in seeds]
    board = Board(len(jobs), [])
    return Sweep(JobList(jobs), Processes(2, len(jobs), 1), board), board


def test_a_signal_stops_the_jobs_gently_and_starts_no_more(tmp_path, program):
    (tmp_path / "runs").mkdir()
    for seed in (1, 2, 3):
        (tmp_path / f"runs/trouble-{seed}").write_text("wait")
    sweep, board = running_sweep(tmp_path, program, [1, 2, 3])

    def interrupt():
        while not ((tmp_path / "runs/s1/ready").exists() and (tmp_path / "runs/s2/ready").exists()):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(Interrupted, match="SIGTERM"):
        sweep.run()
    thread.join()
    assert starts(tmp_path) == {"s1": 1, "s2": 1}
    assert all((tmp_path / f"runs/s{seed}/checkpoints/last.ckpt").exists() for seed in (1, 2))
    assert board.count("stopped") == 2


def test_a_sweep_that_fails_leaves_no_process_behind(tmp_path, program):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/trouble-1").write_text("wait")
    sweep, _ = running_sweep(tmp_path, program, [1])

    def hopeless(job):
        if (tmp_path / "runs/s1/ready").exists():
            raise UserError("a metric that does not exist")
        return ""

    sweep.work.hopeless = hopeless
    with pytest.raises(UserError, match="a metric that does not exist"):
        sweep.run()
    assert sweep.tracked[0].running.status() == 143


def test_a_job_that_another_process_trains_is_left_to_it(tmp_path, program):
    sweep, _ = running_sweep(tmp_path, program, [1, 2])
    other = RunFolder(tmp_path / "runs/s1")
    with other.locked():
        other.enter("", {})
        assert [job.label for job in sweep.work.take(5)] == ["seed=2"]
        sweep.work.again(sweep.work.waiting.pop())
        assert not sweep.work.over()
        assert sweep.work.take(5) == []
    assert [job.label for job in sweep.work.take(5)] == ["seed=1"]


def test_jobs_are_frozen(tmp_path, program):
    config = tmp_path / "sweeps/job-1.yaml"
    job = frozen_job(settings(tmp_path, 7), config, program)
    written = yaml.safe_load(config.read_text())
    assert (written["seed"], written["name"], written["ckpt_path"]) == (7, "s7", "auto")
    assert job.command() == [sys.executable, *program, "--config-path", str(config.parent), "--config-name", "job-1"]


def test_a_job_goes_on_from_its_last_checkpoint(tmp_path, program):
    config = tmp_path / "job-1.yaml"
    job = make_job(settings(tmp_path, 1), "", config, program)
    from_file = make_job(settings(tmp_path, 1, ckpt_path="other.ckpt"), "", config, program)
    fresh = make_job(settings(tmp_path, 1, overwrite="true"), "", config, program)
    job.folder.enter("", {})
    assert job.command()[-1] == "job-1"  # auto, as it was frozen
    assert from_file.command()[-1] == "overwrite=true"  # it has nothing of its own yet
    job.folder.last.touch()
    assert job.command()[-1] == from_file.command()[-1] == "ckpt_path=auto"
    assert fresh.command()[-1] == "job-1"


def test_two_jobs_in_one_folder_are_refused(tmp_path, program):
    jobs = [make_job(settings(tmp_path, seed, name="mine"), f"seed={seed}", tmp_path / f"{seed}.yaml") for seed in (1, 2)]
    with pytest.raises(UserError, match=r"two jobs of the sweep would share this run \(seed=1; seed=2\).*mine-\$\{seed\}"):
        must_differ(jobs)


def test_jobs_are_called_by_what_tells_them_apart():
    assert labels([["lang=de", "seed=1", "data.limit=9"], ["lang=fr", "seed=1", "data.limit=9"]]) == ["lang=de", "lang=fr"]
    assert labels([["seed=1"]]) == ["seed=1"]
    assert labels([[]]) == ["the only job"]
    assert short_names(["model.dropout", "model.network.dropout", "model.optimizer.lr"]) == {
        "model.dropout": "model.dropout",
        "model.network.dropout": "network.dropout",
        "model.optimizer.lr": "lr",
    }


def test_the_machine_is_shared_fairly(monkeypatch):
    monkeypatch.setattr("concord.runs.sweeps.processes.cores", lambda: list(range(8)))
    monkeypatch.setattr("concord.runs.sweeps.processes.gpus", list)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    for n_jobs, total, needed, slots, threads in (
        (None, 20, 1, 8, 1),
        (None, 2, 1, 2, 4),
        (3, 20, 1, 3, 2),
        (None, 20, 2, 4, 1),
        (9, 20, 2, 9, 1),
    ):
        place = Processes(n_jobs, total, needed)
        assert (place.slots, place.threads) == (slots, threads)
        assert place.environment(0)["OMP_NUM_THREADS"] == str(threads)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert Processes(1, 5, 1).environment(0)["OMP_NUM_THREADS"] == "1"
    with pytest.raises(UserError, match="hydra.launcher.n_jobs=0: must be a whole number of at least 1, or null"):
        Processes(0, 5, 1)


def test_gpus_are_shared_fairly(monkeypatch):
    assert [share("0123", slot, 2) for slot in range(2)] == [["0", "1"], ["2", "3"]]
    assert [share("01", slot, 4) for slot in range(4)] == [["0"], ["1"], ["0"], ["1"]]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,5,6,7")
    place = Processes(None, 20, 2)
    assert place.slots == 2
    assert place.environment(1)["CUDA_VISIBLE_DEVICES"] == "6,7"


def test_a_job_is_not_told_that_it_is_a_rank_of_its_parent(monkeypatch):
    monkeypatch.setenv("SLURM_PROCID", "3")
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert not {"SLURM_PROCID", "LOCAL_RANK"} & {*Processes(1, 1, 1).environment(0)}
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(UserError, match="not with torchrun"):
        Processes(1, 1, 1)


def test_time_left_counts_epochs_and_jobs(tmp_path, monkeypatch):
    monkeypatch.setattr("time.monotonic", lambda: 100.0)
    job = Job("", RunFolder(tmp_path), tmp_path / "x.yaml", (), epochs=4, processes=1)
    board = Board(5, [])
    assert board.time_left() is None
    board.began = 0.0
    board.rows = {
        "before": Row(job, "done", 0, note="before"),
        "done": Row(job, "done", 0, epoch=4),
        "half": Row(job, "running", 0, epoch=3, begun_with=1),
    }
    # 1 + 2/4 jobs in 100 seconds; 1/4 of one and two whole ones are left.
    assert board.time_left() == pytest.approx(100 * 2.25 / 1.5)


def test_why_a_job_failed(tmp_path):
    job = Job("", RunFolder(tmp_path), tmp_path / "x.yaml", (), epochs=4, processes=1)
    assert reason(job, 1) == "exit status 1"
    job.log.write_text("epoch 1\nerror: no such file\nbye\n\n")
    assert reason(job, 1) == "error: no such file"
    job.log.write_text("Traceback\nKeyError: 'x'\n")
    assert reason(job, 1) == "KeyError: 'x'"
    assert reason(job, 137) == "killed by SIGKILL"


def test_what_a_job_has_started_ends_with_it(tmp_path, program):
    """A second process of ddp would otherwise wait for the first for half an hour."""
    marker = tmp_path / "child"
    Path(program[0]).write_text(
        "import subprocess, sys\n"
        f"child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(marker)!r}, 'w').write(str(child.pid))\nsys.exit(1)\n"
    )
    sweep, _ = running_sweep(tmp_path, program, [1])
    sweep.run()
    child = int(json.loads(marker.read_text()))
    for _ in range(100):
        shown = subprocess.run(["ps", "-o", "stat=", "-p", str(child)], capture_output=True, text=True, check=False).stdout
        if not shown or shown.startswith("Z"):
            return
        time.sleep(0.05)
    pytest.fail("the child is alive")
