"""Optimisers and learning-rate schedules.

A schedule is a function of the step, so that a resumed run needs no memory of it; only annealing has state, because it depends
on validation.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import torch
from torch.nn import Parameter
from torch.optim import Optimizer

from ..errors import UserError
from ..settings.reading import Above, Plain, check_arguments

OPTIMIZERS: dict[str, type[Optimizer]] = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}


def optimizer(parameters: Iterable[Parameter], name: str, lr: Annotated[float, Above(0)], **settings: Any) -> Optimizer:
    """An optimiser by name; further settings are passed to torch unchanged."""
    if name not in OPTIMIZERS:
        raise UserError(f"model.optimizer.name={name}: no such optimiser; available: {', '.join(OPTIMIZERS)}")
    if not lr > 0:
        raise UserError(f"model.optimizer.lr={lr}: the learning rate must be above 0")
    settings = {key: tuple(value) if isinstance(value, list) else value for key, value in settings.items()}
    return OPTIMIZERS[name](parameters, lr=lr, **settings)  # type: ignore[call-arg]


@dataclass(frozen=True)
class Horizon:
    """The length of training, in optimiser steps."""

    total: int
    first_epoch: int


@dataclass
class Schedule:
    """The factor on the learning rate."""

    horizon: Horizon

    def factor(self, step: int) -> float:
        """At a step, counted from 0."""
        return 1.0

    def after_validation(self, loss: float) -> None:
        """Called after every validation."""

    def state_dict(self) -> dict[str, float]:
        return {}

    def load_state_dict(self, state: dict[str, float]) -> None: ...


@dataclass
class OneCycle(Schedule):
    """Up along a cosine during the first `warmup` share of the steps, then down to `end` of the peak."""

    warmup: float = 0.3
    start: float = 0.04
    end: float = 0.0001

    def factor(self, step: int) -> float:
        peak = max(round(self.warmup * self.horizon.total), 1)
        if step < peak:
            return _cosine(self.start, 1.0, step / peak)
        return _cosine(1.0, self.end, (step - peak) / max(self.horizon.total - 1 - peak, 1))


@dataclass
class WarmupCosine(Schedule):
    """Linearly up over the first `warmup_epochs`, then down along a cosine to `end`."""

    warmup_epochs: float = 1.0
    end: float = 0.0

    def factor(self, step: int) -> float:
        peak = max(round(self.warmup_epochs * self.horizon.first_epoch), 1)
        if step < peak:
            return (step + 1) / peak
        return _cosine(1.0, self.end, (step - peak) / max(self.horizon.total - 1 - peak, 1))


@dataclass
class Anneal(Schedule):
    """Divide by `divisor` after a validation that does not improve on the previous one, or on the best."""

    divisor: float = 4.0
    against: str = "previous"
    scale: float = field(default=1.0, init=False)
    rival: float = field(default=math.inf, init=False)

    def __post_init__(self) -> None:
        if self.against not in ("previous", "best"):
            raise UserError(f"model.scheduler.against={self.against}: must be previous or best")

    def factor(self, step: int) -> float:
        return self.scale

    def after_validation(self, loss: float) -> None:
        if not loss < self.rival:
            self.scale /= self.divisor
        self.rival = loss if self.against == "previous" else min(loss, self.rival)

    def state_dict(self) -> dict[str, float]:
        return {"scale": self.scale, "rival": self.rival}

    def load_state_dict(self, state: dict[str, float]) -> None:
        self.scale, self.rival = state["scale"], state["rival"]


SCHEDULES: dict[str, type[Schedule]] = {
    "constant": Schedule,
    "one_cycle": OneCycle,
    "warmup_cosine": WarmupCosine,
    "anneal": Anneal,
}


def check_schedule(values: Mapping[str, Plain]) -> None:
    """Check its name and settings before there is anything to schedule."""
    schedule(Horizon(total=1, first_epoch=1), str(values.get("name")))
    given = {key: value for key, value in values.items() if key != "name"}
    check_arguments(SCHEDULES[str(values["name"])], given, "model.scheduler", taken=("horizon",))


def schedule(horizon: Horizon, name: str, **settings: Any) -> Schedule:
    """A schedule by name."""
    if name not in SCHEDULES:
        raise UserError(f"model.scheduler.name={name}: no such schedule; available: {', '.join(SCHEDULES)}")
    return SCHEDULES[name](horizon, **settings)


def _cosine(start: float, end: float, share: float) -> float:
    return end + (start - end) * (1 + math.cos(math.pi * min(max(share, 0.0), 1.0))) / 2
