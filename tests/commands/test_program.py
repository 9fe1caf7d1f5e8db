"""`concord`: one program for all commands, help that comes at once, and completion."""

import importlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from concord.commands.help_page import help_page
from concord.commands.program import COMMANDS
from concord.places import choices

ROOT = Path(__file__).resolve().parents[2]
# Each takes a tenth of a second or more.
HEAVY = {"numpy", "torch", "pytorch_lightning", "pandas", "scipy", "matplotlib", "transformers", "wandb"}


def concord(*arguments: str, folder: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "concord.commands.program", *arguments]
    return subprocess.run(command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False)


def test_alone_it_shows_a_page_for_newcomers():
    done = concord()
    assert done.returncode == 0
    for command in COMMANDS:
        assert f"\n  {command} " in done.stdout
    assert "concord train lang=fr model=transformer" in done.stdout
    assert done.stdout == concord("--help").stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_examples_of_its_own_and_loads_nothing_heavy_for_them(command):
    code = f"import atexit, sys; atexit.register(lambda: print({HEAVY} & sys.modules.keys(), file=sys.stderr))\n"
    code += f"sys.argv = ['concord', '{command}', '--help']; from concord.commands.program import main; main()"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"\n  concord {command} " in done.stdout
    assert "python -m" not in done.stdout
    assert done.stderr == "set()\n"


def test_the_help_of_evaluate_lists_what_evaluate_takes():
    page = help_page("evaluate")
    for group in ("trainer", "logger", "callbacks", "tokenizer", "experiment", "debug", "hparams_search", "model/optimizer"):
        assert f"  {group}: " not in page
    assert "  model: hf, scores\n" in page
    assert "  lang: any, de, en, es, fr, he, multi, ru\n" in page


def test_the_help_of_train_lists_every_group_and_choice():
    page = help_page("train")
    for group in ("lang", "data", "tokenizer", "probes", "trainer", "experiment", "debug", "hparams_search", "model/optimizer"):
        assert f"  {group}: {', '.join(choices(group, 'train'))}\n" in page
    assert "  model: lstm, transformer\n" in page


def test_choices_of_ones_own_are_listed(tmp_path, monkeypatch):
    (tmp_path / "conf/lang").mkdir(parents=True)
    (tmp_path / "conf/lang/it.yaml").write_text("code: it\nname: Italian\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert "  lang: any, de, en, es, fr, he, it, multi, ru\n" in help_page("train")


def test_the_script_in_a_clone_shows_the_same_help():
    done = subprocess.run([sys.executable, "evaluate.py", "--help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == help_page("evaluate")


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("evalute", "error: concord evalute: no such command; did you mean concord evaluate?\n"),
        ("xyz", f"error: concord xyz: no such command; available: {', '.join(COMMANDS)}\n"),
    ],
)
def test_a_misspelt_command_is_explained(typed, message):
    done = concord(typed)
    assert (done.returncode, done.stderr) == (2, message)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("concord ", list(COMMANDS)),
        ("concord ev", ["evaluate"]),
        ("concord train model=", ["model=hf", "model=lstm", "model=scores", "model=transformer"]),
        ("concord evaluate devi", ["device="]),
        ("concord sets ", []),
    ],
)
def test_the_shell_is_told_what_could_come_next(typed, expected):
    done = concord("-sc", "query=bash", COMP_LINE=typed)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == expected


def test_the_program_is_what_gets_installed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["scripts"] == {"concord": "concord.commands.program:main"}


def test_the_packages_that_are_installed_are_all_there_are():
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    folders = {file.parent.relative_to(ROOT / "src").parts for file in (ROOT / "src").rglob("__init__.py")}
    code = {".".join(("concord", *parts)) for parts in folders}
    assert {name for name in setup["package-dir"] if name != "concord"} | code == {*setup["packages"]}
    for name, folder in setup["package-dir"].items():
        assert (ROOT / folder / "__init__.py").exists() or name in setup["package-data"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (["report"], "error: concord report: the following arguments are required: RUN; concord report --help explains it\n"),
        (["results", "runs", "--fianl"], "error: concord results: unrecognized arguments: --fianl; "),
        (["runs", "lst"], "error: concord runs: argument command: invalid choice: 'lst'"),
        (
            ["sets", "export", "de", "--to", "foo", "--out", "x"],
            "error: concord sets export: argument --to: invalid choice: 'foo'",
        ),
        (["grammar"], "error: concord grammar: the following arguments are required: "),
    ],
)
def test_a_wrong_call_gives_one_line(capsys, call, said):
    name, *arguments = call
    with pytest.raises(SystemExit) as stop:
        importlib.import_module(f"concord.commands.{name}").main(arguments)
    err = capsys.readouterr().err
    assert stop.value.code == 2
    assert err.startswith(said)
    assert err.count("\n") == 1
