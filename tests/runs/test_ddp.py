"""Two processes compute what one would."""

import socket
import subprocess
import sys

import pytest
from concord.runs.metrics_file import read
from pyarrow import parquet
from training_runs import ROOT, TINY, clean, command, train


def same_losses(first_file, second_file):
    """Every metric; for rank correlations, which can jump when two preferences swap places, every score behind them."""
    one, two = read(first_file), read(second_file)
    assert len(one) == len(two) > 6
    for first, second in zip(one, two, strict=True):
        assert first.keys() == second.keys()
        for name in first:
            if not name.startswith("time/") and "/rho_" not in name:
                assert first[name] == pytest.approx(second[name], rel=1e-4), name
    same_scores(first_file.parent / "probes", second_file.parent / "probes")


def same_scores(first_folder, second_folder):
    files = sorted(file.relative_to(first_folder) for file in first_folder.glob("*-step*.parquet"))
    assert files
    for file in files:
        one, two = (parquet.read_table(folder / file) for folder in (first_folder, second_folder))
        assert one["uid"] == two["uid"]
        for name in ("good_score", "bad_score"):
            assert one[name].to_numpy() == pytest.approx(two[name].to_numpy(), rel=1e-4), (file, name)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["lstm", "transformer"])
@pytest.mark.parametrize("window", ["null", "9"])
def test_losses_are_those_of_one_process_with_the_same_global_batch(tmp_path, model, window):
    same = [
        *TINY,
        f"model={model}",
        "model.dropout=0",
        "model.network.dropout=0",
        "name=x",
        f"data.window={window}",
        "data.limit=61",
    ]
    train(tmp_path / "one", *same, "data.batch_size=6")
    train(tmp_path / "two", *same, "data.batch_size=3", "trainer=ddp_cpu")
    same_losses(tmp_path / "one/runs/x/metrics.csv", tmp_path / "two/runs/x/metrics.csv")


@pytest.mark.slow
def test_two_nodes_by_torchrun_are_one_process_with_the_same_global_batch(tmp_path):
    """As docs/cluster.md has it, with both nodes on this machine."""
    same = [*TINY, "model.dropout=0", "model.network.dropout=0", "name=x", "data.limit=61"]
    train(tmp_path / "one", *same, "data.batch_size=6")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    nodes = ["trainer=ddp_cpu", "trainer.devices=1", "trainer.num_nodes=2", "data.batch_size=3"]
    training = command(tmp_path / "two", *same, *nodes)[1:]
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nnodes=2", "--nproc-per-node=1", "--master-addr=127.0.0.1"]
    processes = [
        subprocess.Popen(
            [*torchrun, f"--master-port={port}", f"--node-rank={rank}", *training],
            cwd=ROOT,
            env=clean(tmp_path),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in (0, 1)
    ]
    for process in processes:
        said, _ = process.communicate(timeout=300)
        assert process.returncode == 0, said
    same_losses(tmp_path / "one/runs/x/metrics.csv", tmp_path / "two/runs/x/metrics.csv")
