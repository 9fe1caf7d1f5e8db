"""What a run's folder may be called, and what may be removed from it."""

import json
import subprocess
from pathlib import Path

import pytest
from concord.errors import UserError
from concord.runs import run_folder
from concord.runs.run_display import show_result
from concord.runs.run_folder import RunExists, RunFolder, git_revision, typed_command
from concord.runs.run_state import History
from concord.terminal import keep_log
from training_runs import settings


@pytest.mark.parametrize("name", [".", "..", "a/b", "/etc", "../up", ".hidden", "~/x/", "a\\\\b", "x" * 201])
def test_a_name_that_leads_to_another_folder_is_refused(name):
    with pytest.raises(UserError, match="a run is a folder in runs") as told:
        _ = settings(f"name='{name}'").folder
    assert "\n" not in str(told.value)


def test_a_part_of_the_default_name_leads_nowhere_else_either():
    with pytest.raises(UserError, match="the run would be called de-../../x-grammar"):
        _ = settings("model.name='../../x'").folder


def test_home_is_expanded_in_paths(monkeypatch):
    monkeypatch.setenv("HOME", "/home/her")
    made = settings("paths.runs='~/runs'", "paths.cache='~/cache'", "name=x")
    assert (made.folder, made.paths.corpora) == (Path("/home/her/runs/x"), Path("/home/her/cache"))
    assert settings("paths.runs='~nobody-here/runs'", "name=x").folder == Path("~nobody-here/runs/x")


@pytest.mark.parametrize("name", ["mine", "1", "nan", "größer als gestern", "a-b_c.d", "lr=3"])
def test_ordinary_names_are_names(name):
    assert settings(f"name='{name}'").folder.name == name
    assert settings("name=1").folder.name == "1"
    assert settings("name=nan").folder.name == "nan"


def run_with(folder, *files):
    run = RunFolder(folder)
    run.enter("seed: 1\n", {})
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text("mine", encoding="utf-8")
    return run


def test_clearing_removes_a_runs_own_files(tmp_path):
    own = (
        "metrics.csv",
        "checkpoints/last.ckpt",
        "probes/x.parquet",
        "train.log",
        "DONE",
        "report.html",
        ".DONE.17.new",
        ".DS_Store",
    )
    run = run_with(tmp_path / "x", *own)
    elsewhere = tmp_path / "scratch"
    elsewhere.mkdir()
    (elsewhere / "data").write_text("kept")
    (run.path / "wandb").symlink_to(elsewhere)
    run.clear()
    assert list(run.path.iterdir()) == []
    assert (elsewhere / "data").exists()


@pytest.mark.parametrize("file", ["thesis.tex", "other_run/config.yaml", "probes.txt", ".git/HEAD", "metrics.csv/data"])
def test_clearing_refuses_a_folder_that_holds_other_things(tmp_path, file):
    run = run_with(tmp_path / "x", "checkpoints/last.ckpt", file)
    before = sorted(run.path.rglob("*"))
    with pytest.raises(RunExists, match=f"this folder also holds {file.partition('/')[0]}; move that elsewhere"):
        run.clear()
    assert sorted(run.path.rglob("*")) == before


def test_a_folder_of_runs_is_no_run_whatever_lies_in_it(tmp_path):
    """As `name=. overwrite=true` made one of it."""
    run_with(tmp_path / "a", "DONE")
    outer = run_with(tmp_path)
    with pytest.raises(RunExists, match="also holds a"):
        outer.clear()
    assert json.loads((tmp_path / "a/provenance.json").read_text())["starts"]


def test_the_end_of_a_run_can_be_read_by_any_program(tmp_path):
    run = run_with(tmp_path / "x")
    run.finish({"test/perplexity": float("inf"), "best valid/loss": float("nan"), "epochs": 3})
    text = (run.path / "DONE").read_text()
    assert "Infinity" not in text
    assert "NaN" not in text
    assert json.loads(text) == {"test/perplexity": None, "best valid/loss": None, "epochs": 3}
    assert History(run).of_best("test/perplexity") is None
    with keep_log(first=True) as log:
        show_result(run)
        assert "not finite" in "\n".join(record.getMessage() for record in log.said)


@pytest.mark.parametrize(
    ("program", "typed"),
    [
        (Path(run_folder.__file__).parents[1] / "commands/train.py", ["concord", "train", "lang=de"]),
        (Path("/somewhere/train.py"), ["train.py", "lang=de"]),
    ],
)
def test_the_command_is_kept_as_it_was_typed(monkeypatch, program, typed):
    monkeypatch.setattr("sys.argv", [str(program), "lang=de"])
    assert typed_command() == typed


def test_the_revision_is_that_of_the_program_not_of_a_project_it_is_installed_in(tmp_path):
    def git(*arguments):
        subprocess.run(
            ["git", "-C", tmp_path, "-c", "user.name=x", "-c", "user.email=x", *arguments], check=True, capture_output=True
        )

    installed = tmp_path / ".venv/concord.py"
    installed.parent.mkdir()
    installed.write_text("", encoding="utf-8")
    assert git_revision(installed) == {}
    (tmp_path / "study.py").write_text("", encoding="utf-8")
    git("init", "-q")
    git("add", "study.py")
    git("commit", "-qm", "a study")
    assert git_revision(installed) == {}
    assert git_revision(tmp_path / "study.py")["changed"]
