"""Writes a pattern's sets while the treebank is read: the items, and their controls beside them, one item at a time."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from ...data.prefix_heuristics import N_HEURISTICS, NAMES, RIGHT
from ...files import replace_atomically
from ..challenge_set import Value, item_uid
from .controls import Controls
from .extraction import Extraction, set_name
from .tree_items import TreeItem, plain_item

DATASET = "treebank"
# What follows the tested word may also agree, and the controls end with it.
RULES = {"contrast": "target"}


@dataclass
class SetCounts:
    """What was written: files, items by kind, and how the heuristics do on each kind."""

    files: list[Path] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    right: dict[str, Counter[str]] = field(default_factory=dict)
    attractors: int = 0

    def count(self, kind: str, features: dict[str, Value]) -> None:
        self.counts[kind] += 1
        rights = self.right.setdefault(kind, Counter())
        if N_HEURISTICS in features:
            rights.update(name for name in NAMES if features[name] == RIGHT)
            rights[N_HEURISTICS] += int(features[N_HEURISTICS])
            rights["n"] += 1


def write_sets(
    extraction: Extraction, controls: Controls, language: str, folder: Path, tick: Callable[[], None] = lambda: None
) -> SetCounts:
    """The file of the items and one per kind of control that has any; all or none are replaced. `tick` is called for each."""
    name = set_name(extraction.pattern, extraction.parser or "")
    folder.mkdir(parents=True, exist_ok=True)
    written = SetCounts()
    with ExitStack() as stack:
        streams = {
            kind: _open(stack, folder, language, name if kind == "" else f"{name}_{kind}") for kind in ("", *controls.kinds)
        }
        for item in extraction:
            tick()
            uid = _uid(item, language, name)
            features = item.features()
            written.attractors += int(features.get("n_attractors", 0)) > 0
            _write(streams[""], uid, features | {"control": "original"}, item)
            written.count("original", features)
            for control in controls.of(item, uid):
                marked = control.features | {"control": control.kind}
                streams[control.kind].write(
                    json.dumps(plain_item(control.uid, marked, control.variants), ensure_ascii=False) + "\n"
                )
                written.count(control.kind, control.features)
    for kind in ("", *controls.kinds):
        file = folder / f"{name if kind == '' else f'{name}_{kind}'}.jsonl"
        if written.counts[kind or "original"]:
            written.files.append(file)
        else:  # a set without items cannot be evaluated
            file.unlink()
    return written


def _open(stack: ExitStack, folder: Path, language: str, construction: str) -> IO[str]:
    file = stack.enter_context(replace_atomically(folder / f"{construction}.jsonl"))
    stream = stack.enter_context(file.open("w", encoding="utf-8", newline="\n"))
    head: dict[str, object] = {"construction": construction, "language": language, "dataset": DATASET, "fixed_rules": RULES}
    stream.write(json.dumps({"challenge_set": head}, ensure_ascii=False) + "\n")
    return stream


def _uid(item: TreeItem, language: str, name: str) -> str:
    return item_uid(DATASET, language, name, [" ".join(each.words) for each in item.variants()])


def _write(stream: IO[str], uid: str, features: dict[str, Value], item: TreeItem) -> None:
    stream.write(json.dumps(plain_item(uid, features, item.variants()), ensure_ascii=False) + "\n")


def funnel_rows(extraction: Extraction) -> Iterator[tuple[str, str, str]]:
    """Each step with what it removed and what is left."""
    yield f"candidates: {extraction.matcher.anchor_text}", "", f"{extraction.funnel.candidates:,}"
    for rule, removed, left in extraction.funnel.steps():
        yield rule, f"{removed:,}", f"{left:,}"
