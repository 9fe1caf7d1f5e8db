"""Who is told the numbers of a run besides metrics.csv."""

import pytest
from concord.errors import UserError
from concord.runs.loggers import check_loggers
from concord.runs.metrics_file import read
from training_runs import TINY, settings, train


@pytest.mark.slow
def test_tensorboard_has_the_same_numbers_also_after_a_resume(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    same = [setting for setting in TINY if setting != "logger=none"] + ["name=x", "logger=tensorboard"]
    train(tmp_path, *same, "trainer.max_epochs=1")
    (tmp_path / "runs/x/DONE").unlink()
    train(tmp_path, *same, "trainer.max_epochs=3", "ckpt_path=auto")
    shown = EventAccumulator(str(tmp_path / "runs/x/tensorboard"))
    shown.Reload()
    ours = {row["step"]: row["valid/perplexity"] for row in read(tmp_path / "runs/x/metrics.csv") if "valid/perplexity" in row}
    events = shown.Scalars("valid/perplexity")
    assert {event.step: event.value for event in events} == pytest.approx(ours)
    assert len(events) == len(ours) == 3
    assert not (tmp_path / "runs/x/wandb").exists()


@pytest.mark.slow
def test_both_at_once(tmp_path):
    same = [setting for setting in TINY if setting != "logger=none"]
    done = train(tmp_path, *same, "name=x", "logger=[wandb,tensorboard]", "trainer.max_epochs=1")
    assert "wandb sync" in done.stdout
    assert list((tmp_path / "runs/x/tensorboard").glob("events.*"))


def test_a_missing_package_or_an_unknown_logger_is_told_before_anything_is_done(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"pip install 'concord-lm\[tensorboard\]'"):
        check_loggers(settings("logger=tensorboard").logger)
    with pytest.raises(UserError, match="logger.comet: there is no such setting; there are: logger.wandb, logger.tensorboard"):
        settings("logger=none", "+logger.comet={}")
    check_loggers(settings("logger=none").logger)
