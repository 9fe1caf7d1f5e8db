"""What `auto` stands for in the settings of a training.

Batches, learning rate, schedule and the first bias were chosen together, by measurement: on running text for batches of so many
tokens (docs/recipe.md), on the built-in corpora for batches of 64 sentences. So they stand or fall together: where a batch is a
number of sentences or a window of a stream, `auto` is what the built-in runs have. A value that was given is never touched.
"""

from collections.abc import Mapping
from typing import Any

from ..errors import UserError
from .reading import Plain

AUTO = "auto"
SENTENCES = 64  # in a batch, where nothing else is said
ONE_CYCLE: dict[str, Plain] = {"name": "one_cycle", "warmup": 0.3, "start": 0.04, "end": 0.0001}
# Of the built-in runs, by network; a network of the user's own has those of the LSTM.
BY_SENTENCES: dict[str, dict[str, Any]] = {
    "lstm": {"lr": 0.001, "scheduler": {"name": "constant"}, "bias": "zero"},
    "transformer": {"lr": 0.001, "scheduler": ONE_CYCLE, "bias": "zero"},
}
# Of running text. The learning rate waits for the corpus: see `learning_rate`.
BY_TOKENS: dict[str, dict[str, Any]] = {
    "lstm": {"lr": AUTO, "scheduler": ONE_CYCLE | {"warmup": 0.03}, "bias": "frequency"},
    "transformer": {"lr": AUTO, "scheduler": ONE_CYCLE | {"warmup": 0.1}, "bias": "frequency"},
}
# Measured at so many tokens in a step, on about as many words of text.
TOKENS, WORDS = 700, 1_000_000
RATES = {"lstm": 0.004, "transformer": 0.002}


def settle_recipe(values: Mapping[str, Plain]) -> dict[str, Plain]:
    """The same settings; what is `auto` and does not wait for the corpus has its value."""
    data, model = values.get("data"), values.get("model")
    if not isinstance(data, Mapping) or not isinstance(model, Mapping):
        return dict(values)
    settled = _settle_batches(data)
    return {**values, "data": settled, "model": _settle_model(model, by_tokens=settled.get("batch_tokens") is not None)}


def _settle_batches(data: Mapping[str, Plain]) -> dict[str, Plain]:
    if "batch_size" not in data:  # as every corpus has it that says nothing
        return dict(data)
    size, tokens = data["batch_size"], data.get("batch_tokens")
    if size is None and (tokens is None or data.get("window") or data.get("warmup_batch_size")):
        size = SENTENCES
    if size is None:
        return dict(data)
    if tokens not in (None, AUTO):
        raise UserError(
            f"data.batch_size={size} data.batch_tokens={tokens}: a batch is cut by sentences or by tokens; set the other to null"
        )
    return {**data, "batch_size": size, "batch_tokens": None} if "batch_tokens" in data else {**data, "batch_size": size}


def _settle_model(model: Mapping[str, Plain], by_tokens: bool) -> dict[str, Plain]:
    network, optimizer, scheduler = (model.get(part) for part in ("network", "optimizer", "scheduler"))
    if not (isinstance(network, Mapping) and isinstance(optimizer, Mapping) and isinstance(scheduler, Mapping)):
        return dict(model)  # what is missing is told when the settings are read
    chosen = _of_network(BY_TOKENS if by_tokens else BY_SENTENCES, network.get("name"))
    settled = dict(model)
    if optimizer.get("lr") == AUTO:
        settled["optimizer"] = {**optimizer, "lr": chosen["lr"]}
    if scheduler.get("name") == AUTO:
        settled["scheduler"] = dict(chosen["scheduler"])
    if model.get("bias") == AUTO:
        settled["bias"] = chosen["bias"]
    return settled


def _of_network(table: Mapping[str, Any], name: object) -> Any:
    return table.get(str(name), table["lstm"])


# ----------------------------------------------------------------- what waits for the corpus


def batch_tokens(asked: int | str | None, words: int) -> int | None:
    """Tokens in a batch. A larger text affords larger batches: they grow with the square root of its words."""
    if asked != AUTO:
        return asked  # type: ignore[return-value]
    return round(TOKENS * max(words / WORDS, 1.0) ** 0.5)


def learning_rate(asked: float | str, network: object, step_tokens: float) -> float:
    """For so many tokens in a step of the optimiser, all processes together: with their square root, as Adam's noise falls."""
    if asked != AUTO:
        return asked  # type: ignore[return-value]
    return float(f"{_of_network(RATES, network) * (step_tokens / TOKENS) ** 0.5:.3g}")
