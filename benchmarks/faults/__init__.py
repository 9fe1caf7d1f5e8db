"""Faults by the hundred: damaged files, flipped bits, signals at any moment, full disks; and what came of them, counted."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The tests have samples of published formats, small runs, and what is typed at random.
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/settings")]
