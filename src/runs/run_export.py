"""What leaves with an exported model: the checkpoints of a run as revisions, and the numbers of its card."""

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from ..errors import UserError
from ..lm.export import export

METRICS = "metrics.csv"
SEEN = "progress/words_seen"


def export_run(folder: Path, out: Path) -> list[tuple[str, Path]]:
    """The best checkpoint as `main`, and those by words seen as `chck_1M` …; returns revisions with their folders."""
    checkpoints = folder / "checkpoints" if (folder / "checkpoints").is_dir() else folder
    found = {f"chck_{short_words(words)}": (file, words) for words, file in sorted(_by_words(checkpoints))}
    best = next((checkpoints / name for name in ("best.ckpt", "last.ckpt") if (checkpoints / name).exists()), None)
    if best is None and not found:
        raise UserError(f"{folder}: there is no checkpoint in it; give a run's folder, or a file .ckpt")
    revisions: dict[str, tuple[Path, int | None]] = {"main": (best, None)} if best else {}
    written = []
    for revision, (file, words) in {**revisions, **found}.items():
        export(file, out / revision, results_until(checkpoints.parent / METRICS, words))
        written.append((revision, out / revision))
    return written


def _by_words(folder: Path) -> list[tuple[int, Path]]:
    names = ((re.fullmatch(r"words-(\d+)\.ckpt", file.name), file) for file in folder.iterdir())
    return [(int(match[1]), file) for match, file in names if match]


def short_words(words: int) -> str:
    """1M, 10M, 1B; where that would not be the number, all of its digits."""
    for size, letter in ((10**9, "B"), (10**6, "M"), (10**3, "K")):
        if words >= size and words % size == 0:
            return f"{words // size}{letter}"
    return str(words)


def upload_lines(written: Sequence[tuple[str, Path]]) -> list[str]:
    """What to type to put each folder on the hub."""
    return [f"hf upload OWNER/NAME {folder} . --revision {revision}" for revision, folder in written]


def results_until(file: Path, words: int | None) -> str:
    """The last perplexity and accuracies of a run, or those before it had seen more than this many words, as Markdown."""
    if not file.is_file():
        return ""
    last: dict[str, str] = {}
    with file.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            if words is not None and float(row.get(SEEN) or 0) > words:
                break
            last |= {name: value for name, value in row.items() if value}
    perplexities = [f"- {name}: {float(last[name]):,.2f}" for name in last if name.endswith("perplexity")]
    rows = []
    for name, value in last.items():
        if (match := re.fullmatch(r"probe/(.+)/(.+)/(.+)/accuracy", name)) and match[3] != "mean":
            counts = [_count(last.get(name.replace("/accuracy", f"/{count}"), "")) for count in ("n", "ties", "uncovered")]
            chance = float(last.get(name.replace("/accuracy", "/chance"), 0.5))
            rows.append(f"| {match[1]} | {match[2]} | {match[3]} | {float(value):.3f} | {chance:.2f} | {' | '.join(counts)} |")
    head = ["| language | set | construction | accuracy | chance | n | ties | uncovered |", "|---|---|---|---|---|---|---|---|"]
    return "\n".join([*perplexities, *(["", *head, *rows] if rows else [])])


def _count(text: str) -> str:
    return f"{float(text):,.0f}" if text else "–"
