"""Collections by name, as `conf/probes` describes them: ours, the published ones, and the user's own."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from ..data.download import Downloads
from ..settings.probing import collection_files
from .challenge_set import SetError
from .collection import locate


@dataclass(frozen=True)
class NamedCollection:
    """Where the sets of a language are and how they are written; None if the user has to say."""

    name: str
    language: str
    path: str | None
    format: str | None
    columns: Mapping[str, object] | None = None

    def place(self, downloads: Downloads | None = None) -> Path:
        """The folder; a published collection is fetched if it is missing."""
        if self.path is None:
            raise SetError(self.name, None, "this collection does not come with the program; give its folder (--path, path=)")
        return locate(self.path, self.language, downloads)


def named_collection(name: str, language: str) -> NamedCollection:
    """One of them, for a language."""
    files = collection_files()
    if name not in files:
        raise SetError(name, None, f"no such collection; available: {', '.join(files)}")
    if name == "none":
        others = ", ".join(each for each in files if each != name)
        raise SetError(name, None, f"this collection has no sets; choose one of {others}")
    settings = yaml.safe_load(files[name].read_text(encoding="utf-8"))
    return NamedCollection(name, language, settings.get("path"), settings.get("format"), settings.get("columns"))
