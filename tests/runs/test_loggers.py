"""Who is told the numbers of a run besides metrics.csv."""

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

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
    with pytest.raises(UserError, match="logger.comet: no such setting; available: logger.wandb, logger.tensorboard"):
        settings("logger=none", "+logger.comet={}")
    check_loggers(settings("logger=none").logger)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("WANDB_MODE", "onlin", "WANDB_MODE=onlin .environment.: no such mode; available: online, offline"),
        ("WANDB_BASE_URL", "my server", "WANDB_BASE_URL='my server' .environment.: must be an address"),
        ("WANDB_BASE_URL", "htp://x", ".environment.: must be an address, for instance https://api.wandb.ai"),
    ],
)
def test_a_malformed_environment_of_wandb_is_told_before_anything_is_done(monkeypatch, name, value, message):
    monkeypatch.setenv(name, value)
    with pytest.raises(UserError, match=message):
        check_loggers(settings("logger=wandb").logger)
    check_loggers(settings("logger=none").logger)


class _Refusing(BaseHTTPRequestHandler):
    """A server that knows nobody."""

    def do_POST(self):
        self.send_response(401)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST  # noqa: N815 - as the base class calls it

    def log_message(self, *_):
        pass


@pytest.fixture
def refusing():
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # W&B's own
@pytest.mark.parametrize("outage", ["closed port", "401"])
def test_an_outage_of_wandb_costs_nothing_not_even_at_a_second_start(tmp_path, monkeypatch, refusing, outage, caplog):
    import wandb
    from concord.runs import wandb_logging

    monkeypatch.setattr(wandb_logging, "PATIENCE", 5)
    monkeypatch.setenv("WANDB_MODE", "online")
    monkeypatch.setenv("WANDB_API_KEY", "0" * 40)
    monkeypatch.setenv("WANDB_BASE_URL", refusing if outage == "401" else "http://127.0.0.1:9")
    for start in (1, 2):
        logger = wandb_logging.wandb_logger(tmp_path, "0badf00d", {}, "concord", [])
        logger.experiment.log({"x": start})
        wandb_logging.close(tmp_path)
        assert len(list((tmp_path / "wandb").glob("offline-run-*-0badf00d"))) == start
        assert "this run is logged offline" in caplog.text
        time.sleep(1.1)  # folders are named by the second
    wandb.teardown()
