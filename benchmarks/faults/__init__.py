"""Hundreds of faults: damaged files, flipped bits, signals at any moment, full disks; with counts of the outcomes."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The tests supply samples of published formats, small runs, and random settings.
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/settings")]
