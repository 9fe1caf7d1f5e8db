"""Files of a run that a crash, a full disk or an editor has damaged: one line each, and nothing resumes on top of them."""

import json
import shutil
from pathlib import Path

import pytest
from concord.commands import report as report_command
from concord.commands import runs as runs_command
from concord.errors import UserError
from concord.runs.checkpointing import rows_known_to
from concord.runs.continuing import is_finished, must_be_same_run
from concord.runs.fit import fit
from concord.runs.metrics_file import must_hold
from concord.runs.run_folder import DamagedRun, RunFolder
from concord.runs.run_preparation import enter_folder, prepare_run
from training_runs import CORPORA, WITHOUT_PROBES, settings, weights

BEFORE = Path(__file__).parents[1] / "fixtures/before/runs"
DAMAGES = {
    "cut": lambda content: content[: len(content) // 2] + b'"',
    "empty": lambda content: b"",
    "zeros": lambda content: bytes(len(content)),
    "other bytes": lambda content: b"\xff\xfe" + content,
    "a list": lambda content: b"[1, 2]",
    "deep": lambda content: b"[" * 100_000,
}
READERS = {"DONE": RunFolder.result, "provenance.json": RunFolder.provenance, "config.yaml": RunFolder.settings}


@pytest.fixture
def run(tmp_path) -> RunFolder:
    return RunFolder(shutil.copytree(BEFORE / "lstm", tmp_path / "runs/lstm"))


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_of_a_run_is_told_in_one_line(run, capsys, name, damage):
    file = run.path / name
    file.write_bytes(DAMAGES[damage](file.read_bytes()))
    if (name, damage) == ("config.yaml", "empty"):
        with pytest.raises(UserError, match="lstm/config.yaml: "):  # nothing was set: told by what is missing
            must_be_same_run(run, settings())
        return
    with pytest.raises(DamagedRun, match=f"{name}: this run file is damaged .* overwrite=true") as error:
        READERS[name](run)
    assert "\n" not in str(error.value)
    assert runs_command.main(["list", str(run.path.parent)]) == 0
    shown = capsys.readouterr().out
    assert ("damaged lstm: " in shown) == (name != "provenance.json")  # which is not asked of a finished run
    assert runs_command.main(["list", str(run.path.parent), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 1
    report_command.main([str(run.path.parent), "--out", str(run.path.parent / "report"), "--no-figures"])
    told = capsys.readouterr()
    assert "Traceback" not in told.err
    assert str(run.path) in told.out + told.err  # named among what is left out


def test_a_finished_run_whose_result_is_damaged_is_not_taken_for_unfinished(run):
    (run.path / "DONE").write_text("{")
    with pytest.raises(DamagedRun, match="DONE: this run file is damaged"):
        run.result()
    assert run.finished()


@pytest.mark.parametrize("damage", [b"\xff", b"\x00,1\n", b"step,a\n1\n"])
def test_runs_are_listed_whatever_their_metrics_are(run, capsys, damage):
    run.metrics.write_bytes(damage)
    assert runs_command.main(["list", str(run.path.parent)]) == 0
    assert "1 run: 1 done" in capsys.readouterr().out


def train(folder: RunFolder, resume: bool = False):
    made = settings(*WITHOUT_PROBES, "data.limit=24", "trainer.max_epochs=1", f"paths.cache={CORPORA}")
    start = folder.last if resume else None
    prepared = prepare_run(made, folder, start)
    if not resume:
        enter_folder(made, folder, prepared)
        fit(prepared, made.facts(), folder, [], start)
    return made


def test_a_run_does_not_go_on_over_metrics_that_its_checkpoint_knows_and_the_file_has_lost(tmp_path):
    folder = RunFolder(tmp_path / "x")
    made = train(folder)
    assert not is_finished(made, RunFolder(tmp_path / "other"))
    assert weights(folder.last)
    whole = folder.metrics.read_bytes()
    lines = whole.splitlines(keepends=True)
    train(folder, resume=True)
    for content, message in [
        (b"".join(lines[:-2]), r"metrics.csv: \d rows, but the checkpoint expects \d; restore it"),
        (b"", r"metrics.csv: 0 rows, but the checkpoint expects \d"),
        (b"".join([lines[0], b"1,2\n", *lines[2:]]), "metrics.csv:2: this row is damaged"),
        (b"\xff" + whole, "metrics.csv: cannot be read .*; restore it"),
    ]:
        folder.metrics.write_bytes(content)
        with pytest.raises(UserError, match=message):
            train(folder, resume=True)
    folder.metrics.unlink()
    with pytest.raises(UserError, match="metrics.csv: 0 rows"):
        train(folder, resume=True)


def test_a_half_written_row_after_what_the_checkpoint_knows_does_no_harm(tmp_path):
    file = tmp_path / "metrics.csv"
    file.write_text("step,a\n1,2\n3,")
    must_hold(file, 1)
    assert rows_known_to({"callbacks": {"Checkpoints": {"rows": 3}}}) == 3
    assert rows_known_to({}) == 0
