"""On a real SLURM: sweeps, several tasks, preemption. `make test-slurm` installs and starts one; without it they are skipped."""

import subprocess
import time
from pathlib import Path

import pytest
from training_runs import ROOT, TINY, clean, command, rows_without_times, same_weights, train

CLUSTER = Path(__file__).parent / "cluster"
SLURM = ["hydra/launcher=submitit_slurm", "hydra.launcher.partition=debug", "hydra.launcher.timeout_min=30"]
TINY = [setting for setting in TINY if not setting.startswith("probes")] + ["probes=none"]
LONG = [*TINY, "data.limit=1500", "trainer.max_epochs=5", "callbacks.checkpoints.every_n_steps=0"]
pytestmark = pytest.mark.slurm


@pytest.fixture(scope="module", autouse=True)
def cluster():
    started = subprocess.run([CLUSTER, "start"], capture_output=True, text=True, check=False)
    if started.returncode:
        pytest.skip(started.stderr.strip())
    yield
    subprocess.run([CLUSTER, "stop"], check=False)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    train(folder, *LONG, "name=x")
    return folder / "runs/x"


def the_only_job() -> str:
    jobs = subprocess.run(["squeue", "-h", "-r", "-o", "%i"], capture_output=True, text=True, check=True).stdout.split()
    (job,) = jobs
    return job


def seen(what, process=None, seconds=900):
    """Wait until something is so."""
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until
        assert process is None or process.poll() is None, process.communicate()
        time.sleep(0.1)


def waits_again(job: str) -> bool:
    state = subprocess.run(["squeue", "-h", "-j", job, "-o", "%T %r"], capture_output=True, text=True, check=False).stdout
    return state.startswith("PENDING")


def hurry(job: str) -> None:
    """SLURM holds a requeued job back for two minutes.

    Not within the second in which the job was taken back: the node tells old and new by whole seconds, and refuses the new one
    ("Job credential revoked").
    """
    time.sleep(2)
    subprocess.run(["scontrol", "update", f"JobId={job}", "StartTime=now"], check=True)


def ended_as(undisturbed: Path, run: Path) -> None:
    assert (run / "DONE").exists()
    assert same_weights(undisturbed / "checkpoints/last.ckpt", run / "checkpoints/last.ckpt")
    assert same_weights(undisturbed / "checkpoints/best.ckpt", run / "checkpoints/best.ckpt")
    assert rows_without_times(undisturbed / "metrics.csv") == rows_without_times(run / "metrics.csv")


def test_a_sweep_of_four_jobs(tmp_path):
    done = train(tmp_path, *SLURM, *TINY, "hydra.launcher.cpus_per_task=1", "seed=1,2,3,4", "trainer.max_epochs=1", "-m")
    assert "4 of 4 done, 0 running, 0 failed" in done.stdout
    assert len(list((tmp_path / "runs").glob("*/DONE"))) == 4
    again = train(tmp_path, *SLURM, *TINY, "hydra.launcher.cpus_per_task=1", "seed=1,2,3,4", "trainer.max_epochs=1", "-m")
    assert "4 jobs, 4 already done" in again.stdout
    assert "start" not in again.stdout


def test_a_job_of_two_tasks(tmp_path):
    """The losses are those of one process with the same global batch."""
    same = [*TINY, "model.dropout=0", "model.network.dropout=0", "name=x"]
    train(tmp_path / "one", *same, "data.batch_size=6")
    train(tmp_path / "two", *SLURM, *same, "data.batch_size=3", "trainer=ddp_cpu", "seed=1", "-m")
    from concord.runs.metrics_file import read

    one, two = (read(tmp_path / folder / "runs/x/metrics.csv") for folder in ("one", "two"))
    assert len(one) == len(two) > 6
    for first, second in zip(one, two, strict=True):
        assert {k: v for k, v in first.items() if k[:5] != "time/"} == pytest.approx(
            {k: v for k, v in second.items() if k[:5] != "time/"}, rel=1e-4
        )


def test_preempted_under_sbatch(tmp_path, undisturbed):
    """As docs/cluster.md has it: SIGUSR1, the batch is finished, the state saved, the job queued again."""
    script = tmp_path / "job.sh"
    training = " ".join(command(tmp_path, *LONG, "name=x", "ckpt_path=auto"))
    script.write_text(f"#!/bin/bash\n#SBATCH --requeue\n#SBATCH --open-mode=append\nsrun {training}\n")
    sent = subprocess.run(
        ["sbatch", "-o", tmp_path / "out.txt", script], cwd=ROOT, env=clean(tmp_path), capture_output=True, text=True, check=True
    )
    job = sent.stdout.split()[-1]
    run = tmp_path / "runs/x"
    seen((run / "metrics.csv").exists)
    time.sleep(1)
    subprocess.run(["scancel", "--signal=USR1", job], check=True)
    seen(lambda: waits_again(job))
    said = (tmp_path / "out.txt").read_text()
    assert "stopped by SIGUSR1: the state is saved" in said
    assert f"SLURM job {job} requeued" in said
    assert not (run / "DONE").exists()
    hurry(job)
    seen((run / "DONE").exists)
    ended_as(undisturbed, run)
    assert "resuming from" in (tmp_path / "out.txt").read_text()


def test_preempted_in_a_sweep(tmp_path, undisturbed):
    """Submitit's own signal is SIGUSR2. The sweep that waits for its job notices nothing but the time."""
    sweep = subprocess.Popen(
        command(tmp_path, *SLURM, *LONG, "name=x", "seed=1", "-m"),
        cwd=ROOT,
        env=clean(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    run = tmp_path / "runs/x"
    seen((run / "metrics.csv").exists, sweep)
    time.sleep(1)
    job = the_only_job()
    subprocess.run(["scancel", "--signal=USR2", job], check=True)
    seen(lambda: waits_again(job), sweep)
    assert not (run / "DONE").exists()
    assert (run / "checkpoints/last.ckpt").exists()
    hurry(job)
    said, _ = sweep.communicate(timeout=900)
    assert sweep.returncode == 0, said
    assert "1 of 1 done, 0 running, 0 failed" in said
    ended_as(undisturbed, run)


def test_a_stopped_sweep_stops_its_jobs_which_save(tmp_path):
    sweep = subprocess.Popen(
        command(tmp_path, *SLURM, *LONG, "name=x", "seed=1", "trainer.max_epochs=500", "-m"),
        cwd=ROOT,
        env=clean(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    run = tmp_path / "runs/x"
    seen((run / "metrics.csv").exists, sweep)
    sweep.terminate()
    said, _ = sweep.communicate(timeout=900)
    assert sweep.returncode == 128 + 15, said
    assert (run / "checkpoints/last.ckpt").exists()
    assert "0 of 1 done, 0 running, 0 failed, 1 stopped" in said
