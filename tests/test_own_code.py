"""Callbacks and loggers of the user's own, from her own files, and only if she allows them in this call."""

import sys

import pytest
from concord.commands.train import train
from concord.errors import UserError
from concord.own_code import make_each
from concord.runs.loggers import check_loggers
from concord.runs.run_folder import RunFolder
from pytorch_lightning import Callback
from training_runs import WITHOUT_PROBES, settings

CODE = """
from pathlib import Path

from pytorch_lightning import Callback
from pytorch_lightning.loggers.logger import DummyLogger, Logger


class Counting(Callback):
    def __init__(self, file, every=1):
        self.file, self.every = Path(file), every

    def on_train_epoch_end(self, trainer, module):
        with self.file.open("a") as stream:
            stream.write(f"{trainer.current_epoch} {self.every} {module.words_seen}\\\\n")


class Telling(Logger):
    name, version = "telling", ""

    def __init__(self, file):
        super().__init__()
        self.file = Path(file)

    def log_hyperparams(self, *_, **__):
        pass

    def log_metrics(self, metrics, step=None):
        with self.file.open("a") as stream:
            stream.write(f"{step} {sorted(metrics)}\\\\n")


def function():
    pass
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A package in the folder that the command is run in."""
    (tmp_path / "mypkg_of_test").mkdir()
    (tmp_path / "mypkg_of_test/__init__.py").write_text(CODE.replace("\\\\", "\\"), encoding="utf-8")
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("mypkg_of_test", None)


def test_a_run_hears_a_callback_and_a_logger_of_the_users_own(mine):
    train(
        settings(
            *WITHOUT_PROBES,
            "name=x",
            "trainer.max_epochs=2",
            "trainer.profiler=simple",
            "callbacks.checkpoints.at_words=[50,999999999]",
            f"paths.runs={mine}/runs",
            f"paths.cache={mine}/cache",
            "+callbacks.mine._target_=mypkg_of_test.Counting",
            f"+callbacks.mine.file={mine}/counted",
            "+callbacks.mine.every=3",
            "+logger.mine._target_=mypkg_of_test.Telling",
            f"+logger.mine.file={mine}/told",
            "allow=[mypkg_of_test]",
        )
    )
    counted = (mine / "counted").read_text().splitlines()
    assert [line.split()[:2] for line in counted] == [["0", "3"], ["1", "3"]]
    assert "valid/perplexity" in (mine / "told").read_text()
    run = RunFolder(mine / "runs/x")
    assert "mypkg_of_test.Counting" in str(run.settings()["callbacks"])
    assert "allow" not in run.settings()  # a saved configuration names code, and never allows it
    said = run.log.read_text(encoding="utf-8")
    assert "Total time" in said  # the profile that was asked for
    assert "run_training_batch" in said
    assert "callbacks.checkpoints.at_words: 999,999,999 will not be reached; this run ends after" in said
    assert (run.checkpoints / "words-50.ckpt").exists()
    run.clear()  # a profile is a run's own file
    assert list(run.path.iterdir()) == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"_target_": "mypkg_of_test.Counting", "file": "x"}, "allow it in this call: allow=.mypkg_of_test."),
        ({"_target_": "os.system", "command": "touch hacked"}, "allow it in this call: allow=.os."),
        ({"_target_": "pytorch_lightning.callbacks.os.system"}, "no module pytorch_lightning.callbacks.os"),
        ({"_target_": "pytorch_lightning.callbacks.timer.timedelta"}, "not a Lightning Callback; derive it from"),
        ({"_target_": "pytorch_lightning.callbacks.Timr"}, ": no Timr in pytorch_lightning.callbacks"),
        ({"_target_": "Counting"}, ": must be the dotted name of a class, for instance mypackage.Callback"),
        (
            {"_target_": "pytorch_lightning.callbacks.Timer", "_args_": [1]},
            "callbacks.mine._args_: user-defined settings must not begin with _",
        ),
        (
            {"_target_": "pytorch_lightning.callbacks.Timer", "foo": 1},
            "callbacks.mine: Timer cannot be built with {'foo': 1} .*foo",
        ),
    ],
)
def test_what_is_not_allowed_or_not_a_callback_is_told(mine, given, message):
    with pytest.raises(UserError, match=message):
        make_each("callbacks", {"mine": given}, Callback, ())
    assert not (mine / "hacked").exists()


def test_what_is_allowed_must_still_be_a_callback(mine):
    with pytest.raises(UserError, match="callbacks.mine._target_=mypkg_of_test.function: not a Lightning Callback"):
        make_each("callbacks", {"mine": {"_target_": "mypkg_of_test.function"}}, Callback, ["mypkg_of_test"])
    with pytest.raises(UserError, match="no module mypkg_of_test.nowhere"):
        make_each("callbacks", {"mine": {"_target_": "mypkg_of_test.nowhere.X"}}, Callback, ["mypkg_of_test"])
    chosen = settings("logger=none", "+logger.mine._target_=mypkg_of_test.Counting").logger
    with pytest.raises(UserError, match="logger.mine.*: not a Lightning Logger"):
        check_loggers(chosen, ["mypkg_of_test"])


def test_lightnings_own_need_no_leave():
    (timer,) = make_each("callbacks", {"t": {"_target_": "pytorch_lightning.callbacks.Timer", "interval": "epoch"}}, Callback, ())
    assert type(timer).__name__ == "Timer"


@pytest.mark.parametrize("override", ["+callbacks.chekpoints.every_n_steps=3", "+callbacks.mine=3", "+callbacks.mine.x=3"])
def test_a_slip_is_not_taken_for_a_callback(override):
    with pytest.raises(
        UserError,
        match="callbacks.(chekpoints|mine): no such setting; ",
    ):
        settings(override)
