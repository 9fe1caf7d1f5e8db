"""Settings in human terms, and which of them distinguish runs."""

from collections.abc import Mapping, Sequence

from .reading import Plain

SETTINGS = {
    "model.embedding": "embedding",
    "model.dropout": "dropout",
    "model.tied": "tied",
    "model.network.hidden": "hidden size",
    "model.network.layers": "layers",
    "model.network.heads": "heads",
    "model.network.feedforward": "feed-forward size",
    "model.optimizer.name": "optimiser",
    "model.optimizer.lr": "learning rate",
    "model.scheduler.name": "schedule",
    "data.name": "corpus",
    "data.limit": "sentence limit",
    "data.batch_size": "batch size",
    "data.max_tokens": "training tokens",
    "data.sentences.train": "training sentences",
    "data.withhold": "without",
    "tokenizer.name": "tokenizer",
    "tokenizer.vocabulary_size": "vocabulary size",
    "probes.name": "probes",
    "probes.path": "sets in",
    "probes.schedule.every_epochs": "epochs between probes",
    "probes.limit": "item limit",
    "probes.sample": "probe sample",
    "probes.protocol": "protocol",
    "trainer.max_epochs": "epochs",
    "trainer.gradient_clip_val": "gradient clipping",
    "ckpt_path": "begun from",
}
# What to call a setting that leaves out or limits nothing.
UNSET = {
    "data.withhold": "nothing withheld",
    "data.max_tokens": "all training tokens",
    "probes.constructions": "all constructions",
}


def find_differences(own: Mapping[str, Plain], rivals: Sequence[Mapping[str, Plain]]) -> dict[str, Plain]:
    """The settings of one run in which these runs differ."""
    return {key: value for key, value in own.items() if len({str(other.get(key)) for other in rivals}) > 1}


def describe_setting(key: str, value: Plain) -> str:
    """`learning rate 0.001`, `training tokens 3,000,000`, `not tied`, `without obj_rel, prep`."""
    name = SETTINGS.get(key, key.rpartition(".")[2].replace("_", " "))
    if isinstance(value, bool):
        return name if value else f"not {name}"
    if value is None or value == []:
        return UNSET.get(key, f"no {name}")
    return f"{name} {_show(value)}"


def _show(value: Plain) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, int) and value >= 10_000:
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)
