"""Readers of challenge sets: one file per format.

A reader is a module with
    SUFFIXES                      endings of its files
    recognises(file, head)        whether the first few thousand characters look like its format
    read(file, language)          the file as one or more `ChallengeSet`s
Nothing in a file is ever executed.
"""

import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

from ...data.download import is_record
from ...data.grammar import languages
from ...data.grammar.folder import COMMON, CORPUS, SIDECAR, SUFFIX, shared_files
from ...settings.languages import language_files
from ..challenge_set import SetError

HEAD = 8192


def formats() -> list[str]:
    """The available formats."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def reader(name: str) -> ModuleType:
    if name not in formats():
        raise SetError(name, None, f"no such format; available: {', '.join(formats())}")
    return importlib.import_module(f"{__name__}.{name}")


def recognise(file: Path) -> str:
    """The format of a file, from its suffix and its content."""
    try:
        with file.open("rb") as stream:
            head = stream.read(HEAD).decode("utf-8", "replace").removeprefix("\ufeff").lstrip("\r\n")
    except OSError as error:
        raise SetError(file, None, f"cannot be read ({error.strerror})") from None
    if not head:
        raise SetError(file, None, "the file is empty; write one item per line")
    modules = {name: reader(name) for name in formats()}
    found = [name for name, module in modules.items() if file.suffix in module.SUFFIXES and module.recognises(file, head)]
    if len(found) > 1:
        raise SetError(
            file, None, f"this could be {' or '.join(found)}; choose one: probes.format={found[0]}, or --format {found[0]}"
        )
    if found:
        return found[0]
    tables = "; for a table of pairs set probes.columns={good: …, bad: …} (--columns)" * (file.suffix in reader("table").SUFFIXES)
    raise SetError(file, None, f"not a challenge set in a known format; formats: {', '.join(formats())}{tables}")


def files_of(path: Path, form: str | None = None) -> list[Path]:
    """The set files of a folder, or the one file. If the format is given, a folder of such folders works too."""
    if not path.exists():
        raise SetError(path, None, f"no such file or folder, and no such language (ours: {', '.join(languages())})")
    if not path.is_dir():
        return [path]
    suffixes = {suffix for name in ([form] if form else formats()) for suffix in reader(name).SUFFIXES}
    folders = sorted(folder for folder in path.iterdir() if folder.is_dir())
    files = _set_files(path, suffixes)
    if not files and form:
        files = [file for folder in folders for file in _set_files(folder, suffixes)]
    if not files:
        inside = f"; its subfolders: {', '.join(folder.name for folder in folders)}" if folders else ""
        raise SetError(path, None, f"no challenge set here (no file ending in {', '.join(sorted(suffixes))}){inside}")
    return files


def _set_files(folder: Path, suffixes: set[str]) -> list[Path]:
    """Grammar files that hold no set of their own are left out."""
    files = sorted(file for file in folder.iterdir() if file.is_file() and file.suffix in suffixes and not is_record(file))
    return [file for file in files if not (file.suffix == SUFFIX and (file.stem.endswith(COMMON) or file.stem == CORPUS))]


def depends_on(file: Path, language: str, form: str) -> list[Path]:
    """The other files that determine how a set file is read; if one changes, so does the set."""
    if form == "grammar":
        return [*shared_files(file.parent), SIDECAR]
    if form == "aligned":
        return [there for suffix in (".gold", ".eval") if (there := file.with_suffix(suffix)).exists()]
    described = language_files().get(language)
    return [described] if described else []
