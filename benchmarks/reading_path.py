"""How far a reader has to go: what a training run and an evaluation pass through, with counts over the source.

`python benchmarks/reading_path.py [ROOT] [--small]`: ROOT is a checkout (by default this one), from before or after the
source became one package. Reports are left out of the traces: they are a separate program.

A function is counted once, however often it is called; comprehensions and lambdas belong to the enclosing function.
A border is crossed where a function leads, directly or through a framework, to one in another file of the project:
`borders` counts pairs of files, `calls` pairs of functions.
"""

import argparse
import ast
import json
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType

COMMANDS = {
    "training": "train.py debug=fast data.workers=1 data.limit=60 trainer.threads=1 paths.runs=runs name=traced",
    "evaluation": "evaluate.py ckpt_path=runs/traced/checkpoints/best.ckpt probes.limit=20 paths.results=results",
}
# A corpus is prepared and a model built, but nothing is trained.
SMALL = {
    "summary": "train.py debug=summary probes=none data.exclude_challenge=false data.sentences={train:60,valid:20,test:20} "
    "data.workers=1 paths.runs=runs"
}
Place = tuple[str, str]  # a file of the project, and a function in it


# --------------------------------------------------------------- what a program passes through


@dataclass
class Trace:
    """The functions of a project that were called, and who called whom; nothing called by a report."""

    root: str
    functions: set[Place] = field(default_factory=set)
    calls: set[tuple[Place, Place]] = field(default_factory=set)
    known: dict[object, Place | None] = field(default_factory=dict)
    reports: set[CodeType] = field(default_factory=set)
    reporting: dict[int, FrameType] = field(default_factory=dict)  # by thread, the frame that entered the report

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event not in ("call", "return") or self.in_report(frame, event):
            return
        if event != "call" or (callee := self.place(frame)) is None:
            return
        self.functions.add(callee)
        caller = self.nearest(frame.f_back)
        if caller and caller != callee:
            self.calls.add((caller, callee))

    def in_report(self, frame: FrameType, event: str) -> bool:
        thread = threading.get_ident()
        if thread not in self.reporting:
            if event == "call" and self.is_report(frame.f_code):
                self.reporting[thread] = frame
            return thread in self.reporting
        if event == "return" and self.reporting[thread] is frame:
            del self.reporting[thread]
        return True

    def is_report(self, code: CodeType) -> bool:
        if code not in self.known and "report" in code.co_filename:
            file = os.path.realpath(code.co_filename)
            if file.startswith(self.root) and "report" in Path(file.removeprefix(self.root)).parts:
                self.reports.add(code)
        return code in self.reports

    def nearest(self, frame: FrameType | None) -> Place | None:
        """The function of the project that led here, possibly through a framework."""
        while frame is not None:
            if place := self.place(frame):
                return place
            frame = frame.f_back
        return None

    def place(self, frame: FrameType) -> Place | None:
        if frame.f_code not in self.known:
            self.known[frame.f_code] = self._place(frame.f_code)
        return self.known[frame.f_code]

    def _place(self, code: CodeType) -> Place | None:
        file = os.path.realpath(code.co_filename)
        if not (file.startswith(self.root) and code.co_flags & CO_OPTIMIZED):  # bodies of modules and classes are not counted
            return None
        file = file.removeprefix(self.root)
        name = code.co_qualname.split(".<locals>.<")[0]
        if name.startswith("<") or file.startswith((".venv", "tests", "benchmarks")):
            return None
        return file, name

    def counts(self) -> dict[str, int]:
        crossing = {(caller, callee) for caller, callee in self.calls if caller[0] != callee[0]}
        return {
            "files": len({file for file, _ in self.functions}),
            "functions": len(self.functions),
            "borders": len({(caller[0], callee[0]) for caller, callee in crossing}),
            "calls": len(crossing),
        }

    def borders(self) -> list[str]:
        return sorted({f"{caller[0]} -> {callee[0]}" for caller, callee in self.calls if caller[0] != callee[0]})


def trace(root: Path, command: list[str]) -> Trace:
    """Run a program of the checkout inside this process."""
    found = Trace(f"{root}/")
    sys.argv[:] = [str(root / command[0]), *command[1:]]
    threading.setprofile(found)
    sys.setprofile(found)
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found


