"""Challenge sets as folders that other tools read: tasks for the evaluation harness (lm_eval), a dataset for the hub."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml

from ..files import write_atomically
from .challenge_set import ChallengeSet, SetError
from .exports import must_be_a_name
from .feature_columns import feature_column

CARD = """\
---
language: {language}
license: other
task_categories: [text-classification]
configs:
{configs}---
# Minimal pairs ({language})

Written by Concord: one row per minimal set, with the good sentence, the bad one, and its features.

| configuration | rows | source |
|---|---|---|
{rows}

## Licence
That of the source. If you publish this folder, state it here and at `license:` above.
"""


# How an exported task folder finds its sentences wherever it is moved: lm_eval resolves paths from its working directory.
LOADER = """\
\"\"\"The sentences of these tasks, which lie beside this file.\"\"\"

from pathlib import Path

import datasets


def load(construction, **_):
    file = Path(__file__).resolve().parent / "data" / f"{construction}.jsonl"
    return datasets.load_dataset("json", data_files={"test": str(file)})
"""


def export_tasks(sets: Sequence[ChallengeSet], folder: Path) -> list[Path]:
    """A group with one task per construction, each a YAML and JSON lines: `lm_eval --include_path FOLDER --tasks concord_de`."""
    group = f"concord_{sets[0].language or 'sets'}"
    written, tasks = [], []
    for made in sets:
        must_be_a_name(made)
        data = folder / "data" / f"{made.construction}.jsonl"
        _write(data, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in _rows(made)))
        task = {
            "task": f"{group}_{made.construction}",
            "dataset_kwargs": {"construction": made.construction},
            "output_type": "multiple_choice",
            "test_split": "test",
            "doc_to_text": "",
            "doc_to_target": 0,
            "doc_to_choice": "choices",
            "num_fewshot": 0,
            "metric_list": [{"metric": name, "aggregation": "mean", "higher_is_better": True} for name in ("acc", "acc_norm")],
            "metadata": {"version": 1.0},
        }
        tasks.append(task["task"])
        text = yaml.safe_dump(task, sort_keys=False, allow_unicode=True) + "custom_dataset: !function concord_data.load\n"
        written.append(_write(folder / f"{task['task']}.yaml", text))
    mean = [{"metric": "acc", "aggregation": "mean", "weight_by_size": False}]
    whole = {"group": group, "task": tasks, "aggregate_metric_list": mean, "metadata": {"version": 1.0}}
    beside = [(f"_{group}.yaml", yaml.safe_dump(whole, sort_keys=False)), ("concord_data.py", LOADER)]
    return [*written, *(_write(folder / name, text) for name, text in beside)]


def export_dataset(sets: Sequence[ChallengeSet], folder: Path) -> list[Path]:
    """A dataset with one configuration per construction, in Parquet, and its card."""
    import pyarrow as pa  # noqa: PLC0415 - half a second, for this alone
    from pyarrow import parquet  # noqa: PLC0415

    written = []
    for made in sets:
        must_be_a_name(made)
        rows = _rows(made)
        names = dict.fromkeys(name for row in rows for name in row)
        file = folder / "data" / f"{made.construction}.parquet"
        file.parent.mkdir(parents=True, exist_ok=True)
        columns = {name: [row.get(name) for row in rows] for name in names}
        parquet.write_table(
            pa.table({name: pa.array(own) if name == "choices" else feature_column(own) for name, own in columns.items()}), file
        )
        written.append(file)
    configs = "".join(f"- config_name: {made.construction}\n  data_files: data/{made.construction}.parquet\n" for made in sets)
    table = "\n".join(f"| {made.construction} | {len(made):,} | {made.dataset} |" for made in sets)
    card = CARD.format(language=sets[0].language or "und", configs=configs, rows=table)
    return [*written, _write(folder / "README.md", card)]


def _rows(made: ChallengeSet) -> list[dict[str, Any]]:
    """The good sentence comes first among the choices; every other must be beaten."""
    rows = []
    for index, item in enumerate(made):
        flags = [variant.grammatical for variant in item.variants]
        if flags[:1] != [True] or not flags[1:] or any(flag is not False for flag in flags[1:]):
            raise SetError(made.place(index), None, "needs one good sentence followed by bad ones; export these sets as jsonl")
        texts = [variant.text or " ".join(variant.words) for variant in item.variants]
        known = {"uid": item.uid, "sentence_good": texts[0], "sentence_bad": texts[1], "choices": texts}
        rows.append(known | {name: value for name, value in item.features.items() if name not in known})
    return rows


def _write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, text)
    return file


FOLDERS: dict[str, Callable[[Sequence[ChallengeSet], Path], list[Path]]] = {"lm_eval": export_tasks, "hf": export_dataset}
