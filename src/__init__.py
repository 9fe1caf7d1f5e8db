"""Concord trains language models and measures their syntax while they learn.

    import concord

    model = concord.load("runs/de-lstm-…")                  # or a checkpoint; concord.pretrained("gpt2", language="en")
    model.surprisal("der Gast hinter den Bischöfen wartet .")
    sets = concord.sets("de")                               # or a folder, a file, a published collection
    result = concord.probe(model, sets, protocol="default")
    concord.Report(["runs", result]).save("report.html")

Anything that assigns log-probabilities to words is a model: `concord.model(function, name="mine")`. Training is a command,
`concord train lang=de model=lstm`. Nothing heavy is imported before it is needed.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .api import (
        LightningWatch,
        Model,
        ProbeResult,
        Report,
        Sets,
        Watcher,
        load,
        model,
        pretrained,
        probe,
        sets,
        surprisals,
        watch,
    )

__all__ = [
    "LightningWatch",
    "Model",
    "ProbeResult",
    "Report",
    "Sets",
    "Watcher",
    "load",
    "model",
    "pretrained",
    "probe",
    "sets",
    "surprisals",
    "watch",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'concord' has no attribute {name!r}; available: {', '.join(__all__)}")
    return getattr(import_module(".api", __name__), name)


def __dir__() -> list[str]:
    return [*__all__, "__doc__", "__name__", "__path__"]
