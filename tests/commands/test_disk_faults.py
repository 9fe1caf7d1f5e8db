"""Folders that cannot be written to, and disks that are full: one line, and before any work where that can be known."""

import errno
from pathlib import Path

import pytest
from concord.commands import export as export_command
from concord.commands import report as report_command
from concord.errors import UserError
from concord.files import require_writable
from concord.probes import evaluation
from concord.runs.stopping import explain_failures

BEFORE = Path(__file__).parents[1] / "fixtures/before"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "runs/x"), "runs/x: Permission denied; choose another folder, or"),
        (OSError(errno.EROFS, "Read-only file system", "runs/x"), "runs/x: Read-only file system; it cannot be written to"),
        (NotADirectoryError(errno.ENOTDIR, "Not a directory", "a/b"), "a/b: Not a directory; choose another place"),
        (OSError(errno.ENOSPC, "No space left on device"), "the disk is full (no file named); free some space"),
        (OSError(errno.EDQUOT, "Disk quota exceeded", "x.ckpt"), "the disk is full (x.ckpt); free some space"),
    ],
)
def test_a_fault_of_the_disk_is_one_line(error, message, capsys):
    with pytest.raises(SystemExit) as left, explain_failures():
        raise error
    assert left.value.code == 1
    said = capsys.readouterr().err
    assert said.startswith(f"error: {message}")
    assert said.count("\n") == 1


def test_other_errors_of_the_system_keep_their_traceback():
    with pytest.raises(ConnectionResetError), explain_failures():
        raise ConnectionResetError(errno.ECONNRESET, "reset")


@pytest.mark.parametrize("where", ["file", "file/below", "file/below/deep"])
def test_a_folder_that_cannot_be_made_is_told_before_the_work(tmp_path, where, capsys):
    (tmp_path / "file").write_text("no folder")
    place = "file: is" if where == "file" else f"{where}: {tmp_path}/file is"  # said once
    with pytest.raises(UserError, match=f"/{place} not a folder; choose another place"):
        require_writable(tmp_path / where)
    assert report_command.main([str(BEFORE / "runs"), "--out", str(tmp_path / where), "--no-figures"]) == 1
    assert export_command.main([f"ckpt_path={BEFORE}/runs/lstm/checkpoints/best.ckpt", f"out={tmp_path / where}"]) == 1
    said = capsys.readouterr().err
    assert said.count("is not a folder; choose another place\n") == 2
    assert said.count("\n") == 2


def test_a_folder_without_the_right_to_write_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)  # the superuser may write everywhere
    with pytest.raises(UserError, match=f"{tmp_path} cannot be written to; choose another folder, or change its permissions"):
        require_writable(tmp_path / "x")
    monkeypatch.undo()
    require_writable(tmp_path / "x/y/z")


def test_scores_are_shown_even_if_they_cannot_be_written(tmp_path, monkeypatch):
    from concord.probes.evaluation import load_models, read_probes
    from concord.settings.overrides import read_composed_evaluation
    from concord.terminal import keep_log
    from hydra import compose, initialize_config_dir

    with initialize_config_dir(str(BEFORE.parents[2] / "conf"), version_base="1.3"):
        asked = [f"ckpt_path={BEFORE}/runs/lstm/checkpoints/best.ckpt", "probes.limit=5", "probes.constructions=[prep]"]
        settings = read_composed_evaluation(compose("evaluate", asked))

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device", "items.parquet")

    monkeypatch.setattr(evaluation, "save_items", full)
    (probe,) = read_probes(settings)
    with keep_log(first=True) as log:
        with pytest.raises(OSError, match="No space left"):
            evaluation.evaluate_probe(probe, load_models(settings, [probe]), tmp_path / "results", {})
        shown = "\n".join(record.getMessage() for record in log.said)
    assert "prep" in shown
