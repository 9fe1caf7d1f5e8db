"""The rooms of the house: who may import whom, no circles, and no import hidden in a function without a reason."""

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

from benchmarks.reading_path import count_any, repeated_classes, repeated_modules

SRC = Path(__file__).resolve().parents[1] / "src"
# Each may import from the rooms before it. What stands at the root is below all of them.
ROOMS = ("root", "data", "lm", "probes", "runs", "report", "watching", "api", "commands")
ROOT = ("errors", "escapes", "files", "machine", "metric_names", "own_code", "places", "settings", "terminal")
# Packages that are imported where they are used, and why.
LATE_PACKAGES = {
    "datasets": "an extra, and slow",
    "hydra": "slow; --help does without",
    "lightning_utilities": "patched while Lightning is imported",
    "matplotlib": "an extra, and slow",
    "optuna": "an extra, and slow",
    "pandas": "an extra, and slow",
    "pyarrow": "slow, and text that is not Parquet does without",
    "pytorch_lightning": "slow; --help does without",
    "sacremoses": "an extra",
    "scipy": "an extra, and slow",
    "spacy": "an extra, and slow",
    "submitit": "an extra",
    "torch": "slow; settings are checked without it",
    "transformers": "an extra, and slow",
}
# Files that import from our own package inside functions, and why.
LATE_FILES = {
    "api.py": "needs transformers, an extra",
    "commands": "--help answers at once",
    "data/corpora.py": "word models do without sentencepiece",
    "data/corpus.py": "word models do without sentencepiece",
    "lm/export.py": "needs transformers, an extra",
    "probes/evaluation.py": "needs transformers, an extra",
    "probes/models.py": "needs transformers, an extra",
    "probes/models_in_memory.py": "needs transformers, an extra",
    "report/__init__.py": "a notebook that only loads does without the figures",
    "report/report_folder.py": "figures need matplotlib, an extra",
    "report/texts.py": "torch is slow, and only reports of unfinished runs read sets",
    "runs/loggers.py": "wandb is slow, and a run without it does without",
    "runs/sweeps/launchers.py": "Hydra loads every launcher at each start",
    "runs/sweeps/sweepers.py": "Hydra loads every sweeper at each start",
}


MOST_ANY = 120  # times that a type says nothing
LONGEST_COMMAND = 80  # lines; what does the work stands in the rooms below


class Import(NamedTuple):
    file: str
    line: int
    target: tuple[str, ...]  # from the package on, or the name of another package
    ours: bool
    late: bool  # inside a function

    def __str__(self) -> str:
        return f"src/{self.file}:{self.line}: {'.'.join(self.target)}"


def imports_of(file: Path, source: Path) -> Iterator[Import]:
    name = file.relative_to(source).as_posix()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    inside = {id(n) for f in ast.walk(tree) if isinstance(f, ast.FunctionDef | ast.AsyncFunctionDef) for n in ast.walk(f)}
    for node in ast.walk(tree):
        late = id(node) in inside
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(name, node.lineno, tuple(alias.name.split(".")), False, late)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            assert node.module
            assert node.module.split(".")[0] != "concord", f"src/{name}:{node.lineno}: imports inside the package are relative"
            yield Import(name, node.lineno, tuple(node.module.split(".")), False, late)
        elif isinstance(node, ast.ImportFrom):
            base = file.relative_to(source).parts[: -node.level] + tuple((node.module or "").split(".") if node.module else ())
            for alias in node.names:
                yield Import(name, node.lineno, _module((*base, alias.name), source), True, late)


def _module(path: tuple[str, ...], source: Path) -> tuple[str, ...]:
    """A name that is imported may be a module, or stand in one."""
    place = source.joinpath(*path)
    return path if place.is_dir() or place.with_suffix(".py").is_file() else path[:-1]


def room(module: tuple[str, ...]) -> str:
    return "root" if not module or module[0] in ROOT else module[0]


def broken_layers(found: list[Import]) -> list[str]:
    ours = [each for each in found if each.ours]
    # The package itself offers the API, which it imports when asked.
    return [str(i) for i in ours if i.file != "__init__.py" and ROOMS.index(room(i.target)) > ROOMS.index(room(_parts(i.file)))]


