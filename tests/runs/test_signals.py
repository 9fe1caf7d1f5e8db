"""Signals outside the training loop, and SLURM's warning."""

import os
import signal

import pytest
from concord.runs.failures import explain_failures
from concord.runs.signals import Interrupted, heeded
from concord.runs.slurm import requeue


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2])
def test_outside_training_a_signal_ends_the_program_with_its_status(number, capsys):
    before = signal.getsignal(number)
    with pytest.raises(SystemExit) as stop, explain_failures():
        os.kill(os.getpid(), number)
    assert stop.value.code == 128 + number
    assert f"stopped by {number.name}" in capsys.readouterr().err
    assert signal.getsignal(number) == before


def test_handlers_are_put_back():
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGUSR1)]
    with pytest.raises(Interrupted), heeded():
        signal.raise_signal(signal.SIGUSR1)
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGUSR1)] == before


@pytest.fixture
def scontrol(tmp_path, monkeypatch):
    """A stand-in that writes down what it was asked."""
    tool = tmp_path / "scontrol"
    tool.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for name in ("RANK", "LOCAL_RANK", "SLURM_PROCID", "SUBMITIT_EXECUTOR", "SLURM_JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    return lambda: (tmp_path / "asked").read_text() if (tmp_path / "asked").exists() else ""


def test_the_warning_of_slurm_puts_the_job_back_into_the_queue_once(scontrol, monkeypatch, capsys):
    requeue(signal.SIGUSR1)
    assert scontrol() == ""  # no SLURM
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    requeue(signal.SIGTERM)  # cancelled
    with monkeypatch.context() as patched:
        patched.setenv("SLURM_PROCID", "1")  # not the first process
        requeue(signal.SIGUSR1)
    with monkeypatch.context() as patched:
        patched.setenv("SUBMITIT_EXECUTOR", "slurm")  # which does it itself
        requeue(signal.SIGUSR1)
    assert scontrol() == ""
    requeue(signal.SIGUSR1)
    assert scontrol() == "requeue 17\n"
    assert "SLURM job 17 requeued" in capsys.readouterr().err
