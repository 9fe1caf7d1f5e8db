"""Collections by name, as `conf/probes` describes them: ours, the published ones, and the user's own."""

from dataclasses import dataclass
from pathlib import Path

import yaml

from ..settings.probing import collection_files
from .challenge_set import SetError
from .collection import locate


@dataclass(frozen=True)
class NamedCollection:
    """Where the sets of a language are and how they are written; None where the user has to say it."""

    name: str
    path: Path | None
    format: str | None


def named_collection(name: str, language: str) -> NamedCollection:
    """One of them, for a language."""
    files = collection_files()
    if name not in files:
        raise SetError(name, None, f"no such collection; there are: {', '.join(files)}")
    if name == "none":
        others = ", ".join(each for each in files if each != name)
        raise SetError(name, None, f"this collection has no sets; choose one of {others}")
    settings = yaml.safe_load(files[name].read_text(encoding="utf-8"))
    path = settings.get("path")
    return NamedCollection(name, locate(path, language) if path else None, settings.get("format"))
