"""Readers of challenge sets: one file a format.

A reader is a module with
    SUFFIXES                      endings of its files
    recognises(file, head)        whether the first few thousand characters look like its format
    read(file, language)          the file as one or more `ChallengeSet`s
Nothing that a file contains is ever executed.
"""

import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

from ..challenge_set import SetError

HEAD = 8192


def formats() -> list[str]:
    """The formats there are."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def reader(name: str) -> ModuleType:
    if name not in formats():
        raise SetError(name, None, f"there is no such format; there are: {', '.join(formats())}")
    return importlib.import_module(f"{__name__}.{name}")


def recognise(file: Path) -> str:
    """The format of a file, from its ending and its content."""
    with file.open("rb") as stream:
        head = stream.read(HEAD).decode("utf-8", "replace")
    for name in formats():
        module = reader(name)
        if file.suffix in module.SUFFIXES and module.recognises(file, head):
            return name
    raise SetError(file, None, f"not a challenge set in a format we know; formats: {', '.join(formats())}")


def files_of(path: Path, form: str | None = None) -> list[Path]:
    """The set files of a folder, or the one file; those of grammars that hold no set of their own are left out."""
    if not path.exists():
        raise SetError(path, None, "there is no such file or folder")
    if path.is_file():
        return [path]
    suffixes = {suffix for name in ([form] if form else formats()) for suffix in reader(name).SUFFIXES}
    files = sorted(f for f in path.iterdir() if f.is_file() and f.suffix in suffixes)
    files = [f for f in files if not (f.suffix == ".avg" and (f.stem.endswith("common") or f.stem == "corpus"))]
    if not files:
        raise SetError(path, None, f"no challenge set here (no file that ends in {', '.join(sorted(suffixes))})")
    return files
