"""`predictions.json`: which sentence of every pair a model prefers, in the format the BabyLM evaluation collects."""

import json
import logging
from pathlib import Path

from ..files import write_atomically
from .probe import Probe
from .verdicts import Verdicts

log = logging.getLogger(__name__)
PROTOCOL = "babylm"  # the protocol under which they are written


def predictions_beside(items: Path) -> Path:
    """`predictions.json` goes with `items.parquet`, `predictions-gpt2.json` with `items-gpt2.parquet`."""
    return items.with_name("predictions" + items.name.removeprefix("items")).with_suffix(".json")


def save_predictions(file: Path, probe: Probe, verdicts: Verdicts) -> None:
    """`{construction: {"predictions": [{"id": "construction_0", "pred": sentence}, …]}}`, in the order of the items.

    Only pairs have a preferred sentence, and only if they are scored and not an undecided tie; the others keep their number
    and are counted. Nothing is written under other protocols or for sets without pairs.
    """
    if probe.contract.protocol != PROTOCOL:
        return
    pairs, contrasts = probe.contrasts.pairs, probe.contrasts
    found: dict[str, dict[str, list[dict[str, str]]]] = {}
    without = len(contrasts) - len(pairs.rows)
    numbers: dict[str, int] = {}
    for row, sentences in zip(pairs.rows.tolist(), pairs.sentences.tolist(), strict=True):
        subset = probe.constructions[contrasts.set[row]]
        number = numbers[subset] = numbers.get(subset, -1) + 1
        worth = float(verdicts.verdict[row])
        if not verdicts.covered[row] or worth not in (0.0, 1.0):
            without += 1
            continue
        preferred = probe.sentences[sentences[0] if worth else sentences[1]]
        listed = found.setdefault(subset, {"predictions": []})["predictions"]
        listed.append({"id": f"{subset}_{number}", "pred": preferred.text or preferred.words})
    if without:
        log.warning("%s: %s of %s contrasts have no prediction", file.name, f"{without:,}", f"{len(contrasts):,}")
    if found:
        write_atomically(file, json.dumps(found, ensure_ascii=False, indent=1))