def traced(root: Path, command: str, work: Path) -> tuple[dict[str, int], list[str]]:
    """Counts and borders, from a separate process that finds only that checkout's packages."""
    (work / "path").mkdir(exist_ok=True)
    link = work / "path/concord"
    if is_one_package(root) and not link.exists():
        link.symlink_to(root / "src")
    packages = work / "path" if is_one_package(root) else root / "src"
    environment = os.environ | {"PYTHONPATH": str(packages), "CONCORD_CACHE": tempfile.mkdtemp(dir=work), "OMP_NUM_THREADS": "1"}
    file = work / "counts.json"
    arguments = [sys.executable, str(Path(__file__).resolve()), str(root), "--trace", command, "--to", str(file)]
    done = subprocess.run(arguments, cwd=work, env=environment, capture_output=True, text=True, check=False)
    if done.returncode or not file.exists():
        raise SystemExit(done.stdout + done.stderr)
    found = json.loads(file.read_text(encoding="utf-8"))
    file.unlink()
    return found["counts"], found["borders"]


def is_one_package(root: Path) -> bool:
    return (root / "src/__init__.py").exists()


# ------------------------------------------------------------------- what stands in the source


def static_counts(root: Path) -> dict[str, int]:
    files = sorted((root / "src").rglob("*.py"))
    programs = [file for file in (root / "train.py", root / "evaluate.py") if file.exists()]
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in (*files, *programs)}
    return {
        "Any in annotations": sum(count_any(tree) for tree in trees.values()),
        "function-level imports": sum(count_inner_imports(tree) for tree in trees.values()),
        "module names with two meanings": len(repeated_modules(root / "src", files)),
        "class names with two meanings": len(repeated_classes(root / "src", trees)),
        "pairs of duplicates": duplicate_pairs(root),
    }


def count_any(tree: ast.AST) -> int:
    """How often `Any` occurs in an annotation; imports do not count."""
    return sum(isinstance(node, ast.Name) and node.id == "Any" for node in ast.walk(tree)) + sum(
        isinstance(node, ast.Attribute) and node.attr == "Any" for node in ast.walk(tree)
    )


def count_inner_imports(tree: ast.AST) -> int:
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    inner = {id(node) for made in functions for node in ast.walk(made) if isinstance(node, ast.Import | ast.ImportFrom)}
    return len(inner)


def repeated_modules(source: Path, files: list[Path]) -> dict[str, list[str]]:
    """Modules and packages that share a name; a command, reader or writer may be named after what it runs, reads or writes."""
    named = defaultdict(list)
    for file in files:
        where = file.parent if file.name == "__init__.py" else file
        if where != source and not where.name.startswith("__") and where.parent.name not in ("commands", "readers", "writers"):
            named[where.stem].append(str(where.relative_to(source)))
    return {name: where for name, where in named.items() if len(where) > 1}


def repeated_classes(source: Path, trees: dict[Path, ast.Module]) -> dict[str, list[str]]:
    """Public class names that occur in several modules. `modeling_concord` is not counted: it ships with exported models, where
    it is self-contained and repeats the network without this package.
    """
    named = defaultdict(list)
    for file, tree in trees.items():
        if file == source / "lm/modeling_concord.py":
            continue
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                named[node.name].append(os.path.relpath(file, source))
    return {name: where for name, where in named.items() if len(where) > 1}


def duplicate_pairs(root: Path) -> int:
    """Places that share six or more lines, by the command `duplicates`; -1 if it is not installed."""
    command = shutil.which("duplicates")
    if command is None:
        return -1
    done = subprocess.run([command, "--repo", str(root / "src")], capture_output=True, text=True, check=True)
    return int(next((word for word in done.stdout.split() if word.isdigit()), "0"))


# ------------------------------------------------------------------------------------- command


def rows(root: Path, commands: dict[str, str], listed: bool) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as temporary:
        for name, command in commands.items():
            counts, borders = traced(root, command, Path(temporary))
            yield from (f"{f'{name}: {what}':<32} {count:>6,}" for what, count in counts.items())
            yield from borders if listed else ()
    yield from (f"{what:<32} {count:>6,}" for what, count in static_counts(root).items())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("root", type=Path, nargs="?", default=Path(__file__).resolve().parents[1], help="a checkout")
    parser.add_argument("--small", action="store_true", help="takes seconds: a smoke test")
    parser.add_argument("--names", action="store_true", help="which names have two meanings")
    parser.add_argument("--borders", action="store_true", help="which borders are crossed")
    parser.add_argument("--trace", help=argparse.SUPPRESS)
    parser.add_argument("--to", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    root = asked.root.resolve()
    if asked.trace:
        found = trace(root, asked.trace.split())
        asked.to.write_text(json.dumps({"counts": found.counts(), "borders": found.borders()}), encoding="utf-8")
        return
    for row in rows(root, SMALL if asked.small else COMMANDS, asked.borders):
        print(row)
    if asked.names:
        files = sorted((root / "src").rglob("*.py"))
        trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}
        for name, where in (repeated_modules(root / "src", files) | repeated_classes(root / "src", trees)).items():
            print(name, *where)


if __name__ == "__main__":
    main()
