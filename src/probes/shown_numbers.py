"""Shares, intervals and changes as the tables of a terminal write them."""

import math

UNCHANGED = "="


def share(value: float) -> str:
    """0.94, and – where there is nothing."""
    return "–" if math.isnan(value) else f"{value:.2f}"


def show_interval(interval: tuple[float, float]) -> str:
    return "–" if math.isnan(interval[0]) else f"{interval[0]:.2f}–{interval[1]:.2f}"


def show_change(value: float) -> str:
    if math.isnan(value):
        return ""
    return UNCHANGED if abs(value) < 0.005 else f"{value:+.2f}"
