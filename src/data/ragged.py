"""Consecutive stretches of an array, given by their lengths: sums over them, and putting them together in another order."""

import numpy as np


def segment_sums(values: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Of the values of each stretch."""
    ends = np.cumsum(lengths, dtype=np.int64)
    totals = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])
    found: np.ndarray = totals[ends] - totals[ends - lengths]
    return found


def gather(flat: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The stretches with these starts and lengths, one after the other, without a loop over them."""
    ends = np.cumsum(lengths)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)
    found: np.ndarray = flat[np.repeat(starts, lengths) + within]
    return found
