"""What `auto` stands for in training settings.

Batches, learning rate, schedule and the initial bias were chosen together, by measurement: on running text for batches of this
many tokens (docs/recipe.md), on the built-in corpora for batches of 64 sentences. So they belong together: if a batch is a number
of sentences or a window of a stream, `auto` is what the built-in runs use. A value that was given is never changed.
"""

from collections.abc import Mapping
from typing import Any

from ..errors import UserError
from .corpus_settings import BUILT_IN
from .probing import DEFAULT_PROTOCOL
from .reading import Plain

AUTO = "auto"
SENTENCES = 64  # in a batch, by default
# By network; a user-defined one gets the LSTM's values.
ONE_CYCLE: dict[str, object] = {"name": "one_cycle", "warmup": 0.3, "start": 0.04, "end": 0.0001}
BY_SENTENCES: dict[str, dict[str, object]] = {
    "lstm": {"lr": 0.001, "betas": [0.9, 0.999], "scheduler": {"name": "constant"}, "bias": "zero"},
    "transformer": {"lr": 0.001, "betas": [0.9, 0.999], "scheduler": ONE_CYCLE, "bias": "zero"},
}
# The rate is for steps of 700 tokens. With its usual 1e-8, AdamW moves a word that has not occurred for a while as far as any
# other, whenever it is merely not predicted; and most words of a real vocabulary are rare.
TOKENS = 700
COMMON: dict[str, object] = {"betas": [0.9, 0.98], "bias": "frequency"}
BY_TOKENS: dict[str, dict[str, object]] = {
    "lstm": COMMON | {"lr": 0.012, "eps": 1e-4, "scheduler": ONE_CYCLE | {"warmup": 0.03}},
    "transformer": COMMON | {"lr": 0.002, "eps": 1e-5, "scheduler": ONE_CYCLE | {"warmup": 0.05}},
}
WORDS = 1_000_000  # words in a corpus above which batches grow


def settle_recipe(values: Mapping[str, Plain]) -> dict[str, Plain]:
    """The settings with `auto` replaced by values, except what waits for the corpus (`complete_batches`, `complete_model`)."""
    data, model, probes = (values.get(group) for group in ("data", "model", "probes"))
    settled = dict(values)
    if isinstance(data, Mapping):
        settled["data"] = data = _settle_batches(data)
        if isinstance(model, Mapping) and data.get("batch_tokens") is None:
            settled["model"] = _fill_in(model, BY_SENTENCES)
        if isinstance(probes, Mapping):
            settled["probes"] = _settle_capitals(probes, data)
    return settled


def _settle_batches(data: Mapping[str, Plain]) -> dict[str, Plain]:
    size, tokens = data.get("batch_size", SENTENCES), data.get("batch_tokens")
    if size is None and (tokens is None or data.get("window") or data.get("warmup_batch_size")):
        size = SENTENCES
    if size is None:
        return dict(data)
    if tokens not in (None, AUTO):
        raise UserError(
            f"data.batch_size={size} data.batch_tokens={tokens}: a batch counts sentences or tokens; set the other to null"
        )
    return {**data, "batch_size": size} | ({"batch_tokens": None} if tokens else {})


def _settle_capitals(probes: Mapping[str, Plain], data: Mapping[str, Plain]) -> dict[str, Plain]:
    """Sentences of the built-in corpora start in lower case, and published protocols have their own rule, which null means."""
    rules = probes.get("rules")
    known = data.get("name") == BUILT_IN or probes.get("protocol", DEFAULT_PROTOCOL) != DEFAULT_PROTOCOL
    if not (isinstance(rules, Mapping) and rules.get("capitalize") == AUTO and known):
        return dict(probes)
    return {**probes, "rules": {**rules, "capitalize": None}}


def _fill_in(model: Mapping[str, Plain], table: Mapping[str, dict[str, Any]]) -> dict[str, Plain]:
    network, optimizer, scheduler = (model.get(part) for part in ("network", "optimizer", "scheduler"))
    if not (isinstance(network, Mapping) and isinstance(optimizer, Mapping) and isinstance(scheduler, Mapping)):
        return dict(model)  # what is missing is reported when the settings are read
    if scheduler.get("name") == AUTO and (more := next((name for name in scheduler if name != "name"), None)):
        raise UserError(
            f"model.scheduler.{more}: no such setting in the schedule chosen for you; "
            "name one that has it, for instance model/scheduler=one_cycle"
        )
    chosen = table.get(str(network.get("name")), table["lstm"])
    given = {name: chosen[name] for name, value in optimizer.items() if value == AUTO and name in chosen}
    own = {name: value for name, value in optimizer.items() if not (name == "eps" and value == AUTO)}  # or torch's own
    bias = {"bias": chosen["bias"]} if model.get("bias") == AUTO else {}
    named = dict(chosen["scheduler"]) if scheduler.get("name") == AUTO else dict(scheduler)
    return {**model, "optimizer": {**own, **given}, "scheduler": named, **bias}


def keep_begun(values: Mapping[str, Plain], begun: Mapping[str, Plain]) -> dict[str, Plain]:
    """The settings, with `auto` values kept from when the run began; a batch of sentences stays one."""
    kept = dict(values)
    for name, now in values.items():
        then = begun.get(name)
        if isinstance(now, Mapping) and isinstance(then, Mapping):
            kept[name] = dict(then) if now.get("name") == AUTO else keep_begun(now, then)
        elif now == AUTO and name in begun:
            kept[name] = then
        elif now == AUTO:  # a setting added later has the value that runs had before it
            del kept[name]
    if values.get("lexicon") == "fit" and "lexicon" not in begun:  # the default for real text since there has been a choice
        del kept["lexicon"]
    if values.get("batch_tokens") == AUTO and begun.get("batch_size") is not None:
        kept["batch_size"] = begun["batch_size"]
    return kept


def complete_batches(asked: int | str | None, words: int) -> int | None:
    """Tokens in a batch, for a corpus of this many words: a larger text affords larger batches, by the square root."""
    return round(TOKENS * max(words / WORDS, 1.0) ** 0.5) if asked == AUTO else asked  # type: ignore[return-value]


def complete_model(model: Mapping[str, Plain], step_tokens: int) -> dict[str, Plain]:
    """The settings of a model that learns in steps of this many tokens, over all processes.

    The rate scales with their square root, as the noise of a step does.
    """
    optimizer = model.get("optimizer")
    filled = _fill_in(model, BY_TOKENS)
    if isinstance(optimizer, Mapping) and optimizer.get("lr") == AUTO:
        lr = filled["optimizer"]["lr"] * (step_tokens / TOKENS) ** 0.5  # type: ignore[index,call-overload]
        filled["optimizer"] = {**filled["optimizer"], "lr": float(f"{lr:.3g}")}  # type: ignore[dict-item]
    return filled
