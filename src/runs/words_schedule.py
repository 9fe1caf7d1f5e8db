"""Checkpoints by words seen: the schedule of the BabyLM challenge, and what a checkpoint is called there."""

MILLION = 1_000_000
# Every million words to 10 M, every 10 M to 100 M, every 100 M to 1,000 M.
BABYLM = (*(unit * n for unit in (MILLION, 10 * MILLION, 100 * MILLION) for n in range(1, 10)), 1000 * MILLION)


def checkpoint_name(words: int) -> str:
    """`chck_1M`, as BabyLM names them; `chck_500k`, `chck_1234` for what is no whole number of millions."""
    for unit, letter in ((MILLION, "M"), (1000, "k")):
        if words % unit == 0:
            return f"chck_{words // unit}{letter}"
    return f"chck_{words}"
