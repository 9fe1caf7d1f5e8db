"""What goes with an exported model: the checkpoints of a run as revisions, and the numbers on its card."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .. import metric_names
from ..errors import UserError
from ..lm.checkpoints import read_checkpoint
from ..lm.export import export
from ..lm.model_card import MAIN
from ..metric_names import PROBE, TEST, WORDS_SEEN
from ..probes.accuracy import MEAN
from ..probes.contrast_chance import PAIR_CHANCE
from ..settings.checkpoint_names import checkpoint_name
from .checkpointing import BEST, LAST
from .metrics_file import read
from .run_folder import RunFolder

HEAD = ["| language | set | construction | accuracy | chance | n | ties | uncovered |", "|---|---|---|---|---|---|---|---|"]


def export_checkpoint(file: Path, out: Path, revision: str = "") -> list[tuple[str, Path]]:
    """One checkpoint, with the results of its run at that moment."""
    export(file, out, checkpoint_results(file), revision)
    return [(revision or MAIN, out)]


def export_run(folder: Path, out: Path) -> list[tuple[str, Path]]:
    """The best checkpoint as `main`, and those by words seen as `chck_1M` …; returns revisions with their folders."""
    checkpoints = folder / "checkpoints" if (folder / "checkpoints").is_dir() else folder
    best = next((checkpoints / name for name in (BEST, LAST) if (checkpoints / name).exists()), None)
    found = {MAIN: best} if best else {}
    found |= {checkpoint_name(words): file for words, file in sorted(_by_words(checkpoints))}
    if not found:
        raise UserError(f"{folder}: no checkpoint in this folder; give a run folder or a .ckpt file")
    return [written for revision, file in found.items() for written in export_checkpoint(file, out / revision, revision)]


def _by_words(folder: Path) -> list[tuple[int, Path]]:
    names = ((re.fullmatch(r"words-(\d+)\.ckpt", file.name), file) for file in folder.iterdir())
    return [(int(match[1]), file) for match, file in names if match]


def upload_lines(written: Sequence[tuple[str, Path]]) -> list[str]:
    """The commands that upload each folder to the hub."""
    return [f"hf upload OWNER/NAME {folder} . --revision {revision}" for revision, folder in written]


# ---------------------------------------------------------------------- results


@dataclass
class Measured:
    """Metrics by name, and how many words had been seen when they were last measured."""

    values: dict[str, float] = field(default_factory=dict)
    words: int = 0

    def take(self, row: Mapping[str, float], chosen: Mapping[str, float]) -> None:
        self.values |= chosen
        self.words = int(row.get(WORDS_SEEN, 0)) if chosen else self.words


def checkpoint_results(file: Path) -> str:
    """What its run measured with a checkpoint's weights, or last before it, as Markdown.

    The final measurements of a run, on the test text and the whole sets, use its best weights.
    """
    metrics = RunFolder(file.parent.parent).metrics
    if not metrics.is_file():
        return ""
    saved = read_checkpoint(file)
    step, seen = int(saved.get("global_step", 0)), int(saved.get("training", {}).get("words_seen", 0))
    perplexity, sample, final = Measured(), Measured(), Measured()
    for row in read(metrics):
        if row.get("step", 0) <= step:
            perplexity.take(row, {name: value for name, value in row.items() if metric_names.is_perplexity(name, "valid")})
            sample.take(row, {name: value for name, value in row.items() if name.startswith(PROBE)})
        final.take(row, {name: value for name, value in row.items() if name.startswith(TEST)})
    if file.name == BEST and final.values:
        tested = {name: value for name, value in final.values.items() if metric_names.is_perplexity(name, "test")}
        perplexity.values |= tested
        whole = {name.removeprefix(TEST): value for name, value in final.values.items() if name.startswith(TEST + PROBE)}
        return _markdown(seen, perplexity, Measured(whole, seen), "Accuracy on the whole sets.")
    return _markdown(seen, perplexity, sample, "Accuracy on the sample of the sets that is probed during training.")


def _markdown(seen: int, perplexity: Measured, accuracy: Measured, which: str) -> str:
    listed = [f"- {name}: {value:,.2f}{_earlier(perplexity, seen)}" for name, value in perplexity.values.items()]
    rows = [
        _row(match, accuracy.values)
        for match in (re.fullmatch(metric_names.probe(*["([^/]+)"] * 3, "accuracy"), name) for name in accuracy.values)
        if match and match[3] != MEAN
    ]
    parts = [f"After {seen:,} words of training.", "\n".join(listed)]
    parts += [which + _earlier(accuracy, seen), "\n".join([*HEAD, *rows])] if rows else []
    return "\n\n".join(part for part in parts if part)


def _earlier(measured: Measured, seen: int) -> str:
    return "" if measured.words == seen else f" (measured after {measured.words:,} words)"


def _row(match: re.Match[str], values: Mapping[str, float]) -> str:
    own = {name: values.get(match[0].removesuffix("accuracy") + name) for name in ("chance", "n", "ties", "uncovered")}
    counts = ["–" if own[name] is None else f"{own[name]:,.0f}" for name in ("n", "ties", "uncovered")]
    chance = PAIR_CHANCE if own["chance"] is None else own["chance"]
    return f"| {match[1]} | {match[2]} | {match[3]} | {values[match[0]]:.3f} | {chance:.2f} | {' | '.join(counts)} |"
