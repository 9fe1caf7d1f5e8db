"""Signals outside the training loop, and SLURM's warning."""

import os
import signal
import subprocess
import sys
import time

import pytest
from concord.runs.checkpointing import Interruption
from concord.runs.continuing import checkpoint_to_resume, resume_requeued
from concord.runs.run_folder import RunFolder
from concord.runs.stopping import Interrupted, explain_failures, handled_by, requeue, stop_now
from training_runs import settings


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT])
def test_outside_training_a_signal_ends_the_program_with_its_status(number, capsys):
    before = signal.getsignal(number)
    with pytest.raises(SystemExit) as stop, explain_failures():
        os.kill(os.getpid(), number)
    assert stop.value.code == 128 + number
    assert capsys.readouterr().err == f"stopped by {number.name}\n"  # and not that a state is saved
    assert signal.getsignal(number) == before


def test_a_signal_inside_a_library_that_catches_every_exception_is_still_a_signal(tmp_path, monkeypatch):
    """As in torch.load, where a healthy checkpoint was called damaged."""
    import torch
    from concord.lm.checkpoints import read_checkpoint

    torch.save({"concord": {}}, tmp_path / "x.ckpt")
    monkeypatch.setattr("torch.load", lambda *_, **__: signal.raise_signal(signal.SIGTERM))
    with pytest.raises(SystemExit) as stop, explain_failures():
        read_checkpoint(tmp_path / "x.ckpt")
    assert stop.value.code == 128 + signal.SIGTERM


def test_a_library_that_fails_while_it_tidies_up_after_a_signal_does_not_hide_it(capsys):
    """As OmegaConf does, whose half-made lists cannot be put back as they were."""

    def make():
        try:
            signal.raise_signal(signal.SIGUSR2)
        finally:
            None._invalidate_flags_cache()

    def compose():
        try:
            make()
        except AttributeError as error:
            raise ValueError("cannot compose") from error

    with pytest.raises(SystemExit) as stop, explain_failures():
        compose()
    assert stop.value.code == 128 + signal.SIGUSR2
    assert capsys.readouterr().err == "stopped by SIGUSR2\n"


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ([], "before the first checkpoint; start again with overwrite=true"),
        (["checkpoints/last.ckpt"], "the last checkpoint is kept; resume with ckpt_path=auto"),
        (["checkpoints/last.ckpt", "DONE"], "the run is finished; run the same command to show its result and write its page"),
    ],
)
def test_what_is_saved_is_said_only_when_it_is(tmp_path, capsys, there, said):
    folder = RunFolder(tmp_path / "x")
    folder.enter("", {})
    for file in there:
        (folder.path / file).touch()
    with pytest.raises(SystemExit), explain_failures(), folder.noted():
        signal.raise_signal(signal.SIGTERM)
    assert capsys.readouterr().err == f"stopped by SIGTERM: {said}\n"
    assert ("ended" in folder.provenance()["starts"][-1]) == (not folder.finished())


def test_a_second_ctrl_c_in_training_means_now():
    received = Interruption(None)
    received._receive(signal.SIGINT, None)
    received._receive(signal.SIGTERM, None)
    received._receive(signal.SIGINT, None)
    with pytest.raises(Interrupted):
        received._receive(signal.SIGINT, None)


@pytest.mark.parametrize("moment", [0.05, 0.4])
def test_ctrl_c_while_a_command_is_being_imported_is_one_line(moment):
    """A module that is slow to import stands for torch and Hydra."""
    program = (
        "import concord.commands, importlib.abc, signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell may have started the tests without one
        "class Slow(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'hydra': print('now', flush=True); time.sleep(20)\n"
        "sys.meta_path.insert(0, Slow())\n"
        "import concord.commands.train\n"
        "sys.argv[1:] = []\n"
        "concord.commands.train.main()\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "now\n"
        time.sleep(moment)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (errors, process.returncode) == ("stopped by SIGINT\n", 130)


def test_handlers_are_put_back():
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGUSR1)]
    with pytest.raises(Interrupted), handled_by(stop_now):
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


@pytest.mark.parametrize("typed", [["overwrite=true"], []])
def test_a_job_that_slurm_starts_again_goes_on_whatever_its_command_says(tmp_path, monkeypatch, typed):
    asked, folder = settings(*typed, f"paths.runs={tmp_path}", "name=x"), RunFolder(tmp_path / "x")
    folder.checkpoints.mkdir(parents=True)
    folder.last.touch()
    monkeypatch.delenv("SLURM_RESTART_COUNT", raising=False)
    assert resume_requeued(asked, folder) == asked
    monkeypatch.setenv("SLURM_RESTART_COUNT", "1")
    again = resume_requeued(asked, folder)
    assert (again.overwrite, again.ckpt_path, again.plain["overwrite"]) == (False, "auto", False)
    assert checkpoint_to_resume(again, folder) == folder.last
    folder.last.unlink()  # stopped before there was anything to save
    assert resume_requeued(asked, folder) == asked
