"""Where things are on this machine: the data folders that come with the program, and the user's cache."""

import os
from pathlib import Path

HERE = Path(__file__).resolve().parent
OWN = "CONCORD_OWN"  # child processes of a command look where it looks
EVALUATED = ("hf", "scores")  # choices of model= that are evaluated but never trained
FALSE = ("", "0", "false", "no", "none")  # environment values that switch something off


def installed_folder(name: str) -> Path:
    """`conf`, `grammars` …: inside the installed package, or beside `src` in a clone or an editable install."""
    return next((place for place in (HERE / name, HERE.parent / name) if place.is_dir()), HERE / name)


def own_folder() -> Path:
    """Where the user's own `conf`, `grammars` … are: the current folder, or what `paths.own=` or CONCORD_OWN says."""
    return Path(os.environ.get(OWN) or Path.cwd())


def own_or_installed(name: str) -> list[Path]:
    """The folders of this name (`grammars`, `conf/lang`), the user's own before the installed one."""
    top, _, below = name.partition("/")
    folders = [own_folder() / name, installed_folder(top) / below]
    return [
        folder for i, folder in enumerate(folders) if folder.is_dir() and folder.resolve() not in map(Path.resolve, folders[:i])
    ]


def cache_folder(kind: str) -> Path:
    """Where prepared things are kept (`corpora`, `sets`, `scores` …): under CONCORD_CACHE, or in the user's cache."""
    own = os.environ.get("CONCORD_CACHE")
    base = Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "concord"
    return base / kind


def is_offline() -> bool:
    """Whether CONCORD_OFFLINE forbids network access."""
    return os.environ.get("CONCORD_OFFLINE", "").lower() not in FALSE


def choices(group: str, config_name: str) -> list[str]:
    """The values `group=` can take in the command of this configuration, ours and the user's own, in alphabetical order."""
    found = sorted({file.stem for folder in own_or_installed(f"conf/{group}") for file in folder.glob("*.yaml")})
    return [name for name in found if group != "model" or (name in EVALUATED) == (config_name == "evaluate")]
