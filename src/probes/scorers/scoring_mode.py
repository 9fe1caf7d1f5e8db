"""Scoring a model in mid-training leaves no trace in it."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import nn

from ...lm.precision import full_precision


@contextmanager
def scoring_mode(module: nn.Module) -> Iterator[None]:
    """No dropout, no gradients, 32 bits; afterwards modes and buffers are restored, and no random number was drawn.

    Each submodule's mode is remembered separately: training may keep some of them frozen in evaluation mode.
    """
    training = {part for part in module.modules() if part.training}
    buffers = [(buffer, buffer.clone()) for buffer in module.buffers()]
    device = next((each.device for each in module.parameters()), torch.device("cpu"))
    module.eval()
    try:
        with unchanged_randomness(), torch.no_grad(), full_precision(device.type):
            yield
    finally:
        for part in module.modules():
            part.training = part in training
        with torch.no_grad():
            for buffer, before in buffers:
                if not torch.equal(buffer, before):
                    buffer.copy_(before)


@contextmanager
def unchanged_randomness() -> Iterator[None]:
    """Whatever draws inside, the generators of torch, numpy and Python continue afterwards as if nothing had."""
    python, array = random.getstate(), np.random.get_state()
    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() and torch.cuda.is_initialized() else []
    try:
        with torch.random.fork_rng(devices=devices):
            yield
    finally:
        random.setstate(python)
        np.random.set_state(array)
