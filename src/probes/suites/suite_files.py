"""Suites by file suffix."""

from collections.abc import Callable, Sequence
from pathlib import Path

from ..challenge_set import SetError
from .csv_files import read_csv, write_csv
from .json_files import read_json, write_json
from .suite import Suite
from .suite_page import read_page

READERS: dict[str, Callable[[Path], Suite]] = {
    ".suite": read_page,
    ".json": read_json,
    ".json.xz": read_json,
    ".json.gz": read_json,
    ".csv": read_csv,
}


def read(file: Path) -> Suite:
    """A suite from a page, JSON or CSV."""
    for ending, reader in READERS.items():
        if file.name.endswith(ending):
            return reader(file)
    raise SetError(file, None, f"not a suite; the suffixes are {', '.join(READERS)}")


def write(suite: Suite, file: Path) -> None:
    """A suite as JSON or CSV, by the suffix."""
    writers = {".json": write_json, ".csv": write_csv}
    if file.suffix not in writers:
        raise SetError(file, None, f"suites can be written as {' or '.join(writers)}")
    writers[file.suffix](suite, file)


def files_of(paths: Sequence[Path]) -> list[Path]:
    """Files as given, and the suites of folders by name. The head of a CSV is not a suite."""
    found: list[Path] = []
    for path in paths:
        inside = sorted(file for file in path.iterdir() if file.name.endswith(tuple(READERS))) if path.is_dir() else [path]
        if not inside:
            raise SetError(path, None, f"no suite in this folder; the suffixes are {', '.join(READERS)}")
        found += [file for file in inside if not file.name.endswith(".head.json")]
    return found
