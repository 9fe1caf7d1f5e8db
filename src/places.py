"""Where things are on this machine: the folders of data that come with the program, and the user's cache."""

import os
from pathlib import Path

HERE = Path(__file__).resolve().parent


def installed_folder(name: str) -> Path:
    """`conf`, `grammars` …: inside the installed package, or beside `src` in a clone and in an editable install."""
    return next((place for place in (HERE / name, HERE.parent / name) if place.is_dir()), HERE / name)


def cache_folder(kind: str) -> Path:
    """Where prepared things of a kind are kept (`corpora`, `sets`, `scores` …): below CONCORD_CACHE, or in the user's cache."""
    own = os.environ.get("CONCORD_CACHE")
    base = Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "concord"
    return base / kind