def circle(found: list[Import]) -> list[str]:
    graph: dict[str, set[str]] = {}
    for each in found:
        if each.ours and each.target != _parts(each.file):
            graph.setdefault(".".join(_parts(each.file)), set()).add(".".join(each.target))
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def hidden(found: list[Import]) -> list[str]:
    late = [each for each in found if each.late]
    packages = [str(i) for i in late if not i.ours and i.target[0] not in LATE_PACKAGES]
    return packages + [str(i) for i in late if i.ours and i.file not in LATE_FILES and i.file.split("/")[0] not in LATE_FILES]


def _parts(file: str) -> tuple[str, ...]:
    return tuple(part for part in file.removesuffix(".py").split("/") if part != "__init__")


@pytest.fixture(scope="module")
def found() -> list[Import]:
    return [each for file in sorted(SRC.rglob("*.py")) for each in imports_of(file, SRC)]


def test_no_room_imports_from_one_above_it(found):
    assert broken_layers(found) == []


def test_no_modules_import_each_other_in_a_circle(found):
    """Imports inside functions count: none is there to dodge a circle."""
    assert circle(found) == []


def test_imports_inside_functions_have_a_reason(found):
    assert hidden(found) == []
    there = {each.file for each in found if each.late and each.ours}
    assert {name for name in LATE_FILES if name.endswith(".py")} <= there, "a reason for imports that are no longer there"


def test_no_module_or_class_has_the_name_of_another():
    files = sorted(SRC.rglob("*.py"))
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}
    assert repeated_modules(SRC, files) | repeated_classes(SRC, trees) == {}


def test_types_say_what_a_value_is():
    assert sum(count_any(ast.parse(file.read_text(encoding="utf-8"))) for file in SRC.rglob("*.py")) < MOST_ANY


def test_a_command_is_a_short_story():
    lengths = {file.name: len(file.read_text(encoding="utf-8").splitlines()) for file in (SRC / "commands").rglob("*.py")}
    assert {name: length for name, length in lengths.items() if length > LONGEST_COMMAND} == {}


def test_names_of_metrics_have_one_owner():
    """Nobody else spells one; keys of what is printed as JSON are spelt where their type is."""
    spelt = re.compile(r"""f?"(train|valid|test|progress|time|probe)/[a-z{]""")
    others = [file for file in sorted(SRC.rglob("*.py")) if file.stem not in ("metric_names", "run_overview")]
    assert [file.name for file in others if spelt.search(file.read_text(encoding="utf-8"))] == []
    assert spelt.search((SRC / "metric_names.py").read_text(encoding="utf-8"))


def test_every_room_is_known():
    packages = {folder.name for folder in SRC.iterdir() if (folder / "__init__.py").is_file()}
    modules = {file.stem for file in SRC.glob("*.py") if file.stem != "__init__"}
    assert packages | modules == {*ROOMS, *ROOT} - {"root"}


@pytest.mark.parametrize(
    ("file", "text", "finder", "expected"),
    [
        ("data/x.py", "from ..lm.y import z\n", broken_layers, ["src/data/x.py:1: lm.y"]),
        ("files.py", "def f():\n    from .data import x\n", broken_layers, ["src/files.py:2: data"]),
        ("data/x.py", "def f():\n    from .y import g\n", circle, ["data.x", "data.y", "data.x"]),
        (
            "data/x.py",
            "def f():\n    from .y import g\n    import yaml\n",
            hidden,
            ["src/data/x.py:3: yaml", "src/data/x.py:2: data.y"],
        ),
    ],
)
def test_what_is_forbidden_is_found(tmp_path, file, text, finder, expected):
    others = {"data/y.py": "from .x import f\n", "lm/y.py": "z = 1\n", "data/__init__.py": "x = 1\n"}
    for name, content in {**others, file: text}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    found = [each for each in sorted(tmp_path.rglob("*.py")) for each in imports_of(each, tmp_path)]
    assert sorted({*finder(found)}) == sorted({*expected})
