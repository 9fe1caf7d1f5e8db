"""Where things are on this machine: the folders of data that come with the program, and the user's cache."""

import os
from pathlib import Path

HERE = Path(__file__).resolve().parent


def installed_folder(name: str) -> Path:
    """`conf`, `grammars` …: inside the installed package, or beside `src` in a clone and in an editable install."""
    return next((place for place in (HERE / name, HERE.parent / name) if place.is_dir()), HERE / name)


def own_or_installed(name: str) -> list[Path]:
    """Where things of this name are looked up: the user's own folder (where the command is run) before the installed one."""
    top, _, below = name.partition("/")
    folders = [Path.cwd() / name, installed_folder(top) / below]
    return [
        folder for i, folder in enumerate(folders) if folder.is_dir() and folder.resolve() not in map(Path.resolve, folders[:i])
    ]


def cache_folder(kind: str) -> Path:
    """Where prepared things of a kind are kept (`corpora`, `sets`, `scores` …): below CONCORD_CACHE, or in the user's cache."""
    own = os.environ.get("CONCORD_CACHE")
    base = Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "concord"
    return base / kind
