"""Grammar files on disk: a folder holds `common.avg`, one file per construction, and possibly `corpus.avg`.

A subfolder is a collection of further constructions; it shares the `common.avg` above it and may have its own.
"""

from functools import lru_cache
from pathlib import Path

from ...places import installed_folder, own_or_installed
from .notation import Attribute, Feature, Statement, parse
from .notices import GrammarError, SourceLine
from .rules import Grammar, build

# The features of folders that declare none themselves, such as the published ones.
SIDECAR = installed_folder("grammars") / "clams.features"
COMMON, CORPUS, SUFFIX = "common", "corpus", ".avg"
WIDE = "wide"  # the folder with a language's larger lexicon, from which sets take what a vocabulary has


def languages() -> list[str]:
    """The languages with grammars: ours, and those in the user's own `grammars/`."""
    return sorted(_language_folders())


def _language_folders() -> dict[str, Path]:
    places = (place for folder in reversed(own_or_installed("grammars")) for place in folder.iterdir())
    return {place.name: place for place in places if (place / f"{COMMON}{SUFFIX}").exists()}


def folder_of(language_or_path: str) -> Path:
    """A language code, a collection of a language (`de/cases`), or a folder of grammar files."""
    code, _, below = language_or_path.partition("/")
    folder = _language_folders().get(code)
    if folder and (folder / below).is_dir():
        return folder / below
    path = Path(language_or_path)
    if path.is_dir():
        return path
    raise GrammarError(language_or_path, f"neither a language nor a folder of grammars; languages: {', '.join(languages())}")


def constructions(folder: Path) -> list[str]:
    """The challenge sets of a folder, by name."""
    names = sorted(file.stem for file in folder.glob(f"*{SUFFIX}"))
    return [name for name in names if not name.endswith(COMMON) and name != CORPUS]


def load(folder: Path, name: str, sidecar: Path | None = None) -> Grammar:
    """One construction of a folder, or its corpus, with what the folder's files share."""
    file = folder / f"{name}{SUFFIX}"
    if not file.exists():
        there = [*constructions(folder), *([CORPUS] if (folder / f"{CORPUS}{SUFFIX}").exists() else [])]
        known = ", ".join(there) or "none"
        raise GrammarError(str(file), f"no grammar {name!r} here; available: {known}")
    shared = tuple(statement for common in shared_files(folder) for statement in _statements(common))
    own = _statements(file)
    declared = any(isinstance(s, Attribute | Feature) for s in (*shared, *own))
    sidecar = sidecar or (None if declared else SIDECAR)
    extra = _statements(sidecar) if sidecar else ()
    return build(name, _shown(file), (*shared, *extra, *own))


def shared_files(folder: Path) -> list[Path]:
    """What all constructions of a folder share: the `common.avg` of the parent folder, then its own."""
    files = (above / f"{COMMON}{SUFFIX}" for above in (folder.absolute().parent, folder))
    return [file for file in files if file.exists()]


def collections(folder: Path) -> list[Path]:
    """The subfolders of a language's folder that hold sets; the wide lexicon only holds words to choose from."""
    inside = sorted(each for each in folder.iterdir() if each.is_dir() and each.name != WIDE)
    return [each for each in inside if (folder / f"{COMMON}{SUFFIX}").exists() and constructions(each)]


def read_text(file: Path) -> str:
    """The text of a file, or an error that says where it stops being UTF-8."""
    raw = file.read_bytes()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise GrammarError(
            SourceLine(_shown(file), line),
            f"not UTF-8: byte 0x{raw[error.start]:02x} at offset {error.start}; save the file as UTF-8",
        ) from None


def _statements(file: Path) -> tuple[Statement, ...]:
    return _parsed(read_text(file), _shown(file))


@lru_cache(maxsize=64)
def _parsed(text: str, file: str) -> tuple[Statement, ...]:
    """Parsed once for all constructions that share the file."""
    return tuple(parse(text, file))


def _shown(file: Path) -> str:
    """The path as the user would type it."""
    try:
        return str(file.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(file)
